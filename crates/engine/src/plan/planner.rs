//! From what was found to a plan.

use std::collections::{HashMap, HashSet};

use model::ObjectKey;
use model::inventory::Id;

use super::decide::Decider;
use super::hooks::{self, Role};
use super::input::Input;
use super::objects::{Objects, Reference};
use super::prune::{self, Occasion};
use super::refusal::Refusal;
use super::stages::{self, Staging};
use super::steps::{Action, Hook, Note, Phase, Plan};
use super::strategy::Strategy;
use super::task::Task;

/// Decides all that is done to bring the cluster to the desired state, or says why nothing is.
///
/// With the plan come its objects. The first of them are the desired ones, with the same indices.
pub fn plan(input: &Input, strategy: &Strategy) -> Result<(Plan, Objects), Vec<Refusal>> {
    let mut objects = Objects::default();
    let references: Vec<Reference> = input
        .desired
        .iter()
        .map(|desired| objects.push_digested(desired.digest, desired.object.clone()))
        .collect();
    let mut notes = Vec::new();
    let tasks = tasks(input, strategy, &references, &mut objects, &mut notes);
    let pruning = prune::prune(input, strategy, Occasion::Sync);
    notes.extend(pruning.notes);
    let mut refusals = prune::guard(input, strategy, &pruning.tasks);
    refusals.extend(shared(input, strategy, &mut notes));
    refusals.extend(unrecordable(input, strategy));
    let staging = Staging { input, strategy };
    let drafts = staging.drafts(tasks, pruning.tasks);
    let inventory = stages::inventory(&drafts, input, pruning.kept);
    match stages::settle(drafts, strategy) {
        Ok(stages) if refusals.is_empty() => {
            let plan = Plan {
                unit: input.unit.clone(),
                revision: input.revision.clone(),
                stages,
                inventory,
                notes,
                left_out: Vec::new(),
            };
            Ok((plan, objects))
        }
        Ok(_) => Err(refusals),
        Err(rejected) => {
            refusals.extend(rejected);
            Err(refusals)
        }
    }
}

/// One task for each desired object, and for hooks one for each phase.
fn tasks(
    input: &Input,
    strategy: &Strategy,
    references: &[Reference],
    objects: &mut Objects,
    notes: &mut Vec<Note>,
) -> Vec<Task> {
    let decider = Decider::new(input, strategy);
    let last = last_of_each(input, notes);
    let mut tasks = Vec::with_capacity(input.desired.len());
    for (at, desired) in input.desired.iter().enumerate() {
        if !last.contains(&at) {
            continue;
        }
        let task = decider.task(desired, references[at], objects);
        if strategy.hooks {
            tasks.extend(in_phases(task, input, references[at]));
        } else {
            tasks.push(task);
        }
    }
    tasks
}

/// The positions of the objects that count: of several with one key the last.
fn last_of_each(input: &Input, notes: &mut Vec<Note>) -> HashSet<usize> {
    let mut last: HashMap<ObjectKey, usize> = HashMap::new();
    for (at, desired) in input.desired.iter().enumerate() {
        let key = desired.key(&input.options.namespace);
        if last.insert(key.clone(), at).is_some() {
            notes.push(Note {
                key: Some(key),
                text: "is there several times; the last one counts".to_owned(),
            });
        }
    }
    last.into_values().collect()
}

/// The task once for each phase it is in, with its wave.
fn in_phases(mut task: Task, input: &Input, reference: Reference) -> Vec<Task> {
    let Some(object) = task.object.clone() else {
        return vec![task];
    };
    task.wave = hooks::wave(&*object);
    if task.implied {
        task.phase = Phase::PreSync;
        return vec![task];
    }
    match hooks::role(&*object) {
        Role::Plain => vec![task],
        Role::Skipped => skip(task, "it asks not to be applied"),
        Role::Ignored => {
            task.implied = true;
            skip(task, "it is a hook for another occasion")
        }
        Role::Hook(phases) if input.options.argo.skip_hooks || input.options.only.is_some() => {
            task.step.hook = Some(Hook { phase: phases[0] });
            skip(task, "hooks are not run this time")
        }
        Role::Hook(phases) => {
            let hook = |phase| hook(&task, phase, input, reference);
            phases.into_iter().map(hook).collect()
        }
    }
}

fn skip(mut task: Task, reason: &str) -> Vec<Task> {
    task.failure = None;
    task.needs_definition = false;
    task.step.action = Action::Skip;
    reason.clone_into(&mut task.step.reason);
    task.step.object = None;
    task.step.apply = super::steps::Apply::default();
    vec![task]
}

/// The hook in one of its phases. It is run even if it is there and unchanged: then it is left of an earlier run, and is either
/// replaced or, if its delete policy forbids that, applied over.
pub(super) fn hook(task: &Task, phase: Phase, input: &Input, reference: Reference) -> Task {
    let mut task = task.clone();
    task.phase = phase;
    task.step.hook = Some(Hook { phase });
    let object = task.object.as_deref();
    task.delete_policy = object.map(hooks::delete_policy);
    let desired = input.desired.get(reference.index);
    task.earlier = desired.and_then(|desired| desired.observed.live()).cloned();
    if task.step.action != Action::Skip {
        task.step.object = Some(reference);
    }
    task
}

/// Objects that would be taken for others when the inventory is read. Hooks are in none.
fn unrecordable(input: &Input, strategy: &Strategy) -> Vec<Refusal> {
    let lasting = input.desired.iter().filter(|desired| strategy.lasts(desired));
    let refusals = lasting.filter_map(|desired| {
        let id = Id(desired.key(&input.options.namespace));
        (!id.reads_back()).then(|| Refusal::Unrecordable {
            entry: id.to_string(),
            key: id.0,
            origin: desired.origin.as_ref().map(ToString::to_string),
        })
    });
    refusals.collect()
}

/// Objects that another owner has: taken over with a note, or refused if the unit asks for that.
fn shared(input: &Input, strategy: &Strategy, notes: &mut Vec<Note>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for desired in &input.desired {
        let Some(live) = desired.observed.live() else {
            continue;
        };
        let key = live.key.clone();
        let holder = input.shared.get(&key).filter(|shared| shared.holds);
        let holder = holder.map(|shared| format!("unit {:?}", shared.unit));
        let Some(owner) = strategy.ownership.taken_from(live).or(holder) else {
            continue;
        };
        if strategy.hooks && input.options.argo.fail_on_shared {
            refusals.push(Refusal::Shared { key, owner });
        } else if !input.yields {
            notes.push(Note {
                key: Some(key),
                text: format!("is taken over from {owner}"),
            });
        }
    }
    refusals
}
