//! What is no longer desired, and whether it may be deleted.

use std::collections::{HashMap, HashSet};

use model::inventory::Entry;
use model::{Inventory, ObjectKey};

use super::decide::{is_selected, options_of, target};
use super::hooks;
use super::input::{Candidate, Found, Input, Live};
use super::options::PruneOption;
use super::order;
use super::refusal::Refusal;
use super::steps::{Action, Apply, Note, Step};
use super::strategy::Strategy;
use super::task::Task;

/// Why an object that is on its way out is not deleted once more.
const LEAVING: &str = "it is being deleted already";

/// What becomes of the objects that are no longer desired.
#[derive(Debug, Default)]
pub(super) struct Pruning {
    pub(super) tasks: Vec<Task>,
    /// What stays in the inventory.
    pub(super) kept: Vec<Entry>,
    pub(super) notes: Vec<Note>,
}

/// Whether the unit lives on, or everything of it is deleted because it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    Sync,
    Deletion,
}

/// Looks at each object that was applied before and is not desired any more.
pub(super) fn prune(input: &Input, strategy: &Strategy, occasion: Occasion) -> Pruning {
    let covered: HashSet<ObjectKey> = input
        .desired
        .iter()
        .flat_map(|desired| super::covered(desired, &input.options.namespace))
        .collect();
    let live = input.desired.iter().filter_map(|desired| desired.observed.live());
    let desired_uids: HashSet<&str> = live
        .map(|live| live.uid.as_str())
        .filter(|uid| !uid.is_empty())
        .collect();
    let candidates = candidates(input);
    let mut pruning = Pruning::default();
    let stale = candidates.into_iter().filter(|(key, ..)| !covered.contains(*key));
    for (key, version, candidate) in stale {
        let entry = Entry {
            id: model::inventory::Id(key.clone()),
            version: version.to_owned(),
        };
        let Some(candidate) = candidate else {
            pruning.note(key, "was not looked at, and stays in the inventory");
            pruning.kept.push(entry);
            continue;
        };
        if !is_selected(input, key) {
            pruning.kept.push(entry);
            continue;
        }
        if !input.options.prune {
            if matches!(candidate.found, Found::There(_)) {
                pruning.note(key, "is no longer desired, and stays because pruning is off");
            }
            continue;
        }
        let shared = input.shared.get(key);
        // It stays known until the other unit has applied it. A unit that is deleted cannot wait for that.
        let waits = shared.is_some_and(|shared| !shared.has) && occasion == Occasion::Sync;
        if waits || matches!(candidate.found, Found::Unknown(_)) {
            pruning.kept.push(entry);
        }
        pruning
            .tasks
            .push(task(candidate, &desired_uids, input, strategy, occasion));
    }
    pruning
}

impl Pruning {
    fn note(&mut self, key: &ObjectKey, text: &str) {
        self.notes.push(Note {
            key: Some(key.clone()),
            text: text.to_owned(),
        });
    }
}

/// All objects of the inventory with what was found of them, and then what was found besides.
fn candidates(input: &Input) -> Vec<(&ObjectKey, &str, Option<&Candidate>)> {
    let mut found: HashMap<&ObjectKey, &Candidate> = HashMap::new();
    for candidate in &input.candidates {
        found.insert(&candidate.key, candidate);
    }
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for entry in &input.previous.entries {
        if seen.insert(&entry.id.0) {
            all.push((
                &entry.id.0,
                entry.version.as_str(),
                found.get(&entry.id.0).copied(),
            ));
        }
    }
    for candidate in &input.candidates {
        if seen.insert(&candidate.key) {
            let (_, version) = model::object_key::split_api_version(&candidate.api_version);
            all.push((&candidate.key, version, Some(candidate)));
        }
    }
    all
}

