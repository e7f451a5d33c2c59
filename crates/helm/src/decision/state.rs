//! In which state a release is, compared with what is wanted.

use model::Map;

use super::{Counters, History, Policy, ReleaseAction, Snapshot, Verified};
use crate::digest;
use crate::record::{Record, Status};

/// Everything that is looked at.
#[derive(Clone, Copy)]
pub struct Observed<'o> {
    /// What storage holds.
    pub releases: &'o dyn Releases,
    /// `status.history`
    pub history: &'o History,
    /// The name of the chart that is wanted.
    pub chart_name: &'o str,
    /// Its version.
    pub chart_version: &'o str,
    /// The values that are wanted.
    pub values: &'o Map,
    /// Whether `status.observedGeneration` is not that of the object.
    pub is_new_generation: bool,
    /// `spec.postRenderers` and `status.observedPostRenderersDigest`.
    pub post_renderers: Digests<'o>,
    /// `spec.commonMetadata` and `status.observedCommonMetadataDigest`.
    pub common_metadata: Digests<'o>,
    /// What the user wants.
    pub policy: &'o Policy,
    /// `status.lastAttemptedReleaseAction`
    pub last_action: Option<ReleaseAction>,
    /// How often it failed.
    pub counters: Counters,
    /// Whether a release is asked for by an annotation that was not handled yet.
    pub force: bool,
    /// How the cluster compares.
    pub drift: Drift<'o>,
}

/// A digest that is wanted, and the one of the last release. Nothing is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digests<'o> {
    /// The one that is wanted.
    pub wanted: &'o str,
    /// The one of the last release.
    pub observed: &'o str,
}

/// How objects in the cluster compare with the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drift<'o> {
    /// Nobody looked yet.
    #[default]
    NotCompared,
    /// They are the same.
    None,
    /// Some are gone or were changed.
    Found,
    /// It cannot be told.
    Failed(&'o str),
}

/// What storage holds of a release.
pub trait Releases {
    /// The newest version.
    fn last(&self) -> Option<Stored<'_>>;

    /// Whether there is a version, and if so whether it is what a snapshot was taken of.
    fn verify(&self, version: i64, snapshot: &Snapshot) -> Option<Verified>;
}

/// What matters of a stored release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'r> {
    /// Its version.
    pub version: i64,
    /// What became of it.
    pub status: &'r Status,
    /// The name of its chart.
    pub chart_name: &'r str,
    /// The version of its chart.
    pub chart_version: &'r str,
}

impl Releases for [Record] {
    fn last(&self) -> Option<Stored<'_>> {
        self.iter()
            .max_by_key(|record| record.version)
            .map(|record| Stored {
                version: record.version,
                status: &record.info.status,
                chart_name: record.chart_name(),
                chart_version: record.chart_version(),
            })
    }

    fn verify(&self, version: i64, snapshot: &Snapshot) -> Option<Verified> {
        let record = self.iter().find(|record| record.version == version)?;
        Some(snapshot.verify(record))
    }
}

impl Releases for Vec<Record> {
    fn last(&self) -> Option<Stored<'_>> {
        self.as_slice().last_stored()
    }

    fn verify(&self, version: i64, snapshot: &Snapshot) -> Option<Verified> {
        Releases::verify(self.as_slice(), version, snapshot)
    }
}

/// Slices have a `last` of their own.
trait LastStored {
    fn last_stored(&self) -> Option<Stored<'_>>;
}

impl LastStored for [Record] {
    fn last_stored(&self) -> Option<Stored<'_>> {
        Releases::last(self)
    }
}

