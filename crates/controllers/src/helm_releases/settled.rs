//! What a run came to, and all that it was made of: a run that finds the same has nothing to do and asks nothing.
//!
//! What is kept are versions and digests, never records, values or charts, so that a thousand releases that rest take little.

use std::hash::{DefaultHasher, Hash, Hasher};

use api::ConditionType;
use api::helm::{HelmRelease, HelmReleaseStatus};
use engine::cache::Cache;
use engine::observe::Memory;
use kube::ResourceExt;
use model::{Artifact, Digest};

use super::storage::Seen;
use super::versions::{Read, Versions};
use super::{FORCE, RESET, ROLLED_BACK_TO, asks};
use crate::kit::Failure;

/// All that the end of a run depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inputs {
    generation: i64,
    revision: String,
    digest: Option<Digest>,
    /// What was read for the values and for the way to the cluster.
    read: Read,
}

impl Inputs {
    pub(super) fn new(object: &HelmRelease, artifact: &Artifact, read: Read) -> Self {
        Inputs {
            generation: object.metadata.generation.unwrap_or_default(),
            revision: artifact.revision.to_string(),
            digest: artifact.digest,
            read,
        }
    }

    /// Whether they are of this chart.
    pub(super) fn is_of(&self, artifact: &Artifact) -> bool {
        self.digest == artifact.digest && self.revision == artifact.revision.to_string()
    }
}

/// The end of a run.
pub(super) struct Settled {
    /// What it was made of.
    pub(super) inputs: Inputs,
    /// What the status told then.
    pub(super) told: u64,
    /// The records that there were.
    pub(super) records: Seen,
    /// Where their versions are told.
    pub(super) versions: Versions,
    /// Whether the objects were compared with the release, and were the same.
    pub(super) is_compared: bool,
    /// What it came to: there is nothing to do, or nothing that can be done.
    pub(super) end: Result<(), Failure>,
}

impl Settled {
    /// Whether all is as it was, as far as watches tell.
    pub(super) fn holds(
        &self,
        object: &HelmRelease,
        inputs: &Inputs,
        memory: &Memory,
        cache: &Cache,
    ) -> bool {
        let status = object.status.as_ref();
        self.inputs == *inputs
            && status.is_some_and(|status| told(status) == self.told)
            && !is_asked_for_more(object)
            && self.records.is_current(&self.versions)
            && (!self.is_compared || memory.holds(cache))
    }
}

/// Whether annotations ask for more than a run.
fn is_asked_for_more(object: &HelmRelease) -> bool {
    let status = object.status.as_ref();
    let force = status.and_then(|status| status.last_handled_force_at.as_deref());
    let reset = status.and_then(|status| status.last_handled_reset_at.as_deref());
    let is_held = object.annotations().contains_key(ROLLED_BACK_TO);
    is_held || asks(object, FORCE, force).is_some() || asks(object, RESET, reset).is_some()
}

/// Tells apart what statuses say of a release, by what decisions are made of and what users look at.
pub(super) fn told(status: &HelmReleaseStatus) -> u64 {
    let mut hasher = DefaultHasher::new();
    let history = serde_json::to_string(&status.history).unwrap_or_default();
    let ready = api::ReconcileStatus::condition(status, ConditionType::READY);
    let ready = ready.map(|ready| (ready.status.to_string(), &ready.reason, &ready.message));
    (history, ready).hash(&mut hasher);
    let counters = [status.failures, status.install_failures, status.upgrade_failures];
    (counters, &status.storage_namespace).hash(&mut hasher);
    hasher.finish()
}
