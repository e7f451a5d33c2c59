//! Carries out a [`Plan`] and decides nothing: what is done to which object, in which order, what is waited for and what a failure
//! stops is all in the plan.
//!
//! A [`Run`] goes as far as it can and then says what it waits for; it is called again when that may have come true. So a wait
//! holds no worker, and what is stored of it ([`Progress`]) is enough for another process to go on.

mod anew;
mod ask;
mod delete;
mod inventory;
mod kinds;
mod progress;
mod report;
mod step;
mod wait;
mod world;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use model::health::State;
use model::{Health, ObjectKey};

use crate::cache::Lookup;
use crate::plan::{Action, Gate, Objects, OnFailure, Plan, Purpose, Stage, When};

pub use inventory::{Had, to_be_made, together, written};
pub use progress::{Outcome, Progress, StepResult, Work};
pub use report::{Ending, Report};
pub use wait::Pending;
pub(crate) use wait::is_older;
pub use world::{Stop, Surroundings, World};

use ask::Asked;
use step::{Done, Turn};

/// What comes next.
#[derive(Debug)]
pub enum Next {
    /// Nothing can be done before one of these objects changes or the time is up.
    Waiting {
        /// What is waited for.
        objects: Vec<Pending>,
        /// How long at most.
        until: Timestamp,
        /// Why, for people.
        why: String,
    },
    /// Nothing is done before somebody approves.
    Approval(Gate),
    /// Nothing is done before it is known what other units want.
    Hearing,
    /// The run has come to its end.
    Finished(Report),
}

/// How long an object that is to be made anew may take to be gone, if the plan does not say.
const LEAVING: u64 = 60;

/// A plan that is being carried out.
#[derive(Debug)]
pub struct Run {
    plan: Arc<Plan>,
    objects: Objects,
    progress: Progress,
    /// What the server has said of what no watch tells of.
    asked: Asked,
}

impl Run {
    /// Begins to carry out a plan.
    pub fn new(plan: Arc<Plan>, objects: Objects) -> Self {
        Run::resume(plan, objects, Progress::default())
    }

    /// Goes on where another process has stopped.
    pub fn resume(plan: Arc<Plan>, objects: Objects, progress: Progress) -> Self {
        Run {
            plan,
            objects,
            progress,
            asked: Asked::default(),
        }
    }

    /// How far it is, to be stored.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// What is carried out.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Ends it where it is, without the cluster, which is not there any more.
    pub(crate) fn left(&self, is_terminated: bool) -> Report {
        let ending = match is_terminated || self.progress.terminated {
            true => Ending::Terminated,
            false => Ending::Left,
        };
        Report::new(ending, &self.plan, &self.progress)
    }

    /// The objects that are there by now as the plan wants them to be.
    pub(crate) fn there(&self) -> HashSet<ObjectKey> {
        let steps = self.plan.steps().filter(|step| step.is_there_for_good());
        let results = self.progress.results.iter();
        let found = results.filter(|result| result.outcome.is_there());
        let found: HashSet<&ObjectKey> = found.map(|result| &result.key).collect();
        let there = steps.filter(|step| step.action == Action::Unchanged || found.contains(&step.key));
        there.map(|step| step.key.clone()).collect()
    }

    /// Goes as far as possible without waiting.
    pub async fn advance(&mut self, world: &World<'_>) -> Next {
        let plan = Arc::clone(&self.plan);
        while let Some(stage) = plan.stages.get(self.progress.stage) {
            match world.around.stop() {
                Some(Stop::Superseded) => {
                    return Next::Finished(Report::superseded(&plan, &self.progress));
                }
                Some(Stop::Lost(key)) => return self.lost(&key),
                Some(Stop::Terminated) if !self.progress.terminated => self.terminate(stage, world).await,
                _ => {}
            }
            if self.is_run(stage)
                && let Some(next) = self.stage(stage, world).await
            {
                return next;
            }
            if self.is_to_stop(world) {
                continue;
            }
            kinds::announce(stage, &self.objects, world.cluster);
            self.progress.stage += 1;
            self.progress.work = Work::New;
        }
        Next::Finished(Report::ended(&plan, &self.progress))
    }

    /// Whether something has come up that ends the run, and nothing was done about it yet.
    fn is_to_stop(&self, world: &World<'_>) -> bool {
        match world.around.stop() {
            None => false,
            Some(Stop::Superseded | Stop::Lost(_)) => true,
            Some(Stop::Terminated) => !self.progress.terminated,
        }
    }

