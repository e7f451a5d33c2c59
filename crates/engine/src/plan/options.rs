//! What one run of a unit asks for.

use std::collections::{BTreeMap, BTreeSet};

use model::{ObjectKey, Time};
use serde::{Deserialize, Serialize};

use super::steps::Propagation;

/// What one run of a unit asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Whether what is no longer desired is deleted.
    pub prune: bool,
    /// What becomes of what deleted objects own.
    pub propagation: Propagation,
    /// How much may be pruned at once.
    pub budget: Budget,
    /// Whether an empty build may prune everything.
    pub allow_empty: bool,
    /// Whether objects are deleted and created if a field that cannot be changed differs.
    pub force: bool,
    /// Whether objects that are known to be missing are written without a dry run, which halves the requests for new objects.
    /// A stage may then be half done when the server refuses one of them. Whatever is there is dry-run in any case.
    pub trust_new: bool,
    /// How long a stage waits for what the next one needs.
    pub stage_seconds: u64,
    /// The wait for health at the end.
    pub wait: Option<Health>,
    /// The namespace of objects that need one and have none.
    pub namespace: String,
    /// How long a wave waits for its hooks to complete and its objects to become healthy.
    pub wave_seconds: u64,
    /// Only these objects are looked after; all others are left as they are.
    pub only: Option<BTreeSet<ObjectKey>>,
    /// When the operation began.
    pub started: Option<Time>,
    /// What only units that ask for Argo CD's ways have.
    pub argo: ArgoOptions,
}

/// How much may be pruned at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// At most so many objects.
    pub count: Option<usize>,
    /// At most so many of a hundred objects that the unit had, rounded up.
    pub percent: Option<u8>,
}

/// The wait for health at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// Only these objects, instead of all that were applied.
    pub objects: Option<Vec<ObjectKey>>,
    /// Not this one: the unit itself, if it is among what it applies.
    pub except: Option<ObjectKey>,
    /// How long at most.
    pub seconds: u64,
    /// Whether the first object that has failed ends the wait.
    pub fail_fast: bool,
}

/// The sync options of a whole unit in Argo CD's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArgoOptions {
    /// `Prune=false` or `Prune=confirm` for all objects that say nothing themselves.
    pub prune: PruneOption,
    /// `Delete=false` or `Delete=confirm` likewise, for when the unit itself is deleted.
    pub delete: PruneOption,
    /// When somebody approved that objects with `Prune=confirm` are deleted. It counts for an operation that has begun by then: one
    /// that waits for approval goes on.
    pub approved: Option<Time>,
    /// `PruneLast=true`
    pub prune_last: bool,
    /// `Replace=true`
    pub replace: bool,
    /// `Validate=false`
    pub unchecked: bool,
    /// `SkipDryRunOnMissingResource=true`
    pub skip_missing_kinds: bool,
    /// `ApplyOutOfSyncOnly=true`: nobody waits for what does not change.
    pub out_of_sync_only: bool,
    /// `RespectIgnoreDifferences=true`
    pub respect_ignored: bool,
    /// `FailOnSharedResource=true`
    pub fail_on_shared: bool,
    /// `CreateNamespace=true`
    pub create_namespace: Option<CreateNamespace>,
    /// No hooks are run.
    pub skip_hooks: bool,
}

impl ArgoOptions {
    /// Whether somebody has approved since the operation began.
    pub(crate) fn is_approved(&self, started: Option<Time>) -> bool {
        let approved = self.approved;
        approved.is_some_and(|approved| started.is_none_or(|started| approved >= started))
    }
}

/// Whether objects that are no longer desired may be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PruneOption {
    /// They may.
    #[default]
    Allowed,
    /// They may if somebody approves.
    Confirm,
    /// They may not.
    Disabled,
}

/// The namespace of a unit, made if it is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateNamespace {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

impl Default for Options {
    /// Applies and prunes as Flux does, and waits for nothing at the end.
    fn default() -> Self {
        Options {
            prune: true,
            propagation: Propagation::Background,
            budget: Budget::default(),
            allow_empty: false,
            force: false,
            trust_new: false,
            stage_seconds: 60,
            wave_seconds: 3600,
            wait: None,
            namespace: String::new(),
            only: None,
            started: None,
            argo: ArgoOptions::default(),
        }
    }
}
