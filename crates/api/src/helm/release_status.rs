//! What a HelmRelease installed.

use std::collections::BTreeMap;

use model::{Inventory, Time};

use crate::{Condition, Duration};

record! {
    /// What was installed last.
    HelmReleaseStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// The digest of the post-renderers that were last used.
        optional observed_post_renderers_digest: Option<String> {}
        /// The digest of the labels and annotations that were last used.
        optional observed_common_metadata_digest: Option<String> {}
        /// The generation of the object that was last tried.
        optional last_attempted_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The HelmChart that was made for the release: `<namespace>/<name>`.
        optional helm_chart: Option<String> {}
        /// The namespace that Helm keeps the records of the release in.
        optional storage_namespace: Option<String> { .length(1, 63) }
        /// The releases that were made, the newest first.
        optional history: Vec<Snapshot> {}
        /// The objects of the last release.
        optional inventory: Option<Inventory> {}
        /// The action that was last tried.
        optional last_attempted_release_action: Option<ReleaseAction> {}
        /// How long that took.
        optional last_attempted_release_action_duration: Option<Duration> { .without("pattern") }
        /// How many attempts failed since the last change.
        optional failures: Option<i64> {}
        /// How many installs failed since the last change.
        optional install_failures: Option<i64> {}
        /// How many upgrades failed since the last change.
        optional upgrade_failures: Option<i64> {}
        /// The version of the chart that was last tried.
        optional last_attempted_revision: Option<String> {}
        /// The digest of the OCI artifact of that chart.
        optional last_attempted_revision_digest: Option<String> {}
        /// The SHA-1 of the values that were last tried. `lastAttemptedConfigDigest` replaces it.
        optional last_attempted_values_checksum: Option<String> {}
        /// The number of the last release. `history` replaces it.
        optional last_release_revision: Option<i64> { .without("format") }
        /// The digest of the values that were last tried.
        optional last_attempted_config_digest: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/forceAt` that was last dealt with.
        optional last_handled_force_at: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/resetAt` that was last dealt with.
        optional last_handled_reset_at: Option<String> {}
    }
}

choice! {
    /// What Helm was told to do.
    ReleaseAction { Install = "install", Upgrade = "upgrade" }
}

record! {
    /// One release as Helm recorded it.
    Snapshot {
        /// The form that the digest is calculated in.
        optional api_version: Option<String> {}
        /// The digest of the record.
        required digest: String {}
        /// The name of the release.
        required name: String {}
        /// The namespace of the release.
        required namespace: String {}
        /// The number of the release.
        required version: i64 { .without("format") }
        /// The state of the release, as Helm calls it.
        required status: String {}
        /// What made the record.
        optional action: Option<String> {}
        /// The name of the chart.
        required chart_name: String {}
        /// The version of the chart.
        required chart_version: String {}
        /// The version of what the chart installs.
        optional app_version: Option<String> {}
        /// The digest of the values.
        required config_digest: String {}
        /// When the release was first deployed.
        required first_deployed: Option<Time> {}
        /// When the release was last deployed.
        required last_deployed: Option<Time> {}
        /// When the release was deleted.
        optional deleted: Option<Time> {}
        /// The tests of the release by their names.
        optional test_hooks: Option<BTreeMap<String, TestHook>> {}
        /// The digest of the OCI artifact of the chart.
        optional oci_digest: Option<String> {}
    }
}

record! {
    /// One test of a release.
    TestHook {
        /// When it was last started.
        optional last_started: Option<Time> {}
        /// When it last ended.
        optional last_completed: Option<Time> {}
        /// How it ended, as Helm calls it.
        optional phase: Option<String> {}
    }
}

reconcile_status!(HelmReleaseStatus);
