//! Stages by kind: those of Flux, or one for everything.

use super::{Draft, Staging};
use crate::plan::order::{Order, Stage};
use crate::plan::steps::Purpose;
use crate::plan::task::Task;

pub(super) fn drafts(
    staging: &Staging<'_>,
    tasks: Vec<Task>,
    mut prunes: Vec<Task>,
    health: Option<Draft>,
) -> Vec<Draft> {
    let mut drafts = match &staging.strategy.order {
        Order::Flux { custom } => {
            let stages = Stage::ALL.into_iter();
            let mut rest = tasks;
            stages
                .filter_map(|stage| {
                    let in_stage = |task: &mut Task| Stage::of(&task.step.key, custom) == stage;
                    flux_stage(staging, stage, rest.extract_if(.., in_stage).collect())
                })
                .collect()
        }
        _ => one_stage(staging, tasks),
    };
    if !prunes.is_empty() {
        staging.sort_for_deletion(&mut prunes);
        drafts.push(staging.draft("prune", Purpose::Prune, prunes));
    }
    drafts.extend(health);
    drafts
}

fn flux_stage(staging: &Staging<'_>, stage: Stage, mut tasks: Vec<Task>) -> Option<Draft> {
    if tasks.is_empty() {
        return None;
    }
    staging.sort(&mut tasks);
    let mut draft = staging.draft(stage.name(), Purpose::Apply, tasks);
    if stage.is_waited_for() {
        draft.stage.wait = staging.readiness(&draft.tasks, stage.name());
    }
    Some(draft)
}

fn one_stage(staging: &Staging<'_>, mut tasks: Vec<Task>) -> Vec<Draft> {
    staging.sort(&mut tasks);
    let definitions = staging.definitions_first("objects", &mut tasks);
    let objects = (!tasks.is_empty()).then(|| staging.draft("objects", Purpose::Apply, tasks));
    definitions.into_iter().chain(objects).collect()
}