    /// Somebody has ended the run. Hooks of the stage that still run are deleted; what is left is to clean up.
    async fn terminate(&mut self, stage: &Stage, world: &World<'_>) {
        let running = match (&self.progress.work, &stage.wait) {
            (Work::New, _) => Vec::new(),
            (Work::Waiting { .. }, Some(wait)) => {
                let found = wait::look(wait, &self.progress, &self.asked, world);
                found.pending.into_iter().map(|pending| pending.key).collect()
            }
            _ => stage.steps.iter().map(|step| step.key.clone()).collect(),
        };
        let hooks = stage
            .steps
            .iter()
            .filter(|step| step.hook.is_some() && step.action.applies() && running.contains(&step.key));
        let deletions = hooks.map(|step| delete::end_hook(step, world, self.progress.made(&step.key)));
        let deleted = join_all(deletions).await;
        self.progress.results.extend(deleted);
        self.progress.terminated = true;
        self.progress.failed = true;
        self.progress.work = Work::New;
    }

    fn is_run(&self, stage: &Stage) -> bool {
        let when = match stage.when {
            When::Success => !self.progress.failed,
            When::Failure => self.progress.failed,
            When::Always => true,
        };
        when && (!self.progress.terminated || stage.purpose == Purpose::Cleanup)
    }

    /// Works on one stage. `None` when it has ended.
    async fn stage(&mut self, stage: &Stage, world: &World<'_>) -> Option<Next> {
        if self.progress.work == Work::New {
            if let Some(gate) = &stage.gate
                && !world.approved
            {
                return Some(Next::Approval(gate.clone()));
            }
            let refused = self.verify(stage, world).await;
            if !refused.is_empty() && stage.on_failure != OnFailure::GoOn {
                self.fail(stage);
                return None;
            }
            kinds::retract(stage, world.cluster);
            self.progress.work = Work::begun(refused);
        }
        if let Some(next) = self.steps(stage, world).await {
            return Some(next);
        }
        if self.is_to_stop(world) {
            return None;
        }
        if let Work::Steps { failed, .. } = self.progress.work {
            if failed {
                self.fail(stage);
                return None;
            }
            let since = world.around.now();
            self.progress.work = Work::Waiting { since };
            // What was said before the steps were carried out is of what was there then.
            self.asked = Asked::default();
        }
        self.wait(stage, world).await
    }

    fn fail(&mut self, stage: &Stage) {
        self.progress.failed |= stage.on_failure != OnFailure::GoOn;
    }

    /// Lets the server check what it has not checked yet, before anything of the stage is written. All that it refuses is kept;
    /// the places of those steps are returned.
    async fn verify(&mut self, stage: &Stage, world: &World<'_>) -> Vec<usize> {
        let steps = stage.steps.iter().enumerate();
        let unverified = steps.filter(|(_, step)| step.action.applies() && !step.apply.verified);
        let checks = unverified.map(|(place, step)| {
            let check = step::verify(step, &self.objects, world);
            async move { Some((place, check.await?)) }
        });
        let mut refused = Vec::new();
        for (place, result) in join_all(checks).await.into_iter().flatten() {
            refused.push(place);
            self.progress.results.push(result);
        }
        refused
    }

