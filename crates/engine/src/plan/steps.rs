//! The plan as a value: stages of steps, what each does and why.

use model::{Inventory, ObjectKey};
use serde::{Deserialize, Serialize};

use super::objects::Reference;

/// What would be done to bring a cluster to the desired state, decided to the last detail.
///
/// It is carried out by walking over [`stages`](Plan::stages) in order:
///
/// 1. A stage is run if its [`when`](Stage::when) holds, else it is passed over. Nothing has failed at the beginning.
/// 2. A stage with a [`gate`](Stage::gate) is not begun before somebody approves.
/// 3. Before the first write of the stage, each step that is not [`verified`](Apply::verified) is dry-run. If one is refused,
///    the stage has failed and none of its steps is carried out; with [`OnFailure::GoOn`] only the refused steps are left out. A refusal because a field cannot be changed is none where
///    [`recreate`](Apply::recreate) is set.
/// 4. The steps are carried out. Those of one [`batch`](Step::batch) may be sent at once; a batch begins when the one before
///    has ended. What a failure does is in [`on_failure`](Stage::on_failure).
/// 5. If no step has failed, the stage waits as [`wait`](Stage::wait) says; a wait that fails or takes too long fails the stage.
///
/// The plan has failed when one of its stages has. All errors are kept. A plan that somebody ends early has failed too: hooks that
/// still run are deleted, and of the stages that are left only those for [`Purpose::Cleanup`] after a failure are run.
///
/// Objects are not in it, so that a plan can be stored and printed without a value of a Secret: a step has a [`Reference`],
/// which is an index into the [`Objects`](super::Objects) that were made with the plan, and the digest to know the same object by when it
/// is built anew after a crash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Which unit.
    pub unit: String,
    /// What the desired objects were built from.
    pub revision: String,
    /// What is done, in order.
    pub stages: Vec<Stage>,
    /// What the unit has applied when all went well.
    pub inventory: Inventory,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What is not done although it was to be: somebody has [taken it out](Plan::edited).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<ObjectKey>,
}

/// Steps that are carried out together before the next stage begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What people call it: `definitions`, `PreSync wave -1`.
    pub name: String,
    /// What it is for.
    pub purpose: Purpose,
    /// When it is run.
    #[serde(default)]
    pub when: When,
    /// Whose approval it needs before it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// What a step that fails stops.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// What must come true before the next stage begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
}

/// What a stage is for: a failure is reported accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Purpose {
    /// Brings desired objects to the cluster.
    Apply,
    /// Deletes what is no longer desired.
    Prune,
    /// Waits for health and has no steps.
    Health,
    /// Runs hooks, with or without other objects.
    Hooks,
    /// Deletes hooks that are not needed any more.
    Cleanup,
}

/// When a stage is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum When {
    /// No stage has failed so far.
    #[default]
    Success,
    /// A stage has failed.
    Failure,
    /// Either way.
    Always,
}

/// What a step that fails stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OnFailure {
    /// No further batch of the stage is begun, and the stage has failed: Flux.
    #[default]
    Stop,
    /// The rest of the stage is carried out, then it has failed: pruning, and the waves of Argo CD.
    FinishStage,
    /// Nothing: the failure is reported, and for [`When`] the stage counts as a success: Flux v1.
    GoOn,
}

/// What has to be approved before a stage begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The objects that are deleted only with an approval.
    pub objects: Vec<ObjectKey>,
    /// Why it is asked for.
    pub why: String,
}

/// What must come true after the steps of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// What is waited for.
    pub objects: Vec<Awaited>,
    /// How long at most.
    pub seconds: u64,
    /// Whether the first object that has failed ends the wait.
    pub fail_fast: bool,
    /// Whether a wait that takes too long is only reported, and the stage has not failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Why, for people: `waiting for <why>`.
    pub why: String,
}

