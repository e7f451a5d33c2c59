//! Tasks put into stages.

mod by_kind;
pub(super) mod by_wave;

use model::inventory::{Entry, Id};
use model::{Inventory, ObjectKey};

use super::input::Input;
use super::order::{self, Order};
use super::refusal::Refusal;
use super::steps::{Action, Awaited, Gate, OnFailure, Purpose, Stage, Until, Wait, When};
use super::strategy::Strategy;
use super::task::Task;

/// A stage whose steps are still tasks.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) stage: Stage,
    pub(super) tasks: Vec<Task>,
}

/// What all tasks are put into stages with.
pub(super) struct Staging<'a> {
    pub(super) input: &'a Input,
    pub(super) strategy: &'a Strategy,
}

impl Staging<'_> {
    /// The stages of a run: those that apply, prune and run hooks, and the wait for health.
    pub(super) fn drafts(&self, tasks: Vec<Task>, prunes: Vec<Task>) -> Vec<Draft> {
        let health = self.health(&tasks);
        match self.strategy.order {
            Order::Argo => by_wave::drafts(self, tasks, prunes, health),
            _ => by_kind::drafts(self, tasks, prunes, health),
        }
    }

    /// A stage of these tasks, in this order.
    fn draft(&self, name: impl Into<String>, purpose: Purpose, tasks: Vec<Task>) -> Draft {
        let mut stage = Stage::new(name, purpose);
        stage.on_failure = match purpose {
            Purpose::Prune | Purpose::Hooks => OnFailure::FinishStage,
            Purpose::Cleanup => OnFailure::GoOn,
            Purpose::Apply | Purpose::Health => self.strategy.on_failure,
        };
        Draft { stage, tasks }
    }

    fn sort(&self, tasks: &mut [Task]) {
        let order = &self.strategy.order;
        tasks.sort_by(|a, b| order.compare(&a.step.key, &b.step.key));
    }

    fn sort_for_deletion(&self, tasks: &mut [Task]) {
        let order = &self.strategy.order;
        tasks.sort_by(|a, b| order.compare_deletion(&a.step.key, &b.step.key));
    }

    /// Takes out the definitions and namespaces that other tasks of the same stage cannot do without, not even for a dry run.
    /// They become a stage of their own.
    fn definitions_first(&self, name: &str, tasks: &mut Vec<Task>) -> Option<Draft> {
        if !tasks.iter().any(|task| task.needs_definition) {
            return None;
        }
        let is_first = |task: &mut Task| {
            let is_definition = order::is_definition(&task.step.key);
            is_definition && !task.is_prune() && !task.needs_definition
        };
        let definitions: Vec<Task> = tasks.extract_if(.., is_first).collect();
        if definitions.is_empty() {
            return None;
        }
        let mut draft = self.draft(format!("{name}: definitions"), Purpose::Apply, definitions);
        draft.stage.wait = self.readiness(&draft.tasks, "definitions");
        Some(draft)
    }

    /// The wait for what the next stage needs.
    fn readiness(&self, tasks: &[Task], what: &str) -> Option<Wait> {
        let objects: Vec<Awaited> = tasks.iter().filter_map(Task::awaited).collect();
        let why = format!("{what} to become ready");
        wait(objects, self.input.options.stage_seconds, false, why)
    }

    /// The wait for health at the end, which pruned objects and hooks have no part in.
    fn health(&self, tasks: &[Task]) -> Option<Draft> {
        let health = self.input.options.wait.as_ref()?;
        let is_object = |task: &&Task| !task.is_prune() && !task.is_hook();
        let applied = tasks.iter().filter(is_object).filter_map(Task::awaited);
        let mut objects: Vec<Awaited> = match &health.objects {
            None => applied.collect(),
            Some(chosen) => {
                let applied: Vec<Awaited> = applied.collect();
                let known = |key: &ObjectKey| applied.iter().find(|object| object.key == *key).cloned();
                let chosen = chosen.iter();
                chosen
                    .map(|key| {
                        known(key).unwrap_or_else(|| Awaited {
                            key: key.clone(),
                            until: Until::Healthy,
                            may_vanish: false,
                            target: None,
                        })
                    })
                    .collect()
            }
        };
        objects.retain(|object| health.except.as_ref() != Some(&object.key));
        let why = "objects to become healthy".to_owned();
        let mut draft = self.draft("health", Purpose::Health, Vec::new());
        draft.stage.on_failure = OnFailure::Stop;
        draft.stage.wait = Some(wait(objects, health.seconds, health.fail_fast, why)?);
        Some(draft)
    }
}

