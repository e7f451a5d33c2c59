//! What an operation was begun for: by that it is told whether one that is under way is still what is wanted.

use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use model::convert::from_serde;
use model::{Digest, Manifest, Time, Value};
use tokio::time::Instant;

use crate::plan::{self, Plan};
use crate::unit::{Generated, Operation, OperationState, Phase, SyncUnit};

use super::Shared;
use super::known::Known;

/// Settings of a policy that say when something is done and not what, or that it may be: another one is no reason to begin anew.
const TIMES: [&[&str]; 6] = [
    &["automatic"],
    &["interval"],
    &["retry"],
    &["generate_within"],
    &["observe_within"],
    &["options", "argo", "approved"],
];

/// What an operation was begun for.
#[derive(Clone, Debug)]
pub(super) struct Intent {
    /// What was to be brought about, and how.
    pub(super) basis: Digest,
    /// What somebody has asked for, if it was not begun by itself.
    pub(super) request: Option<Operation>,
    /// When it began: what is approved since then counts for it.
    started: Timestamp,
    /// Whether what asks for approval has it.
    pub(super) approved: bool,
    /// Whether it only puts right what somebody else has changed.
    pub(super) corrects: bool,
    /// How often it has begun anew because somebody has deleted what it counts on.
    pub(super) losses: u32,
}

impl Intent {
    /// An operation begins.
    pub(super) fn new(unit: &SyncUnit, plan: &Plan, basis: Digest, started: Timestamp) -> Self {
        let request = unit.operation.clone();
        Intent {
            basis,
            started,
            approved: request.as_ref().is_some_and(|request| request.approved),
            corrects: is_correction(unit, plan),
            losses: losses(unit, basis),
            request,
        }
    }

    /// An operation of a process before us is gone on with. Whatever was approved then is asked of the unit again.
    pub(super) fn of(left: &OperationState) -> Option<Self> {
        Some(Intent {
            basis: left.basis?,
            started: left.started,
            request: left.request.clone(),
            approved: false,
            corrects: false,
            losses: left.losses,
        })
    }

    /// Whether the operation still is what is wanted of a unit. What its request says is then a part of it: it is approved, and the
    /// request is answered when the operation ends.
    pub(super) fn holds(&mut self, unit: &SyncUnit, basis: Digest) -> bool {
        if self.basis != basis {
            return false;
        }
        let options = &unit.policy.options;
        self.approved |= options.argo.is_approved(Some(Time::new(self.started)));
        let Some(asked) = &unit.operation else {
            return unit.policy.automatic || self.request.is_some();
        };
        let begun = self.request.clone().unwrap_or_default();
        if self.request.as_ref() != Some(asked) && !is_approval(asked, &begun) {
            return false;
        }
        self.approved |= asked.approved;
        self.request = Some(asked.clone());
        true
    }
}

/// Whether nothing new is to be applied: somebody else has changed what a plan changes back.
fn is_correction(unit: &SyncUnit, plan: &Plan) -> bool {
    unit.operation.is_none() && unit.status.revision == plan.revision
}

/// How often the same was begun before, and ended since something was deleted that it counts on.
fn losses(unit: &SyncUnit, basis: Digest) -> u32 {
    let last = unit.status.operation.as_deref();
    let is_same = |last: &&OperationState| {
        last.phase == Phase::Superseded && last.basis == Some(basis) && last.request == unit.operation
    };
    last.filter(is_same).map_or(0, |last| last.losses)
}

/// Whether a request only approves what was asked for before.
fn is_approval(asked: &Operation, before: &Operation) -> bool {
    let without = |operation: &Operation| Operation {
        approved: false,
        by: String::new(),
        number: String::new(),
        ..operation.clone()
    };
    asked.approved && without(asked) == without(before)
}

/// What of a unit's policy says how things are done.
fn policy(unit: &SyncUnit) -> Value {
    let mut policy = from_serde(&unit.policy).expect("a policy is made of what JSON has");
    for time in TIMES {
        policy.remove_at(time);
    }
    policy
}

impl Shared {
    /// A digest of what an operation would bring about now and how: the objects, where they go, and the unit's policy. Objects are
    /// taken as they were built, since what becomes of them may depend on what the operation itself has defined. What is deleted is of no
    /// revision.
    pub(super) fn basis(&self, unit: &SyncUnit, wish: &Wish<'_>) -> Digest {
        let settings = self.settings();
        let excluded = settings.filter.excluded.iter();
        let excluded: Vec<_> = excluded.map(|kind| (&*kind.group, &*kind.kind)).collect();
        let revision = (!unit.is_deleting()).then_some(&wish.0.revision);
        let about = (
            (revision, unit.is_deleting(), &unit.destination),
            (&settings.instance_label, excluded),
            wish.content().hex(),
        );
        let about = from_serde(&about).expect("texts are what JSON has");
        let basis = Value::Array(vec![about, policy(unit)].into());
        plan::objects::digest(&basis)
    }
}

/// Whether somebody asks for something that was not begun for them before.
pub(super) fn is_fresh(unit: &SyncUnit) -> bool {
    let last = unit.status.operation.as_deref();
    // One that has ended for good has answered its request.
    let last = last.filter(|last| !last.phase.is_final() || last.phase == Phase::Superseded);
    let begun = last.and_then(|last| last.request.as_ref());
    unit.operation.is_some() && unit.operation.as_ref() != begun
}

