//! How operations end: what has become of one is stored and told, its request is answered or begins anew, and the unit is looked at again.

use std::time::Duration;

use crate::queue::Backoff;
use crate::sync::{Ending, Report, StepResult};
use crate::unit::{Operation, OperationState, Phase, Status, SyncState, SyncUnit};

use super::known::{Active, Known};
use super::operate::state;
use super::{Shared, UnitEventKind};

/// So often an operation begins anew because somebody has deleted what it counts on. The next time it has failed.
const LOSSES: u32 = 4;

/// How long after each failure it is tried again to store what has become of an operation.
const STORE_AGAIN: Backoff = Backoff {
    first: Duration::from_secs(1),
    most: Duration::from_secs(60),
};

/// What an operation has come to.
struct End {
    phase: Phase,
    kind: UnitEventKind,
    message: String,
    /// Whether it begins anew, and the request for it stays.
    begins_anew: bool,
    losses: u32,
}

impl End {
    /// What a report means to an operation that has begun anew so many times for what it had lost.
    fn of(report: &mut Report, losses: u32) -> End {
        let is_lost = report.ending == Ending::Lost;
        let losses = losses + u32::from(is_lost);
        let is_given_up = is_lost && losses > LOSSES;
        if is_given_up {
            report.errors.push(format!(
                "this was try {losses}, and each of them has lost something: have whoever deletes it leave it alone"
            ));
        }
        let (phase, kind) = match report.ending {
            Ending::Succeeded => (Phase::Succeeded, UnitEventKind::Succeeded),
            Ending::Terminated => (Phase::Terminated, UnitEventKind::Failed),
            Ending::Superseded | Ending::Left => (Phase::Superseded, UnitEventKind::Superseded),
            // The next one brings it back.
            Ending::Lost if !is_given_up => (Phase::Superseded, UnitEventKind::Failed),
            _ => (Phase::Failed, UnitEventKind::Failed),
        };
        let message = match (report.ending, report.errors.is_empty()) {
            (Ending::Superseded, _) => "something newer is to be applied".to_owned(),
            (Ending::Left, _) => "its cluster is reached in another way by now, or not at all".to_owned(),
            (Ending::Terminated, _) => "terminated".to_owned(),
            (_, true) => report.changes().join("\n"),
            (_, false) => report.errors.join("; "),
        };
        End {
            phase,
            kind,
            message,
            begins_anew: phase == Phase::Superseded,
            losses,
        }
    }
}

impl Shared {
    /// Stores what has become of an operation, tells it, and has the unit looked at again.
    pub(super) async fn ended(
        &self,
        unit: &SyncUnit,
        known: &Known,
        mut active: Box<Active>,
        mut report: Report,
    ) {
        let losses = known
            .state
            .lock()
            .intent
            .as_ref()
            .map_or(0, |intent| intent.losses);
        let end = End::of(&mut report, losses);
        let finished = Some((self.now)());
        let ended = OperationState {
            losses: end.losses,
            ..state(known, &active, end.phase, finished, end.message.clone())
        };
        let status = self.status_after(unit, &active, &ended, &report);
        let status = self.with_proof(&unit.id, status);
        if let Err(error) = self.units.set_status(&unit.id, status).await {
            // What was done is not stored: it is done again, which changes nothing, and stored then.
            self.tell(&unit.id, UnitEventKind::Failed, error.to_string());
            active.unstored = active.unstored.saturating_add(1);
            let pause = STORE_AGAIN.after(active.unstored);
            self.put_down(unit, known, active);
            self.operations.add_after(unit.id.clone(), pause);
            return;
        }
        self.heard.pass(&unit.id);
        let asked_again = match end.begins_anew {
            // What was asked for is still to be done.
            true => None,
            // Before anybody looks at the unit again, or else what was asked for is done once more.
            false => self.answered(&unit.id, known, ended.request.as_ref(), None).await,
        };
        let left_out = !active.run.plan().left_out.is_empty();
        let is_tried_at_once = match end.phase {
            // The request for a deletion stays: what callbacks have left of it is not tried again at once.
            Phase::Succeeded => !(left_out && unit.is_deleting()),
            // What is gone is brought back at once.
            Phase::Superseded => true,
            // What somebody has asked for meanwhile does not wait for what has failed.
            _ => asked_again.as_ref().is_some_and(|asked| !asked.dry_run),
        };
        let held = (!is_tried_at_once).then(|| (active.run.plan().revision.clone(), unit.policy.retry()));
        known.end(&ended.progress.results, held, end.begins_anew);
        self.doubt_kinds(&ended.progress.results);
        self.tell(&unit.id, end.kind, end.message);
        self.completed(&unit.id, &ended);
        let again = match end.phase {
            Phase::Succeeded | Phase::Superseded => Duration::ZERO,
            _ if asked_again.is_some() => Duration::ZERO,
            _ => unit.policy.retry().min(unit.policy.interval()),
        };
        self.status.add_after(unit.id.clone(), again);
    }

    /// What is stored of a unit when its operation has ended.
    fn status_after(
        &self,
        unit: &SyncUnit,
        active: &Active,
        ended: &OperationState,
        report: &Report,
    ) -> Status {
        // A part of a revision is not the revision: the rest may still be to be applied.
        let asked = ended.request.as_ref();
        let partial = asked.is_some_and(|operation| operation.only.is_some());
        let succeeded = report.ending == Ending::Succeeded && !partial;
        let left_out = !active.run.plan().left_out.is_empty();
        Status {
            sync: match succeeded {
                true if left_out => SyncState::OutOfSync,
                true => SyncState::Synced,
                false => unit.status.sync,
            },
            revision: match succeeded {
                true => active.run.plan().revision.clone(),
                false => unit.status.revision.clone(),
            },
            inventory: report.inventory.clone().after(&unit.status.inventory),
            operation: Some(Box::new(OperationState {
                request: to_begin_anew(unit, ended).cloned(),
                ..ended.clone().ended()
            })),
            corrected: unit.status.with_corrected(&active.corrected, (self.now)()),
            errors: report.errors.clone(),
            ..unit.status.clone()
        }
    }

    /// With other defaults, what changed nothing about objects of kinds that were defined anew may change something now.
    fn doubt_kinds(&self, results: &[StepResult]) {
        for group in results.iter().filter_map(defined_group) {
            for (_, known) in self.known.all() {
                known.memory.doubt(group);
            }
        }
    }
}

/// The request of an operation. One that was to begin anew and that nobody asks for any more is forgotten; a dry run is only asked for in between.
fn to_begin_anew<'a>(unit: &SyncUnit, ended: &'a OperationState) -> Option<&'a Operation> {
    let request = ended.request.as_ref()?;
    let asked = unit.operation.as_ref();
    let is_asked = asked.is_some_and(|asked| asked.dry_run || asked == request);
    (ended.phase != Phase::Superseded || is_asked).then_some(request)
}

/// The group of the kind whose definition was written.
fn defined_group(result: &StepResult) -> Option<&str> {
    let is_definition = result.key.kind == "CustomResourceDefinition";
    let (_, group) = result.key.name.split_once('.')?;
    (is_definition && result.outcome.changed()).then_some(group)
}