/// In which state a release is, with the reason in Flux's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none.
    Absent(&'static str),
    /// Something was begun and never ended.
    Locked(String),
    /// There is one, but not the one we made.
    Unmanaged(&'static str),
    /// It is not what is wanted.
    OutOfSync(&'static str),
    /// Its tests were not run.
    Untested,
    /// It failed, or its tests did; the reason is empty in the first case.
    Failed(&'static str),
    /// Objects are not what the release says.
    Drifted,
    /// All is as wanted as far as records tell. Objects have to be compared to say more.
    NotCompared,
    /// All is as wanted.
    InSync,
}

/// The state cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to determine cluster state: {0}")]
pub struct UnknownState(pub String);

impl State {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            State::Absent(_) => "Absent",
            State::Locked(_) => "Locked",
            State::Unmanaged(_) => "Unmanaged",
            State::OutOfSync(_) => "OutOfSync",
            State::Untested => "Untested",
            State::Failed(_) => "Failed",
            State::Drifted => "Drifted",
            State::NotCompared => "NotCompared",
            State::InSync => "InSync",
        }
    }

    /// Why it is in it; empty where the name says all.
    pub fn reason(&self) -> &str {
        match self {
            State::Absent(reason)
            | State::Unmanaged(reason)
            | State::OutOfSync(reason)
            | State::Failed(reason) => reason,
            State::Locked(reason) => reason,
            _ => "",
        }
    }
}

/// Finds the state.
///
/// **Deviation**: a newest release of ours that is `uninstalling`, `superseded` or of a status that nobody knows is locked, for it was left behind
/// by something that did not end. Flux cannot tell the state of such a release, and says so until somebody changes storage by hand.
pub fn determine(observed: &Observed<'_>) -> Result<State, UnknownState> {
    let Some(stored) = observed.releases.last() else {
        return Ok(State::Absent("no release in storage for object"));
    };
    let locked = || State::Locked(format!("release with status '{}'", stored.status));
    if stored.status.is_pending() {
        return Ok(locked());
    }
    let is_uninstalled = *stored.status == Status::Uninstalled;
    let Some(latest) = observed.history.latest() else {
        return Ok(match is_uninstalled {
            true => State::Absent("found uninstalled release in storage"),
            false => State::Unmanaged("found existing release in storage"),
        });
    };
    let verified = observed.releases.verify(stored.version, latest);
    if let Some(problem) = verified.and_then(Verified::problem) {
        return Ok(State::Unmanaged(problem));
    }
    if is_uninstalled {
        return Ok(State::Absent("found uninstalled release in storage"));
    }
    if *stored.status == Status::Failed {
        return Ok(State::Failed(""));
    }
    if stored.status.is_left_behind() {
        return Ok(locked());
    }
    if let Some(reason) = out_of_sync(observed, &stored, latest) {
        return Ok(State::OutOfSync(reason));
    }
    if observed.policy.tests.enabled {
        if !latest.has_been_tested() {
            return Ok(State::Untested);
        }
        let remediation = observed.policy.active(observed.last_action);
        let matters = remediation.is_some_and(|active| !active.ignores_test_failures());
        if matters && latest.has_failed_test() {
            return Ok(State::Failed("release has test in failed phase"));
        }
    }
    if !observed.policy.drift.detects() {
        return Ok(State::InSync);
    }
    match observed.drift {
        Drift::NotCompared => Ok(State::NotCompared),
        Drift::None => Ok(State::InSync),
        Drift::Found => Ok(State::Drifted),
        Drift::Failed(problem) => Err(UnknownState(problem.to_owned())),
    }
}

/// Why a release is not what is wanted.
fn out_of_sync(observed: &Observed<'_>, stored: &Stored<'_>, latest: &Snapshot) -> Option<&'static str> {
    if stored.chart_name != observed.chart_name || stored.chart_version != observed.chart_version {
        return Some("release chart changed");
    }
    if !digest::values_match(&latest.config_digest, observed.values) {
        return Some("release config values changed");
    }
    // Only a new generation can change these, and what was observed of them is written after the release.
    if !observed.is_new_generation {
        return None;
    }
    let differs = |digests: Digests<'_>| digests.wanted != digests.observed;
    if differs(observed.post_renderers) {
        return Some("postrenderers digest has changed");
    }
    differs(observed.common_metadata).then_some("common metadata digest has changed")
}