fn task(
    candidate: &Candidate,
    desired_uids: &HashSet<&str>,
    input: &Input,
    strategy: &Strategy,
    occasion: Occasion,
) -> Task {
    let (action, reason) = match &candidate.found {
        Found::Gone => (Action::Gone, "it is no longer desired, and gone".to_owned()),
        Found::Unknown(error) => {
            let error = error.clone();
            (
                Action::Fail { error },
                "it cannot be told whether it may be pruned".to_owned(),
            )
        }
        Found::There(live) => match reason_to_keep(live, desired_uids, input, strategy, occasion) {
            Some(reason) => (Action::Skip, reason),
            None if live.deleting => (Action::Skip, LEAVING.to_owned()),
            None => {
                let propagation = input.options.propagation;
                let target = target(live);
                (
                    Action::Prune { propagation, target },
                    "it is no longer desired".to_owned(),
                )
            }
        },
    };
    let mut task = Task::new(Step {
        key: candidate.key.clone(),
        api_version: candidate.api_version.clone(),
        action,
        reason,
        batch: 0,
        object: None,
        apply: Apply::default(),
        fields: Vec::new(),
        hook: None,
    });
    if let Found::There(live) = &candidate.found {
        if strategy.hooks {
            task.wave = hooks::wave(&**live);
        }
        task.needs_approval = matches!(task.step.action, Action::Prune { .. })
            && option(live, input, strategy, occasion) == PruneOption::Confirm
            && !input.options.argo.is_approved(input.options.started);
        task.leaving = task.step.reason == LEAVING;
        task.prune_last = input.options.argo.prune_last || options_of(&**live, strategy).prune_last;
    }
    task
}

fn reason_to_keep(
    live: &Live,
    desired_uids: &HashSet<&str>,
    input: &Input,
    strategy: &Strategy,
    occasion: Occasion,
) -> Option<String> {
    if desired_uids.contains(live.uid.as_str()) {
        return Some("it is desired in another group of the same kind".to_owned());
    }
    if let Some(shared) = input.shared.get(&live.key) {
        let or_more = match &*live.key.kind {
            "Namespace" | "CustomResourceDefinition" => ", or something that would go with it",
            _ => "",
        };
        return Some(format!("unit {:?} wants it{or_more}", shared.unit));
    }
    if let Some(reason) = strategy.keeps(live) {
        return Some(reason);
    }
    let other = input.instance.as_ref().and_then(|ours| ours.not_ours(live));
    if other.is_some() {
        return other;
    }
    if occasion == Occasion::Deletion && strategy.hooks && is_kind_definition(live) {
        return Some("a definition outlives the unit: all objects of its kind would go with it".to_owned());
    }
    let disabled = option(live, input, strategy, occasion) == PruneOption::Disabled;
    disabled.then(|| "its sync options forbid to delete it".to_owned())
}

fn is_kind_definition(live: &Live) -> bool {
    live.key.kind == "CustomResourceDefinition" && order::is_definition(&live.key)
}

/// What the object says about being deleted, or else the unit.
fn option(live: &Live, input: &Input, strategy: &Strategy, occasion: Occasion) -> PruneOption {
    if !strategy.hooks {
        return PruneOption::Allowed;
    }
    let asked = options_of(live, strategy);
    match occasion {
        Occasion::Sync => asked.prune.unwrap_or(input.options.argo.prune),
        Occasion::Deletion => asked.delete.unwrap_or(input.options.argo.delete),
    }
}

/// What must not happen by mistake: that more is deleted than anybody expects.
pub(super) fn guard(input: &Input, strategy: &Strategy, tasks: &[Task]) -> Vec<Refusal> {
    let is_prune = |task: &&Task| matches!(task.step.action, Action::Prune { .. });
    let prunes = tasks.iter().filter(is_prune).count();
    let total = total(&input.previous, &input.candidates);
    let mut refusals = Vec::new();
    // Hooks come and go: a build that has nothing else left leaves the unit with nothing.
    let is_empty = !input.desired.iter().any(|desired| strategy.lasts(desired));
    if is_empty && prunes > 0 && !input.options.allow_empty {
        refusals.push(Refusal::Empty { prunes });
    }
    let share = input
        .options
        .budget
        .percent
        .map(|percent| (total * usize::from(percent)).div_ceil(100));
    let limits = [input.options.budget.count, share].into_iter().flatten();
    if let Some(allowed) = limits.min().filter(|allowed| prunes > *allowed) {
        refusals.push(Refusal::Budget {
            prunes,
            total,
            allowed,
        });
    }
    refusals
}

/// How many objects the unit had.
fn total(previous: &Inventory, candidates: &[Candidate]) -> usize {
    let known = previous.entries.iter().map(|entry| &entry.id.0);
    let keys: HashSet<&ObjectKey> = known
        .chain(candidates.iter().map(|candidate| &candidate.key))
        .collect();
    keys.len()
}
