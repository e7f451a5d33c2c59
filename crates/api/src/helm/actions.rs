//! How Helm's actions are run for a release.

use crate::Duration;

record! {
    /// How a release is installed.
    Install {
        /// How long Helm may take. If not set, the timeout of the release.
        optional timeout: Option<Duration> {}
        /// What to do when it fails.
        optional strategy: Option<InstallStrategy> {}
        /// How failures are put right.
        optional remediation: Option<InstallRemediation> {}
        /// Takes over no objects that belong to nobody.
        optional disable_take_ownership: bool {}
        /// Does not wait until what was installed is ready.
        optional disable_wait: bool {}
        /// Does not wait for jobs.
        optional disable_wait_for_jobs: bool {}
        /// Runs no hooks.
        optional disable_hooks: bool {}
        /// Does not validate manifests against the schemas of the cluster.
        optional disable_open_api_validation as "disableOpenAPIValidation": bool {}
        /// Does not validate values against the schema of the chart.
        optional disable_schema_validation: bool {}
        /// Installs under a name that was used before.
        optional replace: bool {}
        /// Leaves out the definitions of the chart. `crds` replaces it: it has no effect.
        optional skip_crds as "skipCRDs": bool {}
        /// What is done with the definitions in the chart's `crds` directory. If not set, they are created.
        optional crds: Option<CrdsPolicy> {}
        /// Creates the target namespace if it is not there.
        optional create_namespace: bool {}
        /// Applies on the server. If not set, it does.
        optional server_side_apply: Option<bool> {}
    }
}

record! {
    /// What to do when installing fails.
    InstallStrategy {
        /// The strategy.
        required name: Strategy {}
        /// How soon to try again. If not set, after five minutes.
        optional retry_interval: Option<Duration> {}
    }
    rules {
        "!has(self.retryInterval) || self.name != 'RemediateOnFailure'"
            => ".retryInterval cannot be set when .name is 'RemediateOnFailure'",
    }
}

choice! {
    /// What to do when an action fails.
    Strategy { RemediateOnFailure = "RemediateOnFailure", RetryOnFailure = "RetryOnFailure" }
}

record! {
    /// How failed installs are put right.
    InstallRemediation {
        /// How often to try again; a negative number is without end.
        optional retries: Option<i64> { .without("format") }
        /// Takes a release for good whose tests failed. If not set, as the tests say.
        optional ignore_test_failures: Option<bool> {}
        /// Uninstalls also after the last failure.
        optional remediate_last_failure: Option<bool> {}
    }
}

choice! {
    /// What is done with the definitions in a chart's `crds` directory.
    CrdsPolicy { Skip = "Skip", Create = "Create", CreateReplace = "CreateReplace" }
}

record! {
    /// How a release is upgraded.
    Upgrade {
        /// How long Helm may take. If not set, the timeout of the release.
        optional timeout: Option<Duration> {}
        /// What to do when it fails.
        optional strategy: Option<UpgradeStrategy> {}
        /// How failures are put right.
        optional remediation: Option<UpgradeRemediation> {}
        /// Takes over no objects that belong to nobody.
        optional disable_take_ownership: bool {}
        /// Does not wait until what was upgraded is ready.
        optional disable_wait: bool {}
        /// Does not wait for jobs.
        optional disable_wait_for_jobs: bool {}
        /// Runs no hooks.
        optional disable_hooks: bool {}
        /// Does not validate manifests against the schemas of the cluster.
        optional disable_open_api_validation as "disableOpenAPIValidation": bool {}
        /// Does not validate values against the schema of the chart.
        optional disable_schema_validation: bool {}
        /// Replaces objects whose immutable fields changed.
        optional force: bool {}
        /// Keeps the values of the last release and merges the new ones into them.
        optional preserve_values: bool {}
        /// Deletes what an upgrade made when it fails.
        optional cleanup_on_fail: bool {}
        /// What is done with the definitions in the chart's `crds` directory.
        optional crds: Option<CrdsPolicy> {}
        /// What to do when the name of the chart changes. If not set, the release is installed anew.
        optional chart_name_change_strategy: Option<ChartNameChange> {}
        /// Whether to apply on the server. If not set, as the release was last applied.
        optional server_side_apply: Option<ApplyMethod> {}
    }
}

