//! Stages by phase and wave, with hooks: the way of Argo CD.

use std::collections::{BTreeSet, HashSet};

use model::ObjectKey;

use super::{Draft, Staging, gate, wait};
use crate::plan::decide::target;
use crate::plan::hooks::{self, DeletePolicy};
use crate::plan::order;
use crate::plan::steps::{Action, Apply, Awaited, Phase, Purpose, When};
use crate::plan::task::Task;

/// Phase by phase and wave by wave; when all has gone well, hooks that ask for it are deleted; when something has failed,
/// the hooks for that case run, and then those are deleted that are only kept on success.
pub(super) fn drafts(
    staging: &Staging<'_>,
    tasks: Vec<Task>,
    mut prunes: Vec<Task>,
    health: Option<Draft>,
) -> Vec<Draft> {
    mirror_waves(&mut prunes);
    prune_last(&tasks, &mut prunes);
    let mut all = tasks;
    all.extend(prunes);
    let order = &staging.strategy.order;
    let place = |task: &Task| (task.phase, task.wave);
    all.sort_by(|a, b| {
        place(a)
            .cmp(&place(b))
            .then_with(|| order.compare(&a.step.key, &b.step.key))
    });
    order::pull_dependencies_forward(&mut all);
    let (after_success, after_failure) = cleanups_of(staging, &all);

    let mut created = HashSet::new();
    let (on_failure, groups): (Vec<_>, Vec<_>) = groups(all)
        .into_iter()
        .partition(|group| group[0].phase == Phase::SyncFail);
    let last = groups.len().saturating_sub(1);
    let mut drafts = Vec::new();
    for (at, group) in groups.into_iter().enumerate() {
        let alone = last == 0;
        drafts.extend(wave(
            staging,
            group,
            Position {
                is_last: at == last,
                alone,
            },
            &mut created,
        ));
    }
    drafts.extend(health);
    drafts.extend(after_success);
    for group in on_failure {
        let position = Position {
            is_last: false,
            alone: false,
        };
        for mut draft in wave(staging, group, position, &mut created) {
            draft.stage.when = When::Failure;
            drafts.push(draft);
        }
    }
    drafts.extend(after_failure);
    drafts
}

/// Stages of hooks alone, wave by wave, each of which has to end well.
pub(in crate::plan) fn hooks_alone(staging: &Staging<'_>, mut tasks: Vec<Task>) -> Vec<Draft> {
    let order = &staging.strategy.order;
    tasks.sort_by(|a, b| {
        let by_kind = || order.compare(&a.step.key, &b.step.key);
        a.wave.cmp(&b.wave).then_with(by_kind)
    });
    let position = Position {
        is_last: false,
        alone: false,
    };
    let mut created = HashSet::new();
    groups(tasks)
        .into_iter()
        .flat_map(|group| wave(staging, group, position, &mut created))
        .collect()
}

/// What becomes of hooks when all went well, and when something has failed.
pub(in crate::plan) fn cleanups(staging: &Staging<'_>, tasks: &[Task]) -> Vec<Draft> {
    let (success, failure) = cleanups_of(staging, tasks);
    success.into_iter().chain(failure).collect()
}

fn cleanups_of(staging: &Staging<'_>, tasks: &[Task]) -> (Option<Draft>, Option<Draft>) {
    let success = cleanup(staging, tasks, "hooks that have succeeded", |policy| {
        policy.succeeded
    });
    let failure = cleanup(staging, tasks, "hooks of a failed sync", |policy| policy.failed);
    let failure = failure.map(|mut draft| {
        draft.stage.when = When::Failure;
        draft
    });
    (success, failure)
}

/// Where a wave stands among all.
#[derive(Clone, Copy)]
struct Position {
    is_last: bool,
    alone: bool,
}

/// What was applied in the first wave is pruned in the last: of the waves that have anything to prune, the lowest and the
/// highest change places, and so on inwards.
fn mirror_waves(prunes: &mut [Task]) {
    let waves: BTreeSet<i64> = prunes.iter().map(|task| task.wave).collect();
    let waves: Vec<i64> = waves.into_iter().collect();
    for task in prunes {
        if let Ok(at) = waves.binary_search(&task.wave) {
            task.wave = waves[waves.len() - 1 - at];
        }
    }
}

/// What asks to be pruned last is, in a wave after all others.
fn prune_last(tasks: &[Task], prunes: &mut [Task]) {
    let in_sync = tasks.iter().filter(|task| task.phase == Phase::Sync);
    let waves = in_sync.chain(prunes.iter()).map(|task| task.wave);
    let after = waves.max().unwrap_or(0).max(0).saturating_add(1);
    for task in prunes.iter_mut().filter(|task| task.prune_last) {
        task.wave = after;
    }
}

/// Tasks of one phase and wave, which follow each other.
fn groups(tasks: Vec<Task>) -> Vec<Vec<Task>> {
    let mut groups: Vec<Vec<Task>> = Vec::new();
    for task in tasks {
        match groups.last_mut() {
            Some(group) if (group[0].phase, group[0].wave) == (task.phase, task.wave) => group.push(task),
            _ => groups.push(vec![task]),
        }
    }
    groups
}