/// What a source describes.
pub(super) struct Wish<'a>(pub(super) &'a Generated, &'a SyncUnit, OnceLock<Digest>);

impl<'a> Wish<'a> {
    pub(super) fn new(unit: &'a SyncUnit, generated: &'a Generated) -> Self {
        Wish(generated, unit, OnceLock::new())
    }

    /// A digest of the objects, in whatever order. Of a unit that is deleted those count that run then. Most looks do not need it.
    fn content(&self) -> Digest {
        *self.2.get_or_init(|| {
            let counts = |manifest: &&Manifest| {
                !self.1.is_deleting() || self.1.policy.strategy.runs_at_deletion(manifest.value())
            };
            let manifests = self.0.manifests.iter().filter(counts);
            let mut objects: Vec<_> = manifests
                .map(|manifest| plan::objects::digest(manifest.value()).hex())
                .collect();
            objects.sort_unstable();
            let objects = from_serde(&objects).expect("texts are what JSON has");
            plan::objects::digest(&objects)
        })
    }
}

impl Known {
    /// How long what a source describes waits to be applied, since it describes something else each time.
    pub(super) fn restless(&self, unit: &SyncUnit, wish: &Wish<'_>) -> Duration {
        let mut restless = self.restless.lock();
        if is_fresh(unit) {
            // What somebody asks for does not wait.
            restless.is_told();
        }
        restless.wait(&wish.0.revision, wish.content(), Instant::now())
    }

    /// The unit as it is to be looked at. A dry run that is asked for while an operation is under way has to wait for its end: the
    /// operation goes on as if nobody had asked.
    pub(super) fn in_turn(&self, mut unit: SyncUnit) -> SyncUnit {
        if !unit.operation.as_ref().is_some_and(|asked| asked.dry_run) {
            return unit;
        }
        let state = self.state.lock();
        let left = unit.status.operation.as_deref();
        let left = left.filter(|left| state.endings == 0 && !left.phase.is_final());
        let under_way = match &state.intent {
            Some(intent) => Some(intent.request.clone()),
            None => left.map(|left| left.request.clone()),
        };
        if let Some(request) = under_way {
            unit.operation = request;
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> SyncUnit {
        let unit = model::value!({ "id": "shop" });
        model::convert::to_serde(&unit).expect("an id is a whole unit")
    }

    fn basis(text: &str) -> Digest {
        plan::objects::digest(&Value::from(text))
    }

    fn asked(unit: &SyncUnit, operation: Operation) -> SyncUnit {
        SyncUnit {
            operation: Some(operation),
            ..unit.clone()
        }
    }

    #[test]
    fn what_is_built_otherwise_is_another_intent() {
        let mut intent = Intent::new(&unit(), &Plan::default(), basis("a"), Timestamp::UNIX_EPOCH);
        assert!(intent.holds(&unit(), basis("a")));
        assert!(!intent.holds(&unit(), basis("b")));
    }

    #[test]
    fn a_request_is_another_intent_unless_it_only_approves() {
        let unit = unit();
        let mut intent = Intent::new(&unit, &Plan::default(), basis("a"), Timestamp::UNIX_EPOCH);
        assert!(!intent.holds(&asked(&unit, Operation::default()), basis("a")));
        assert!(!intent.approved);
        let approval = Operation {
            approved: true,
            by: "ada".to_owned(),
            ..Operation::default()
        };
        let approved = asked(&unit, approval.clone());
        assert!(intent.holds(&approved, basis("a")));
        assert!(intent.approved);
        assert_eq!(
            intent.request,
            Some(approval.clone()),
            "it is answered with the operation"
        );
        assert!(intent.holds(&approved, basis("a")));
        let deletion = Operation {
            delete: true,
            ..approval
        };
        assert!(!intent.holds(&asked(&unit, deletion), basis("a")));
    }

    #[test]
    fn what_was_begun_by_itself_ends_when_the_unit_is_not_automatic_any_more() {
        let mut unit = unit();
        let mut by_itself = Intent::new(&unit, &Plan::default(), basis("a"), Timestamp::UNIX_EPOCH);
        let mut requested = Intent::new(
            &asked(&unit, Operation::default()),
            &Plan::default(),
            basis("a"),
            Timestamp::UNIX_EPOCH,
        );
        unit.policy.automatic = false;
        assert!(!by_itself.holds(&unit, basis("a")));
        assert!(requested.holds(&unit, basis("a")), "somebody has asked for it");
    }

    #[test]
    fn when_something_is_done_is_no_part_of_what_is_done() {
        let unit = unit();
        let written = from_serde(&unit.policy).expect("it can be written");
        assert!(TIMES.iter().all(|time| written.at(time).is_some()), "{written:?}");
        let mut other = unit.clone();
        other.policy.interval = Duration::from_secs(1);
        other.policy.retry = Duration::from_secs(1);
        other.policy.generate_within = Duration::from_secs(1);
        other.policy.observe_within = Duration::from_secs(1);
        assert_eq!(policy(&unit), policy(&other));
        other.policy.options.prune = false;
        assert_ne!(policy(&unit), policy(&other));
    }
}
