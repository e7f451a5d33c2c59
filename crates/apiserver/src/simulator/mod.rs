//! Workloads that come up as if there were nodes, for `sluice up` and for tests. No container runs.
//!
//! It plays the parts of the scheduler, the kubelet, the workload controllers, the volume binder and a cloud's load
//! balancer. Like those it looks at the state of an object, not at what changed, and takes the next step: one file per
//! kind, each with a function `advance`. Steps that take time are put on a timer, so nothing waits.
//!
//! All changes are taken into an [`Index`](index::Index) first; it tells which objects are affected. Each of them is
//! then looked at once, however many changes there were. So the work grows with the number of changes, not with the
//! number of objects.
//!
//! A workload is told to fail by an annotation on its pods, see [`Outcome`], or by name, see [`Outcomes`].

mod amount;
mod autoscaler;
mod budget;
mod children;
mod claim;
mod condition;
mod cron_job;
mod daemon_set;
mod deployment;
mod event;
mod facts;
mod hash;
mod index;
mod ingress;
mod job;
mod kind;
mod node;
mod outcome;
mod placement;
mod pod;
mod replica_set;
mod revision;
mod selectors;
mod service;
mod stateful_set;
mod step;
mod template;
mod timers;
mod volume;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use event::Recorder;
use index::Index;
use kind::Kind;
pub use outcome::{ANNOTATION, Outcome, Outcomes};
use step::{Step, World};
use timers::{Stages, Timers};

use crate::server::State;
use crate::store::{Change, Key};

/// How quickly things come up.
#[derive(Clone, Debug)]
pub struct Options {
    /// From a pod's creation until it is running and ready.
    pub start_delay: Duration,
    /// From the start of a pod that ends by itself until it is done.
    pub run_delay: Duration,
    /// From a pod's deletion until it is gone.
    pub stop_delay: Duration,
    /// From the creation of a service, an ingress or a volume claim until it has its address or its volume.
    pub provision_delay: Duration,
    /// From a failure until the first new try, of a container or of a job's pod. It doubles with each failure.
    pub retry_delay: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let moment = Duration::from_millis(100);
        Options {
            start_delay: moment,
            run_delay: moment,
            stop_delay: moment,
            provision_delay: moment,
            retry_delay: Duration::from_secs(10),
        }
    }
}

/// An object to look at.
type Task = (Kind, Key);

/// So many steps are taken before others have a turn.
const STEPS_IN_A_ROW: usize = 16;

/// Plays a cluster.
pub(crate) struct Simulator {
    options: Options,
    index: Index,
    timers: Timers,
    stages: Stages,
    recorder: Recorder,
    /// What to look at, in the order it came up.
    queue: VecDeque<Task>,
    queued: HashSet<Task>,
}

impl Simulator {
    pub(crate) fn new(options: Options) -> Self {
        Simulator {
            options,
            index: Index::default(),
            timers: Timers::default(),
            stages: Stages::default(),
            recorder: Recorder::default(),
            queue: VecDeque::new(),
            queued: HashSet::new(),
        }
    }

    /// Puts the node into the cluster.
    pub(crate) fn start(&self, state: &Arc<State>) {
        node::create_first(state);
    }

    /// When [`Simulator::wake`] shall be called.
    pub(crate) fn next_wake(&mut self) -> Option<Instant> {
        self.timers.next()
    }

    /// Takes in a change. What follows from it is done in [`Simulator::work`].
    pub(crate) fn observe(&mut self, change: &Change) {
        let Some(kind) = Kind::of_storage(&change.storage) else {
            return;
        };
        if kind == Kind::Event {
            return;
        }
        if change.new.is_none() {
            let task = (kind, change.key().clone());
            self.timers.forget(&task);
            self.stages.forget(&task);
        }
        for task in self.index.observe(kind, change) {
            self.mark(task);
        }
    }

    /// Looks at all objects whose time has come.
    pub(crate) fn wake(&mut self) {
        let now = Instant::now();
        while let Some(task) = self.timers.take(now) {
            self.mark(task);
        }
    }

    /// Looks at everything whose outcome can be decided from outside.
    pub(crate) fn reconsider(&mut self) {
        let pods: Vec<Task> = self
            .index
            .pods()
            .map(|pod| (Kind::Pod, pod.key().clone()))
            .collect();
        let provisioned = self.index.provisioned();
        for task in pods.into_iter().chain(provisioned) {
            self.mark(task);
        }
    }

    /// Takes a step of each object that was marked. The changes that this makes are to be taken in before the next
    /// call, so that a step never misses what an earlier one did.
    pub(crate) async fn work(&mut self, state: &Arc<State>) {
        let mut steps = 0;
        while let Some(task) = self.queue.pop_front() {
            self.queued.remove(&task);
            self.advance(state, task);
            steps += 1;
            if steps % STEPS_IN_A_ROW == 0 {
                tokio::task::yield_now().await;
            }
        }
    }

    fn mark(&mut self, task: Task) {
        if self.queued.insert(task.clone()) {
            self.queue.push_back(task);
        }
    }

    /// Takes the next step of an object.
    fn advance(&mut self, state: &Arc<State>, task: Task) {
        let kinds = state.kinds();
        let world = World {
            state,
            kinds: &kinds,
            options: &self.options,
            index: &self.index,
            stages: &mut self.stages,
            recorder: &mut self.recorder,
        };
        let mut step = Step::new(world, &task);
        match task.0 {
            Kind::Node => node::advance(&step),
            Kind::Pod => pod::advance(&mut step),
            Kind::ReplicaSet | Kind::ReplicationController => replica_set::advance(&mut step),
            Kind::Deployment => deployment::advance(&mut step),
            Kind::StatefulSet => stateful_set::advance(&mut step),
            Kind::DaemonSet => daemon_set::advance(&mut step),
            Kind::Job => job::advance(&mut step),
            Kind::CronJob => cron_job::advance(&mut step),
            Kind::Claim => claim::advance(&mut step),
            Kind::Volume => volume::advance(&mut step),
            Kind::Service => service::advance(&mut step),
            Kind::Ingress => ingress::advance(&mut step),
            Kind::Budget => budget::advance(&mut step),
            Kind::Autoscaler => autoscaler::advance(&mut step),
            Kind::ControllerRevision
            | Kind::StorageClass
            | Kind::Endpoints
            | Kind::EndpointSlice
            | Kind::Event => {}
        }
        if let Some(delay) = step.wake() {
            self.timers.set(task, Instant::now() + delay);
        }
    }
}