/// An object that is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// Which.
    pub key: ObjectKey,
    /// What must come true.
    pub until: Until,
    /// Whether it may vanish, which is then a success: a Job that deletes itself when it is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_vanish: bool,
    /// What is to be gone, if that is known: another object of its name is not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// What must come true of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Until {
    /// It is healthy, or has no health.
    Healthy,
    /// It has run to its end: like healthy, but one that is held is not done.
    Completed,
    /// It is not there any more.
    Gone,
}

/// One thing done to one object, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Which object, as the cluster names it.
    pub key: ObjectKey,
    /// The group and version that requests go to.
    pub api_version: String,
    /// What is done.
    pub action: Action,
    /// Why, for people.
    pub reason: String,
    /// Which batch of the stage it is in; they count from 0.
    #[serde(default)]
    pub batch: u32,
    /// The object to write, for actions that write one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Reference>,
    /// How it is written, for actions that write one.
    #[serde(default, skip_serializing_if = "Apply::is_default")]
    pub apply: Apply,
    /// Which fields differ, without their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Set if the object is a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<Hook>,
}

/// What is done to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// It is missing and is applied.
    Create,
    /// It differs and is applied.
    Patch,
    /// It is deleted and, when it is gone, applied: a field that cannot be changed differs.
    Recreate(Target),
    /// It is overwritten as a whole, with the resource version that was seen.
    Replace(Target),
    /// It is deleted, for it is no longer desired.
    Prune {
        /// What becomes of what it owns.
        propagation: Propagation,
        /// What exactly is deleted.
        target: Target,
    },
    /// A hook is deleted: one of an earlier run before it is created anew, or one that is done. It need not be there.
    DeleteHook {
        /// What exactly is deleted; nothing is known of a hook that is created by this plan.
        target: Option<Target>,
        /// A finalizer that is taken away first: Argo CD's, on hooks that it has left behind.
        release: Option<String>,
    },
    /// Nothing can be done, which is a failure: it could not be told whether it may be pruned, or it was refused and stands for
    /// itself.
    Fail {
        /// What is reported after the object's name.
        error: String,
    },
    /// It was to be pruned, and is gone already.
    Gone,
    /// It is as it should be.
    Unchanged,
    /// It is left alone, as it asks for or as the rules say.
    Skip,
    /// It differs, and is left to another unit that wants it too and has applied it last.
    Yield {
        /// Which unit.
        to: String,
    },
}

/// The object that a destructive action is meant for, so that no other is hit that has taken its name since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The identity that a deletion has as its precondition.
    pub uid: String,
    /// The version that was looked at. If the object has another one by now, the checks on it must be made again: its
    /// owner may have changed.
    pub resource_version: String,
}

/// What becomes of what a deleted object owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Propagation {
    /// It is deleted afterwards by the cluster.
    #[default]
    Background,
    /// It is deleted first.
    Foreground,
    /// It stays.
    Orphan,
}

/// How an object is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apply {
    /// The server has accepted a dry run of it. If it has not, one must be made before the first write of the stage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
    /// The unit had the object already: it may be there although it is to be created, as it could not be looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub had: bool,
    /// If the server refuses because a field cannot be changed, the object is deleted and created.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recreate: bool,
    /// Only if it is still this one, by its uid.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recreate_uid: String,
    /// How long the deletion of an object that is recreated may take.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub recreate_seconds: u64,
    /// The server does not check the fields (`Validate=false`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// A JSON patch that is sent before the object, so that fields that others have set by hand are owned by us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<Reference>,
}

/// What is special about a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// When it runs.
    pub phase: Phase,
}

/// When hooks run. The order is the order of the phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Before the objects are applied.
    PreSync,
    /// Together with them.
    Sync,
    /// After they are applied and healthy.
    PostSync,
    /// When something has failed.
    SyncFail,
    /// Before the objects of a unit are deleted, because the unit itself is.
    PreDelete,
    /// After they are gone.
    PostDelete,
}

