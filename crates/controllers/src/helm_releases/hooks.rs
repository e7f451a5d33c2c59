//! Hooks of a release, run one after the other.

use engine::plan::{
    Action, Apply, Awaited, Hook as Marked, Objects, Phase, Plan, Purpose, Stage, Step, Until, Wait,
};
use engine::sync::Ending;
use helm::hooks::{self, DeletePolicy};
use helm::manifest::Event;
use helm::record::{Hook, Record, Time, phase};
use jiff::Timestamp;
use model::{ObjectKey, Value};

use super::site::Site;
use crate::kit::WorkerPermit;

/// The kinds whose hooks are waited for until they have run to their end; others are where expressions tell how they are doing.
const RUNS: [&str; 2] = ["Job", "Pod"];

/// What hooks of a release are run with.
pub(super) struct Runner<'r> {
    pub(super) site: &'r mut Site,
    pub(super) worker: &'r WorkerPermit,
    /// How long each may take.
    pub(super) seconds: u64,
}

impl Runner<'_> {
    /// Runs the hooks of an event. How each ended is in the record, which is not stored here.
    pub(super) async fn run(&mut self, record: &mut Record, event: Event) -> Result<(), String> {
        let order = hooks::order(&record.hooks, event);
        self.run_in(record, &order, event.name()).await
    }

    /// Runs hooks in an order.
    pub(super) async fn run_in(
        &mut self,
        record: &mut Record,
        order: &[usize],
        event: &str,
    ) -> Result<(), String> {
        for (place, at) in order.iter().enumerate() {
            let Some(hook) = record.hooks.get_mut(*at) else {
                continue;
            };
            hooks::set_default_policy(hook);
            hook.last_run.started_at = Some(Time::new(Timestamp::now()));
            hook.last_run.completed_at = None;
            hook.last_run.phase = phase::RUNNING.to_owned();
            let ran = self.one(hook, &record.namespace).await;
            hook.last_run.completed_at = Some(Time::new(Timestamp::now()));
            let went_well = ran.is_ok();
            hook.last_run.phase = if went_well {
                phase::SUCCEEDED
            } else {
                phase::FAILED
            }
            .to_owned();
            if let Err(problem) = ran {
                let leaving = hooks::deleted_after_failure(&record.hooks, order, place);
                let left = self.delete(record, &leaving).await;
                let told = format!("failed {event}: {problem}");
                return Err(match left {
                    Ok(()) => told,
                    Err(more) => format!("{told}; {more}"),
                });
            }
        }
        let leaving = hooks::deleted_after_success(&record.hooks, order);
        self.delete(record, &leaving).await
    }

    /// Runs one hook: one that is left of an earlier run goes first, if it is to.
    async fn one(&mut self, hook: &Hook, namespace: &str) -> Result<(), String> {
        let object = self.object(hook, namespace).await?;
        let key = ObjectKey::of(&object);
        let mut stages = Vec::new();
        if hooks::is_deleted(hook, DeletePolicy::BeforeHookCreation)
            && self.site.read(&object, &key).await?.is_some()
        {
            stages.push(deletion(&object, &key, self.seconds));
        }
        let mut objects = Objects::default();
        let has_rules = self.site.standard_of_hooks.has_rules_for(&key.group, &key.kind);
        let is_awaited = RUNS.contains(&&*key.kind) || has_rules;
        let seconds = is_awaited.then_some(self.seconds);
        stages.push(creation(&object, &key, seconds, &mut objects));
        self.carry_out(stages, objects).await
    }

    async fn delete(&mut self, record: &Record, leaving: &[usize]) -> Result<(), String> {
        let mut stages = Vec::new();
        for hook in leaving.iter().filter_map(|at| record.hooks.get(*at)) {
            let object = self.object(hook, &record.namespace).await?;
            let key = ObjectKey::of(&object);
            stages.push(deletion(&object, &key, self.seconds));
        }
        match stages.is_empty() {
            true => Ok(()),
            false => self.carry_out(stages, Objects::default()).await,
        }
    }

    /// Carries stages out by the rules of hooks, whatever the release says of its other objects.
    async fn carry_out(&mut self, stages: Vec<Stage>, objects: Objects) -> Result<(), String> {
        let plan = Plan {
            stages,
            ..Plan::default()
        };
        let report = self.site.carry_out_hooks(plan, objects, self.worker).await;
        match report.ending {
            Ending::Succeeded => Ok(()),
            _ => Err(report.errors.join("; ")),
        }
    }

    /// The object of a hook, in the namespace that it is in.
    async fn object(&self, hook: &Hook, namespace: &str) -> Result<Value, String> {
        let unreadable = |why: String| format!("hook {}: {why}", hook.path);
        let mut found = helm::inventory::objects(&hook.manifest).map_err(unreadable)?;
        let Some(mut object) = found.pop() else {
            return Err(unreadable("it is empty".to_owned()));
        };
        let (group, version) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
        let kind = object.str_at(&["kind"]);
        let resource = self.site.cluster().resource(group, version, kind).await;
        let resource = resource.map_err(|error| unreadable(error.to_string()))?;
        if resource.namespaced && object.str_at(&["metadata", "namespace"]).is_empty() {
            object.set_at(&["metadata", "namespace"], namespace);
        }
        Ok(object)
    }
}

fn step(object: &Value, key: &ObjectKey, action: Action) -> Step {
    Step {
        key: key.clone(),
        api_version: object.str_at(&["apiVersion"]).to_owned(),
        action,
        reason: "it is a hook".to_owned(),
        batch: 0,
        object: None,
        apply: Apply::default(),
        fields: Vec::new(),
        hook: Some(Marked { phase: Phase::Sync }),
    }
}

/// An object that is made, and waited for until it has run to its end if it is to.
fn creation(object: &Value, key: &ObjectKey, seconds: Option<u64>, objects: &mut Objects) -> Stage {
    let mut stage = Stage::new(format!("hook {key}"), Purpose::Hooks);
    let mut create = step(object, key, Action::Create);
    create.object = Some(objects.push(object.clone().into()));
    stage.steps.push(create);
    stage.wait = seconds.map(|seconds| {
        let mut wait = wait(key, Until::Completed, seconds);
        // One that somebody has deleted has not run to its end, unless it says that it goes by itself.
        let vanishes = engine::health::may_vanish(object);
        wait.objects
            .iter_mut()
            .for_each(|awaited| awaited.may_vanish = vanishes);
        wait
    });
    stage
}

fn deletion(object: &Value, key: &ObjectKey, seconds: u64) -> Stage {
    let mut stage = Stage::new(format!("hook {key} goes"), Purpose::Cleanup);
    let delete = Action::DeleteHook {
        target: None,
        release: None,
    };
    stage.steps.push(step(object, key, delete));
    stage.wait = Some(wait(key, Until::Gone, seconds));
    stage
}

fn wait(key: &ObjectKey, until: Until, seconds: u64) -> Wait {
    Wait {
        objects: vec![Awaited {
            key: key.clone(),
            until,
            may_vanish: false,
            target: None,
        }],
        seconds,
        fail_fast: true,
        optional: false,
        why: format!("hook {key}"),
    }
}