fn wait(objects: Vec<Awaited>, seconds: u64, fail_fast: bool, why: String) -> Option<Wait> {
    (!objects.is_empty()).then_some(Wait {
        objects,
        seconds,
        fail_fast,
        optional: false,
        why,
    })
}

/// What has to be approved before the stage begins.
pub(super) fn gate(tasks: &[Task]) -> Option<Gate> {
    let waiting = tasks.iter().filter(|task| task.needs_approval);
    let objects: Vec<ObjectKey> = waiting.map(|task| task.step.key.clone()).collect();
    (!objects.is_empty()).then(|| Gate {
        objects,
        why: "pruning must be confirmed".to_owned(),
    })
}

/// Turns drafts into stages, unless something must be refused.
///
/// An object that the server has refused is tried again if a stage before it writes something, for that may be what it
/// lacks: a new version of its definition, or a namespace that others wait for. Otherwise nothing will have changed, and there is no
/// plan. Where each object stands for itself, it fails alone.
pub(super) fn settle(drafts: Vec<Draft>, strategy: &Strategy) -> Result<Vec<Stage>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut stages = Vec::with_capacity(drafts.len());
    let mut written = false;
    for mut draft in drafts {
        for task in &mut draft.tasks {
            let failure = task.failure.take().filter(|_| !written);
            match (failure, strategy.on_failure) {
                (None, _) => {}
                (Some(Refusal::Rejected { error, .. }), OnFailure::GoOn) => {
                    task.step.action = Action::Fail { error };
                    "it was refused".clone_into(&mut task.step.reason);
                    task.step.object = None;
                }
                (Some(failure), _) => refusals.push(failure),
            }
        }
        assign_batches(&strategy.order, &mut draft.tasks);
        draft.stage.steps = draft.tasks.into_iter().map(|task| task.step).collect();
        written |= draft.stage.writes() && draft.stage.when != When::Failure;
        stages.push(draft.stage);
    }
    if refusals.is_empty() {
        Ok(stages)
    } else {
        Err(refusals)
    }
}

/// Steps that follow each other are one batch if the order says nothing about them. What is pruned comes before what is
/// applied.
fn assign_batches(order: &Order, tasks: &mut [Task]) {
    let mut batch = 0;
    for at in 1..tasks.len() {
        let [before, task] = &mut tasks[at - 1..=at] else {
            continue;
        };
        let same = before.is_prune() == task.is_prune() && order.same_batch(&before.step.key, &task.step.key);
        batch += u32::from(!same);
        task.step.batch = batch;
    }
}

/// What the unit has applied when all went well: all that is desired, in the order it is applied, also what is skipped.
pub(super) fn inventory(drafts: &[Draft], input: &Input, kept: Vec<Entry>) -> Inventory {
    let tasks = drafts.iter().flat_map(|draft| &draft.tasks);
    let lasting = tasks.filter(|task| !task.is_prune() && !task.is_hook() && !task.implied);
    // What another unit holds is in the inventory of that one.
    let ours = lasting.filter(|task| !matches!(task.step.action, Action::Yield { .. }));
    let entries = ours.filter(|task| {
        // What this run is not about is only recorded if it was before, or else it might not even be there.
        super::decide::is_selected(input, &task.step.key) || input.previous.contains(&task.step.key)
    });
    let entries = entries.map(|task| Entry {
        id: Id(task.step.key.clone()),
        version: model::object_key::split_api_version(&task.step.api_version)
            .1
            .to_owned(),
    });
    Inventory {
        entries: entries.chain(kept).collect(),
    }
}