/// What a person should know of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Which object it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ObjectKey>,
    /// What it says.
    pub text: String,
}

impl Plan {
    /// All steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.stages.iter().flat_map(|stage| &stage.steps)
    }

    /// Whether it changes anything. A plan that does not may still wait.
    pub fn changes_anything(&self) -> bool {
        self.steps().any(|step| step.action.writes())
    }

    /// Whether something differs that is left to another unit.
    pub fn yields_anything(&self) -> bool {
        self.steps()
            .any(|step| matches!(step.action, Action::Yield { .. }))
    }

    /// Whether an object is to stay once it is there. If one of these is gone while the plan is carried out, somebody else has
    /// deleted it, and what is waited for may never come.
    pub fn expects(&self, key: &ObjectKey) -> bool {
        let stays = |step: &Step| {
            let applied = matches!(
                step.action,
                Action::Create | Action::Patch | Action::Replace(_) | Action::Unchanged
            );
            applied && !step.apply.recreate && step.hook.is_none()
        };
        let waits = || self.stages.iter().filter_map(|stage| stage.wait.as_ref());
        let mut awaited = waits().flat_map(|wait| &wait.objects);
        self.steps().any(|step| step.key == *key && stays(step))
            && !awaited.any(|awaited| awaited.key == *key && awaited.may_vanish)
    }

    /// What the unit has applied if all went well but that the objects in `survivors` were not deleted, because that failed or
    /// was never tried: they stay in the inventory, so that the next run tries again.
    pub fn inventory_with(&self, survivors: impl IntoIterator<Item = ObjectKey>) -> Inventory {
        let mut inventory = self.inventory.clone();
        for key in survivors {
            let version = self
                .steps()
                .find(|step| step.key == key)
                .map(|step| model::object_key::split_api_version(&step.api_version).1)
                .unwrap_or_default();
            if !inventory.contains(&key) {
                inventory.entries.push(model::inventory::Entry {
                    id: model::inventory::Id(key),
                    version: version.to_owned(),
                });
            }
        }
        inventory
    }
}

impl Step {
    /// Whether its object is there once it was carried out, and is to stay.
    pub fn is_there_for_good(&self) -> bool {
        let there = self.action.applies() || self.action == Action::Unchanged;
        there && self.hook.is_none()
    }
}

impl Stage {
    /// A stage without steps that is run as long as nothing has failed.
    pub fn new(name: impl Into<String>, purpose: Purpose) -> Self {
        Stage {
            name: name.into(),
            purpose,
            when: When::Success,
            gate: None,
            steps: Vec::new(),
            on_failure: OnFailure::Stop,
            wait: None,
        }
    }

    /// Whether it writes anything to the cluster.
    pub fn writes(&self) -> bool {
        self.steps.iter().any(|step| step.action.writes())
    }
}

impl Action {
    /// Whether it sends a write to the cluster.
    pub fn writes(&self) -> bool {
        !matches!(
            self,
            Action::Fail { .. } | Action::Gone | Action::Unchanged | Action::Skip | Action::Yield { .. }
        )
    }

    /// Whether it writes the step's object.
    pub fn applies(&self) -> bool {
        matches!(
            self,
            Action::Create | Action::Patch | Action::Recreate(_) | Action::Replace(_)
        )
    }

    /// The word that Flux's change log has for it once it is done.
    pub fn done(&self) -> &'static str {
        match self {
            Action::Create => "created",
            Action::Patch | Action::Recreate(_) | Action::Replace(_) => "configured",
            Action::Prune { .. } | Action::DeleteHook { .. } | Action::Gone => "deleted",
            Action::Fail { .. } => "unknown",
            Action::Unchanged => "unchanged",
            Action::Skip | Action::Yield { .. } => "skipped",
        }
    }
}

fn is_zero(seconds: &u64) -> bool {
    *seconds == 0
}

impl Apply {
    fn is_default(&self) -> bool {
        *self == Apply::default()
    }
}