record! {
    /// What to do when upgrading fails.
    UpgradeStrategy {
        /// The strategy.
        required name: Strategy {}
        /// How soon to try again. If not set, after five minutes.
        optional retry_interval: Option<Duration> {}
    }
    rules {
        "!has(self.retryInterval) || self.name == 'RetryOnFailure'"
            => ".retryInterval can only be set when .name is 'RetryOnFailure'",
    }
}

record! {
    /// How failed upgrades are put right.
    UpgradeRemediation {
        /// How often to try again; a negative number is without end.
        optional retries: Option<i64> { .without("format") }
        /// Takes a release for good whose tests failed. If not set, as the tests say.
        optional ignore_test_failures: Option<bool> {}
        /// Puts right also the last failure. If not set, if there are retries.
        optional remediate_last_failure: Option<bool> {}
        /// What puts a failure right. If not set, a rollback.
        optional strategy: Option<Remediation> {}
    }
}

choice! {
    /// What puts a failed upgrade right.
    Remediation { Rollback = "rollback", Uninstall = "uninstall" }
}

choice! {
    /// What to do when the name of the chart changes.
    ChartNameChange { InPlaceUpdate = "InPlaceUpdate", Reinstall = "Reinstall" }
}

choice! {
    /// Whether to apply on the server.
    ApplyMethod { Enabled = "enabled", Disabled = "disabled", Auto = "auto" }
}

record! {
    /// How a release is rolled back.
    Rollback {
        /// How long Helm may take. If not set, the timeout of the release.
        optional timeout: Option<Duration> {}
        /// Does not wait until what was rolled back is ready.
        optional disable_wait: bool {}
        /// Does not wait for jobs.
        optional disable_wait_for_jobs: bool {}
        /// Runs no hooks.
        optional disable_hooks: bool {}
        /// Restarts pods. It has no effect.
        optional recreate: bool {}
        /// Replaces objects whose immutable fields changed.
        optional force: bool {}
        /// Deletes what a rollback made when it fails.
        optional cleanup_on_fail: bool {}
        /// Whether to apply on the server. If not set, as the release was last applied.
        optional server_side_apply: Option<ApplyMethod> {}
    }
}

record! {
    /// How a release is uninstalled.
    Uninstall {
        /// How long Helm may take. If not set, the timeout of the release.
        optional timeout: Option<Duration> {}
        /// Runs no hooks.
        optional disable_hooks: bool {}
        /// Keeps the records of the release.
        optional keep_history: bool {}
        /// Does not wait until everything is gone.
        optional disable_wait: bool {}
        /// How what belongs to the deleted objects is deleted.
        optional deletion_propagation: Option<DeletionPropagation> { .default_to("background") }
    }
}

choice! {
    /// How what belongs to deleted objects is deleted.
    DeletionPropagation { Background = "background", Foreground = "foreground", Orphan = "orphan" }
}

record! {
    /// How the tests of a release are run.
    Test {
        /// Runs the tests after an install or an upgrade.
        optional enable: bool {}
        /// How long Helm may take. If not set, the timeout of the release.
        optional timeout: Option<Duration> {}
        /// Takes a release for good whose tests failed.
        optional ignore_failures: bool {}
        /// Which tests are run. If not set, all.
        optional filters: Vec<TestFilter> {}
    }
}

record! {
    /// A test to run or to leave out.
    TestFilter {
        /// The name of the test.
        required name: String { .length(1, 253) }
        /// Leaves it out.
        optional exclude: bool {}
    }
}