/// The stages of one wave: hooks of before are deleted, definitions that others need are applied, and then everything else.
fn wave(
    staging: &Staging<'_>,
    mut tasks: Vec<Task>,
    position: Position,
    created: &mut HashSet<ObjectKey>,
) -> Vec<Draft> {
    let name = format!("{:?} wave {}", tasks[0].phase, tasks[0].wave);
    let mut drafts = Vec::new();
    drafts.extend(earlier_hooks(staging, &name, &mut tasks, created));
    drafts.extend(staging.definitions_first(&name, &mut tasks));
    if tasks.is_empty() {
        return drafts;
    }
    let (mut ordered, applied): (Vec<Task>, Vec<Task>) = tasks.into_iter().partition(Task::is_prune);
    staging.sort_for_deletion(&mut ordered);
    ordered.extend(applied);
    let has_hooks = ordered.iter().any(Task::is_hook);
    let purpose = match (has_hooks, ordered.iter().all(Task::is_prune)) {
        (true, _) => Purpose::Hooks,
        (false, true) => Purpose::Prune,
        (false, false) => Purpose::Apply,
    };
    let mut draft = staging.draft(name.as_str(), purpose, ordered);
    draft.stage.gate = gate(&draft.tasks);
    // Nothing comes after the last wave that could need its objects; the wait for health is a stage of its own.
    let whole = !position.is_last || (has_hooks && !position.alone);
    let skip_unchanged = staging.input.options.argo.out_of_sync_only;
    let awaited = draft.tasks.iter().filter(|task| {
        let unchanged = skip_unchanged && task.step.action == Action::Unchanged;
        task.is_hook() || (whole && !unchanged)
    });
    let objects: Vec<Awaited> = awaited.filter_map(Task::awaited).collect();
    let why = format!("{name} to complete");
    draft.stage.wait = wait(objects, staging.input.options.wave_seconds, true, why);
    drafts.push(draft);
    drafts
}

/// Deletes what is left of the hooks of this wave, from an earlier operation or an earlier phase of this one, and makes them be
/// created instead of changed.
fn earlier_hooks(
    staging: &Staging<'_>,
    name: &str,
    tasks: &mut [Task],
    created: &mut HashSet<ObjectKey>,
) -> Option<Draft> {
    let mut deletions = Vec::new();
    for task in tasks
        .iter_mut()
        .filter(|task| task.is_hook() && task.step.object.is_some())
    {
        let again = !created.insert(task.step.key.clone());
        let is_replaced = task.delete_policy.is_some_and(|policy| policy.before_creation);
        if !is_replaced || !(again || task.earlier.is_some()) {
            continue;
        }
        // What an earlier phase has made is known when it has run.
        deletions.push(deletion(task, "it is left of an earlier run", !again));
        task.failure = None;
        task.step.action = Action::Create;
        "a hook is run anew".clone_into(&mut task.step.reason);
        task.step.fields.clear();
        task.step.apply.verified = false;
        task.step.apply.recreate = false;
        task.step.apply.recreate_uid.clear();
        task.step.apply.recreate_seconds = 0;
        task.step.apply.takeover = None;
    }
    if deletions.is_empty() {
        return None;
    }
    let mut draft = staging.draft(format!("{name}: earlier hooks"), Purpose::Hooks, deletions);
    let gone = draft.tasks.iter().filter_map(Task::awaited);
    let why = "earlier hooks to be gone".to_owned();
    draft.stage.wait = wait(gone.collect(), staging.input.options.wave_seconds, false, why);
    Some(draft)
}

/// The deletion of a hook.
fn deletion(hook: &Task, reason: &str, known: bool) -> Task {
    let mut task = hook.clone();
    let finalizer = |name: &&String| *name == hooks::FINALIZER;
    let earlier = hook.earlier.as_ref();
    task.step.action = Action::DeleteHook {
        target: earlier.filter(|_| known).map(target),
        release: earlier.and_then(|live| live.finalizers.iter().find(finalizer).cloned()),
    };
    reason.clone_into(&mut task.step.reason);
    task.step.object = None;
    task.step.fields.clear();
    task.step.apply = Apply::default();
    task.failure = None;
    task.needs_definition = false;
    task
}

/// Deletes the hooks with that policy, each once.
fn cleanup(
    staging: &Staging<'_>,
    tasks: &[Task],
    name: &str,
    applies: impl Fn(DeletePolicy) -> bool,
) -> Option<Draft> {
    let mut seen = HashSet::new();
    let hooks = tasks
        .iter()
        .filter(|task| task.is_hook() && task.delete_policy.is_some_and(&applies));
    let deletions: Vec<Task> = hooks
        .filter(|task| seen.insert(&task.step.key))
        .map(|task| deletion(task, "its delete policy says so", false))
        .collect();
    (!deletions.is_empty()).then(|| staging.draft(name, Purpose::Cleanup, deletions))
}
