//! `sluice.dev/observe: enabled`: nothing is changed in the cluster, neither applied nor pruned. What would be is told: by `Ready`, which is false
//! with the reason `DriftDetected` while something would change, and by an event each time that it is something else. Fields are named and their values
//! are not, so that nothing of a Secret is told.
//!
//! What is done before an apply is done: sources, builds, dependencies and their failures are told as ever. Nothing is waited for, and a
//! Kustomization that is deleted leaves what it has made, as one that is suspended does. While nothing would change it is ready, and
//! `lastAppliedRevision` is the revision that was compared.

use engine::plan::{Action, Plan, Step};
use engine::unit::{Phase, Status, SyncState};

/// How many objects are told of, and how many fields of each.
const OBJECTS: usize = 50;
const FIELDS: usize = 5;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Observed {
    /// What the cluster was compared with.
    pub(in super::super) revision: String,
    /// What would change, if anything.
    pub(in super::super) would_change: Option<String>,
}

/// What the engine has found of a unit that it changes nothing of; nothing if it has not looked yet. With `is_new`, its last operation has
/// ended with this very status.
pub(in super::super) fn observed(status: &Status, is_new: bool) -> Option<Observed> {
    let state = status.operation.as_deref().filter(|_| is_new);
    // Whoever has asked is answered with a dry run, which is newer than what was found before.
    let asked = state.filter(|state| {
        let is_dry = state.request.as_ref().is_some_and(|request| request.dry_run);
        is_dry && state.phase == Phase::Succeeded
    });
    if let Some(state) = asked {
        let plan = &state.plan;
        return Some(Observed {
            revision: plan.revision.clone(),
            would_change: plan.changes_anything().then(|| told(plan)),
        });
    }
    let would_change = match (status.sync, status.proposed.as_deref()) {
        (SyncState::Synced, _) => None,
        (SyncState::OutOfSync, Some(plan)) => Some(told(plan)),
        (SyncState::OutOfSync, None) | (SyncState::Unknown, _) => return None,
    };
    Some(Observed {
        revision: status.attempted.clone(),
        would_change,
    })
}

/// What a plan would change, in one line for each object.
fn told(plan: &Plan) -> String {
    let would = plan
        .steps()
        .filter(|step| step.action.writes() || is_refused(step));
    let all: Vec<String> = would.map(line).collect();
    let mut text = format!("{} (nothing is applied: observe is enabled)", plan.counts());
    for line in all.iter().take(OBJECTS) {
        text.push('\n');
        text.push_str(line);
    }
    match all.len().saturating_sub(OBJECTS) {
        0 => {}
        more => text.push_str(&format!("\nand {more} more")),
    }
    text
}

fn is_refused(step: &Step) -> bool {
    matches!(step.action, Action::Fail { .. })
}

fn line(step: &Step) -> String {
    let what = match &step.action {
        Action::Create => "would be created",
        Action::Prune { .. } | Action::DeleteHook { .. } => "would be deleted",
        Action::Recreate(_) => "would be deleted and created",
        Action::Fail { error } => return format!("{} would fail: {error}", step.key),
        _ => "would be configured",
    };
    let fields = &step.fields[..step.fields.len().min(FIELDS)];
    let more = match step.fields.len() - fields.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match fields.is_empty() {
        true => format!("{} {what}", step.key),
        false => format!("{} {what}: {}{more}", step.key, fields.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use engine::plan::{Purpose, Stage};
    use engine::unit::{Operation, OperationState};
    use model::ObjectKey;

    use super::*;

    fn plan(action: Action, fields: &[&str]) -> Plan {
        let mut stage = Stage::new("apply", Purpose::Apply);
        stage.steps.push(Step {
            key: ObjectKey {
                group: "".into(),
                kind: "Secret".into(),
                namespace: "team".into(),
                name: "one".into(),
            },
            api_version: "v1".to_owned(),
            action,
            reason: "it differs".to_owned(),
            batch: 0,
            object: None,
            apply: Default::default(),
            fields: fields.iter().map(ToString::to_string).collect(),
            hook: None,
        });
        Plan {
            revision: "main@sha1:2".to_owned(),
            stages: vec![stage],
            ..Plan::default()
        }
    }

    fn status(sync: SyncState, proposed: Option<Plan>) -> Status {
        Status {
            sync,
            attempted: "main@sha1:2".to_owned(),
            proposed: proposed.map(Box::new),
            ..Status::default()
        }
    }

    #[test]
    fn what_would_change_is_told_by_object_and_field() {
        let status = status(
            SyncState::OutOfSync,
            Some(plan(Action::Patch, &["/data/password"])),
        );
        let found = observed(&status, false).unwrap();
        assert_eq!(found.revision, "main@sha1:2");
        assert_eq!(
            found.would_change.as_deref(),
            Some(
                "1 to change (nothing is applied: observe is enabled)\nSecret/team/one would be configured: /data/password"
            )
        );
    }

    #[test]
    fn nothing_is_told_before_it_was_looked_and_nothing_changes_where_all_is_the_same() {
        assert_eq!(observed(&status(SyncState::Unknown, None), false), None);
        let found = observed(&status(SyncState::Synced, None), false).unwrap();
        assert_eq!(found.would_change, None);
    }

    #[test]
    fn whoever_asks_is_answered_with_what_was_found_for_them() {
        let mut status = status(SyncState::Synced, None);
        status.operation = Some(Box::new(OperationState {
            phase: Phase::Succeeded,
            plan: plan(Action::Create, &[]),
            progress: Default::default(),
            basis: None,
            losses: 0,
            request: Some(Operation {
                dry_run: true,
                ..Operation::default()
            }),
            started: jiff::Timestamp::UNIX_EPOCH,
            finished: None,
            message: String::new(),
        }));
        let found = observed(&status, true).unwrap();
        assert!(
            found
                .would_change
                .unwrap()
                .ends_with("Secret/team/one would be created")
        );
        // What was found since counts more than a dry run of the past.
        assert_eq!(observed(&status, false).unwrap().would_change, None);
    }
}
