//! Workloads that come up as if there were nodes, for `sluice up` and for tests. No container runs.
//!
//! It plays the parts of the scheduler, the kubelet, the workload controllers, the volume binder and a cloud's load
//! balancer. Like those it looks at the state of an object, not at what changed, and takes the next step: one file per
//! kind, each with a function `advance`. Steps that take time are put on a timer, so nothing waits.
//!
//! A workload is told to fail by an annotation on its pods: see [`Outcome`].

mod outcome;
mod pod;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::value;
use tokio::time::Instant;

pub use outcome::{ANNOTATION, Outcome};

use crate::catalog::StorageId;
use crate::kinds::Served;
use crate::server::State;
use crate::store::{Change, Key};

/// The field manager of everything it writes.
const MANAGER: &str = "simulator";
/// The name of the only node.
const NODE: &str = "sim-0";

/// How quickly things come up.
#[derive(Clone, Debug)]
pub struct Options {
    /// From a pod's creation until it is running and ready.
    pub start_delay: Duration,
    /// From a job's pod being started until it is done.
    pub run_delay: Duration,
    /// From a pod's deletion until it is gone.
    pub stop_delay: Duration,
    /// From the creation of a service, an ingress or a volume claim until it has its address or its volume.
    pub provision_delay: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let moment = Duration::from_millis(100);
        Options {
            start_delay: moment,
            run_delay: moment,
            stop_delay: moment,
            provision_delay: moment,
        }
    }
}

/// An object to look at.
type Task = (StorageId, Key);

/// Plays a cluster.
pub(crate) struct Simulator {
    options: Options,
    /// What to look at, and when.
    timers: BinaryHeap<Reverse<(Instant, Task)>>,
    /// What is on a timer already: an object is looked at once for each time, not once for each change.
    waiting: HashSet<(Instant, Task)>,
}

/// What a step needs.
pub(crate) struct Step<'a> {
    pub state: &'a Arc<State>,
    pub served: &'a Arc<Served>,
    pub options: &'a Options,
    pub key: &'a Key,
}

impl Simulator {
    pub(crate) fn new(options: Options) -> Self {
        Simulator {
            options,
            timers: BinaryHeap::new(),
            waiting: HashSet::new(),
        }
    }

    /// Puts the node into the cluster.
    pub(crate) fn start(&self, state: &Arc<State>) {
        let kinds = state.kinds();
        let Some(served) = kinds.get("", "v1", "nodes") else {
            return;
        };
        let node = value!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"}},
            "status": {
                "phase": "Running",
                "capacity": {"cpu": "32", "memory": "256Gi", "pods": "1000"},
                "allocatable": {"cpu": "32", "memory": "256Gi", "pods": "1000"},
                "conditions": [{
                    "type": "Ready", "status": "True", "reason": "Simulated", "message": "this node runs nothing",
                    "lastHeartbeatTime": (state.now_text()), "lastTransitionTime": (state.now_text()),
                }],
                "nodeInfo": {
                    "architecture": "amd64", "operatingSystem": "linux", "osImage": "simulated", "kernelVersion": "simulated",
                    "kubeletVersion": (crate::discovery::GIT_VERSION), "kubeProxyVersion": "", "containerRuntimeVersion": "simulated://0",
                    "bootID": "", "machineID": "", "systemUUID": "",
                },
            },
        });
        // A second simulator on the same server finds the node there.
        let _ = state.create_inside(served, node, MANAGER);
    }

    /// When [`Simulator::wake`] shall be called.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.timers.peek().map(|Reverse((time, _))| *time)
    }

    /// Looks at an object that changed.
    pub(crate) fn observe(&mut self, state: &Arc<State>, change: &Change) {
        self.advance(state, (change.storage.clone(), change.key().clone()));
    }

    /// Looks at all objects whose time has come.
    pub(crate) fn wake(&mut self, state: &Arc<State>) {
        let now = Instant::now();
        while let Some(Reverse((time, _))) = self.timers.peek()
            && *time <= now
        {
            let Some(Reverse(due)) = self.timers.pop() else {
                return;
            };
            self.waiting.remove(&due);
            self.advance(state, due.1);
        }
    }

    /// Takes the next step of an object, and of those that depend on it.
    fn advance(&mut self, state: &Arc<State>, task: Task) {
        let kinds = state.kinds();
        let (group, plural) = (task.0.group.as_str(), task.0.plural.as_str());
        let version = "v1";
        let Some(served) = kinds.get(group, version, plural) else {
            return;
        };
        let step = Step {
            state,
            served,
            options: &self.options,
            key: &task.1,
        };
        let again = match (group, plural) {
            ("", "pods") => pod::advance(&step),
            _ => None,
        };
        if let Some(delay) = again {
            let entry = (Instant::now() + delay, task);
            if self.waiting.insert(entry.clone()) {
                self.timers.push(Reverse(entry));
            }
        }
    }
}
