//! The plan to delete everything that a unit has applied.

use super::decide::Decider;
use super::hooks;
use super::input::Input;
use super::objects::Objects;
use super::planner;
use super::prune::{self, Occasion};
use super::refusal::Refusal;
use super::stages::{self, Draft, Staging};
use super::steps::{Awaited, OnFailure, Phase, Plan, Purpose, Stage, Until, Wait};
use super::strategy::Strategy;
use super::task::Task;

/// The plan to delete everything that a unit has applied, because the unit itself is deleted. `input` says what there is as
/// for any other plan; of what is desired only the hooks for this occasion matter, and those only to units that have hooks:
/// what runs before fails or not decides whether anything is deleted. Objects that may not be deleted stay.
///
/// With `seconds` the deletion is waited for; that it takes longer is no failure. Units with waves are always waited for,
/// wave by wave from the highest.
///
/// # Errors
/// The server does not accept a hook.
pub fn deletion(
    input: &Input,
    strategy: &Strategy,
    seconds: Option<u64>,
) -> Result<(Plan, Objects), Vec<Refusal>> {
    let mut objects = Objects::default();
    let staging = Staging { input, strategy };
    let hooks = match strategy.hooks {
        true => hook_tasks(input, strategy, &mut objects),
        false => Vec::new(),
    };
    let cleanups = stages::by_wave::cleanups(&staging, &hooks);
    let (before, after) = hooks
        .into_iter()
        .partition(|task: &Task| task.phase == Phase::PreDelete);
    let (deletions, kept, notes) = waves(input, strategy, seconds);
    let mut drafts = stages::by_wave::hooks_alone(&staging, before);
    drafts.extend(deletions);
    drafts.extend(stages::by_wave::hooks_alone(&staging, after));
    drafts.extend(cleanups);
    let plan = Plan {
        unit: input.unit.clone(),
        revision: input.revision.clone(),
        stages: stages::settle(drafts, strategy)?,
        inventory: model::Inventory { entries: kept },
        notes,
        left_out: Vec::new(),
    };
    Ok((plan, objects))
}

/// The hooks that run when a unit is deleted, once for each phase they are in.
fn hook_tasks(input: &Input, strategy: &Strategy, objects: &mut Objects) -> Vec<Task> {
    let decider = Decider::new(input, strategy);
    let desired = input.desired.iter();
    let references: Vec<_> = desired
        .map(|desired| objects.push_digested(desired.digest, desired.object.clone()))
        .collect();
    let mut tasks = Vec::new();
    for (desired, reference) in input.desired.iter().zip(references) {
        for phase in hooks::deletion_phases(&*desired.object) {
            let task = decider.task(desired, reference, objects);
            let mut hook = planner::hook(&task, phase, input, reference);
            hook.wave = hooks::wave(&*desired.object);
            tasks.push(hook);
        }
    }
    tasks
}

type Waves = (Vec<Draft>, Vec<model::inventory::Entry>, Vec<super::steps::Note>);

/// What is deleted, wave by wave from the highest, and what stays.
fn waves(input: &Input, strategy: &Strategy, seconds: Option<u64>) -> Waves {
    let mut input = input.clone();
    input.desired.clear();
    input.options.prune = true;
    input.options.only = None;
    let pruning = prune::prune(&input, strategy, Occasion::Deletion);
    let mut waves: Vec<(i64, Vec<Task>)> = Vec::new();
    let mut tasks = pruning.tasks;
    tasks.sort_by(|a, b| {
        let by_order = || strategy.order.compare_deletion(&a.step.key, &b.step.key);
        b.wave.cmp(&a.wave).then_with(by_order)
    });
    for task in tasks {
        match waves.last_mut() {
            Some((wave, group)) if *wave == task.wave => group.push(task),
            _ => waves.push((task.wave, vec![task])),
        }
    }
    let seconds = seconds.or(strategy.hooks.then_some(input.options.wave_seconds));
    let drafts = waves
        .into_iter()
        .map(|(wave, tasks)| deletion_wave(wave, tasks, strategy, seconds));
    (drafts.collect(), pruning.kept, pruning.notes)
}

fn deletion_wave(wave: i64, tasks: Vec<Task>, strategy: &Strategy, seconds: Option<u64>) -> Draft {
    let name = if strategy.hooks {
        format!("delete wave {wave}")
    } else {
        "delete".to_owned()
    };
    let mut stage = Stage::new(name, Purpose::Prune);
    stage.on_failure = OnFailure::FinishStage;
    stage.gate = stages::gate(&tasks);
    let objects: Vec<Awaited> = tasks.iter().filter_map(Task::awaited).collect();
    debug_assert!(objects.iter().all(|object| object.until == Until::Gone));
    stage.wait = seconds.filter(|_| !objects.is_empty()).map(|seconds| Wait {
        objects,
        seconds,
        fail_fast: false,
        optional: !strategy.hooks,
        why: "objects to be gone".to_owned(),
    });
    Draft { stage, tasks }
}
