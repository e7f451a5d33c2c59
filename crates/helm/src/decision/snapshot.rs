//! Releases as the status of a HelmRelease remembers them.

use std::collections::BTreeMap;

use model::digest::Algorithm;

use super::Tests;
use crate::digest;
use crate::manifest::Event;
use crate::record::{Record, Time, phase};

/// The version of the way in which digests of releases are made today. Others are not compared.
pub const CURRENT_API_VERSION: &str = "v2";

/// A release at some time, as `status.history` holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Which way the digest was made in.
    pub api_version: String,
    /// The digest of the release.
    pub digest: String,
    /// The name of the release.
    pub name: String,
    /// Where it is installed.
    pub namespace: String,
    /// Which version it is.
    pub version: i64,
    /// What became of it, as Helm says it.
    pub status: String,
    /// What made it so.
    pub action: Option<SnapshotAction>,
    /// The name of the chart.
    pub chart_name: String,
    /// Its version.
    pub chart_version: String,
    /// The version of what it installs.
    pub app_version: String,
    /// The digest of the values.
    pub config_digest: String,
    /// When the first version was made.
    pub first_deployed: Option<Time>,
    /// When this version was made.
    pub last_deployed: Option<Time>,
    /// When it was uninstalled.
    pub deleted: Option<Time>,
    /// What became of its tests; nothing if none were run.
    pub test_hooks: Option<BTreeMap<String, TestHook>>,
    /// The digest of the artifact the chart came from.
    pub oci_digest: String,
}

/// What made a release what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum SnapshotAction {
    Install,
    Upgrade,
    Rollback,
    Uninstall,
    UninstallRemediation,
}

impl SnapshotAction {
    /// The name in the status.
    pub fn as_str(self) -> &'static str {
        match self {
            SnapshotAction::Install => "install",
            SnapshotAction::Upgrade => "upgrade",
            SnapshotAction::Rollback => "rollback",
            SnapshotAction::Uninstall => "uninstall",
            SnapshotAction::UninstallRemediation => "uninstall-remediation",
        }
    }

    /// The action of a name in a status.
    pub fn parse(name: &str) -> Option<SnapshotAction> {
        Some(match name {
            "install" => SnapshotAction::Install,
            "upgrade" => SnapshotAction::Upgrade,
            "rollback" => SnapshotAction::Rollback,
            "uninstall" => SnapshotAction::Uninstall,
            "uninstall-remediation" => SnapshotAction::UninstallRemediation,
            _ => return None,
        })
    }
}

/// What became of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestHook {
    /// When it was last begun.
    pub last_started: Option<Time>,
    /// When it last ended.
    pub last_completed: Option<Time>,
    /// What became of it, as Helm says it.
    pub phase: String,
}

/// Whether a stored release is what a snapshot was taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It is, or the snapshot is of a time whose digests are not compared.
    Yes,
    /// Somebody changed it.
    NotObserved,
    /// The snapshot has no digest.
    NoDigest,
}

impl Verified {
    /// What is wrong, in Flux's words.
    pub fn problem(self) -> Option<&'static str> {
        match self {
            Verified::Yes => None,
            Verified::NotObserved => Some("release not observed to be made for object"),
            Verified::NoDigest => Some("release digest verification error"),
        }
    }
}

impl Snapshot {
    /// The snapshot of a release, with the digest of the artifact its chart came from.
    pub fn of(
        record: &Record,
        action: Option<SnapshotAction>,
        oci_digest: &str,
        algorithm: Algorithm,
    ) -> Snapshot {
        let nothing = model::Map::new();
        let config = record.config.as_ref().unwrap_or(&nothing);
        Snapshot {
            api_version: CURRENT_API_VERSION.to_owned(),
            digest: digest::of_record(algorithm, record, oci_digest).to_string(),
            name: record.name.clone(),
            namespace: record.namespace.clone(),
            version: record.version,
            status: record.info.status.to_string(),
            action,
            chart_name: record.chart_name().to_owned(),
            chart_version: record.chart_version().to_owned(),
            app_version: record
                .metadata()
                .map_or_else(String::new, |metadata| metadata.app_version.clone()),
            config_digest: digest::of_values(algorithm, config).to_string(),
            first_deployed: record.info.first_deployed,
            last_deployed: record.info.last_deployed,
            deleted: record.info.deleted,
            test_hooks: None,
            oci_digest: oci_digest.to_owned(),
        }
    }

    /// Whether a stored release is what this was taken of.
    pub fn verify(&self, record: &Record) -> Verified {
        if self.api_version != CURRENT_API_VERSION {
            return Verified::Yes;
        }
        match digest::record_matches(&self.digest, record, &self.oci_digest) {
            Some(true) => Verified::Yes,
            Some(false) => Verified::NotObserved,
            None => Verified::NoDigest,
        }
    }

    /// `NAMESPACE/NAME.vVERSION`
    pub fn full_name(&self) -> String {
        format!("{}/{}.v{}", self.namespace, self.name, self.version)
    }

    /// `CHART@VERSION`
    pub fn versioned_chart(&self) -> String {
        format!("{}@{}", self.chart_name, self.chart_version)
    }

    /// Whether it is of this release.
    pub fn targets(&self, record: &Record) -> bool {
        self.name == record.name && self.namespace == record.namespace && self.version == record.version
    }

    /// Whether its tests were run to an end: all went well, or one did not. Without tests they were.
    pub fn has_been_tested(&self) -> bool {
        match &self.test_hooks {
            None => false,
            Some(hooks) => {
                self.has_failed_test() || hooks.values().all(|hook| hook.phase == phase::SUCCEEDED)
            }
        }
    }

    /// Whether one of its tests failed.
    pub fn has_failed_test(&self) -> bool {
        let hooks = self.test_hooks.iter().flat_map(BTreeMap::values);
        hooks.into_iter().any(|hook| hook.phase == phase::FAILED)
    }
}

/// Tests by their names.
pub(super) type Hooks = BTreeMap<String, TestHook>;

/// What became of the tests of a release that were asked for.
pub(super) fn test_hooks(record: &Record, tests: &Tests) -> BTreeMap<String, TestHook> {
    let hooks = record.hooks.iter().filter(|hook| hook.is_for(Event::Test));
    hooks
        .filter(|hook| tests.selects(&hook.name))
        .map(|hook| {
            let run = TestHook {
                last_started: hook.last_run.started_at,
                last_completed: hook.last_run.completed_at,
                phase: hook.last_run.phase.clone(),
            };
            (hook.name.clone(), run)
        })
        .collect()
}