    /// Carries out the steps, batch after batch. `None` when all are done, or those that a failure does not stop.
    async fn steps(&mut self, stage: &Stage, world: &World<'_>) -> Option<Next> {
        let last = stage.steps.iter().map(|step| step.batch).max()?;
        while let Work::Steps {
            batch,
            leaving,
            since,
            refused,
            mut failed,
        } = self.progress.work.clone()
        {
            if batch > last || (failed && leaving.is_empty() && stage.on_failure == OnFailure::Stop) {
                break;
            }
            if self.is_to_stop(world) {
                return None;
            }
            // Of a batch that has been worked on already only what had to wait is left.
            let at_work: Vec<usize> = match leaving.is_empty() {
                false => leaving,
                true => (0..stage.steps.len())
                    .filter(|place| stage.steps[*place].batch == batch && !refused.contains(place))
                    .collect(),
            };
            let prunes = |place: &usize| matches!(stage.steps[*place].action, Action::Prune { .. });
            if !world.heard && at_work.iter().any(prunes) {
                return Some(Next::Hearing);
            }
            let turn = match since {
                None => Turn::First,
                Some(since) if world.around.now() >= after(since, time_to_leave(stage, &at_work)) => {
                    Turn::Last
                }
                Some(_) => Turn::Again,
            };
            let work = at_work.iter().map(|index| {
                let step = &stage.steps[*index];
                step::carry_out(step, &self.objects, world, turn, self.progress.made(&step.key))
            });
            let mut leaving = Vec::new();
            for (index, done) in at_work.iter().zip(join_all(work).await) {
                match done {
                    Done::Leaving => leaving.push(*index),
                    Done::Wanted(result) => {
                        self.progress.still_there.push(result.key.clone());
                        self.progress.results.push(result);
                    }
                    Done::Ended(result) => {
                        failed |= result.outcome == Outcome::Failed;
                        self.progress.results.push(result);
                    }
                }
            }
            let waits = !leaving.is_empty();
            let since = waits.then(|| since.unwrap_or_else(|| world.around.now()));
            let next = since.map(|since| until_gone(stage, &leaving, since, world));
            self.progress.work = Work::Steps {
                batch: if waits { batch } else { batch + 1 },
                leaving,
                since,
                refused,
                failed,
            };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    /// Waits, or says how the wait has ended.
    async fn wait(&mut self, stage: &Stage, world: &World<'_>) -> Option<Next> {
        let (wait, Work::Waiting { since }) = (stage.wait.as_ref()?, &self.progress.work) else {
            return None;
        };
        let until = after(*since, wait.seconds);
        let objects = wait.objects.iter().map(|awaited| &awaited.key);
        let left = until.duration_since(world.around.now());
        let left = Duration::try_from(left).unwrap_or_default();
        let asks = self.asked.renew(objects, left, world).await;
        let found = wait::look(wait, &self.progress, &self.asked, world);
        let waits = !found.is_over(wait) && world.around.now() < until;
        if let Some(gone) = self.deleted(&found.pending, world).await {
            return Some(self.lost(&gone));
        }
        if waits {
            return Some(Next::Waiting {
                objects: found.pending,
                until: if asks { soon(until, world) } else { until },
                why: wait.why.clone(),
            });
        }
        if let Some(problem) = report::wait_failed(wait, &found) {
            self.progress.problems.push(problem);
            let left = wait::still_there(wait, &found);
            self.progress.still_there.extend(left.cloned());
            self.progress.failed |= stage.on_failure != OnFailure::GoOn && !wait.optional;
        }
        None
    }

    /// An object that was there when its step was carried out, and is not any more: it would be waited for in vain. What was there
    /// when the plan was made and is missing since is not told by the watch, so that the server has the last word.
    async fn deleted(&self, pending: &[Pending], world: &World<'_>) -> Option<ObjectKey> {
        let is_missing = |key: &ObjectKey| matches!(world.cache.find(key), Lookup::Missing);
        for Pending { key, .. } in pending {
            let mut steps = self.plan.steps();
            let step = steps.find(|step| step.key == *key && step.is_there_for_good());
            if let Some(step) = step
                && self.progress.was_there(key)
                && is_missing(key)
                && step::is_gone(step, world).await
            {
                return Some(key.clone());
            }
        }
        None
    }

    /// Ends the run: what it counts on is gone, and the next one brings it back.
    fn lost(&mut self, key: &ObjectKey) -> Next {
        let problem = format!("{key} was deleted while the operation was under way");
        // What could not be stored comes here once more.
        if !self.progress.problems.contains(&problem) {
            self.progress.problems.push(problem);
        }
        Next::Finished(Report::lost(&self.plan, &self.progress))
    }
}

/// A time at which the server may be asked again, if that is before the other.
fn soon(until: Timestamp, world: &World<'_>) -> Timestamp {
    after(world.around.now(), ask::PACE.as_secs()).min(until)
}

fn until_gone(stage: &Stage, leaving: &[usize], since: Timestamp, world: &World<'_>) -> Next {
    let until = after(since, time_to_leave(stage, leaving));
    let asks = leaving
        .iter()
        .any(|index| ask::is_unknown(&stage.steps[*index].key, world));
    let objects = leaving.iter().map(|index| Pending {
        key: stage.steps[*index].key.clone(),
        health: Health::new(State::Terminating),
    });
    Next::Waiting {
        objects: objects.collect(),
        until: if asks { soon(until, world) } else { until },
        why: "objects that are made anew to be gone".to_owned(),
    }
}

/// The time after so many seconds; what is beyond the end of all time never comes.
fn after(since: Timestamp, seconds: u64) -> Timestamp {
    let until = since.checked_add(Duration::from_secs(seconds));
    until.unwrap_or(Timestamp::MAX)
}

/// How many seconds objects that are to be made anew may take to be gone.
fn time_to_leave(stage: &Stage, leaving: &[usize]) -> u64 {
    let seconds = leaving
        .iter()
        .map(|place| stage.steps[*place].apply.recreate_seconds);
    let longest = seconds.max().filter(|seconds| *seconds > 0);
    longest.unwrap_or(LEAVING)
}
