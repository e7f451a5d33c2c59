//! ReplicaSets and ReplicationControllers: so many pods of one template.

use std::cmp::Reverse;
use std::time::Duration;

use model::{Map, Value};

use super::condition::{self, Condition};
use super::facts::PodFacts;
use super::step::{deleting, number, set_count};
use super::{Kind, Step, children, selectors, template};
use crate::error::Error;

/// So many pods are made or deleted in one step.
const BURST: i64 = 500;
/// After a pod could not be created, it is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(set) = step.own() else { return };
    let Some(selector) = selectors::of_object(step.kind, &set) else {
        return;
    };
    let children = children::of(step, &set, Kind::Pod, &selector);
    let index = step.index;
    let pods: Vec<&PodFacts> = children.iter().filter_map(|key| index.pod(key)).collect();
    let mut active: Vec<&PodFacts> = pods.iter().copied().filter(|pod| pod.is_active()).collect();
    let terminating = pods.iter().filter(|pod| pod.is_terminating()).count() as i64;

    let mut made = 0;
    let mut trouble = Trouble::None;
    if !deleting(&set) {
        let wanted = number(&set, &["spec", "replicas"]);
        let missing = wanted - active.len() as i64;
        if missing > 0 {
            (made, trouble) = create(step, &set, missing.min(BURST));
        } else if missing < 0 {
            rank(&mut active);
            let surplus = (-missing).min(BURST) as usize;
            for pod in active.drain(..surplus) {
                template::delete(step, &set, pod.key());
            }
        }
    }
    let status = Counts::of(&set, &active, made, terminating, step.now);
    status.write(step, &set, &trouble);
    let min_ready = number(&set, &["spec", "minReadySeconds"]);
    let next = active
        .iter()
        .filter_map(|pod| pod.available_in(min_ready, step.now));
    if let Some(next) = next.min() {
        step.look_again(next);
    }
}

/// What keeps a set from making pods.
enum Trouble {
    None,
    /// Nothing was tried, as the last refusal was not long ago.
    Lasting,
    Refused(Error),
}

/// Makes pods until one is refused; returns how many, and why not more.
fn create(step: &mut Step<'_>, set: &Value, missing: i64) -> (i64, Trouble) {
    if step.is_in("refused") && step.lasts("refused", TRY_AGAIN) {
        return (0, Trouble::Lasting);
    }
    step.leave("refused");
    let empty = Value::Null;
    let template = set.at(&["spec", "template"]).unwrap_or(&empty);
    for made in 0..missing {
        match template::create(step, set, template::pod(template, set)) {
            Ok(Some(_)) => {}
            Ok(None) => return (made, Trouble::None),
            Err(error) => {
                step.lasts("refused", TRY_AGAIN);
                return (made, Trouble::Refused(error));
            }
        }
    }
    (missing, Trouble::None)
}

/// Orders pods by how soon they are given up: what is least useful first, and of equals the newest.
pub(super) fn rank(pods: &mut [&PodFacts]) {
    pods.sort_by_key(|pod| {
        (
            !pod.node.is_empty(),
            pod.phase,
            pod.is_ready(),
            pod.deletion_cost,
            Reverse(pod.ready),
            Reverse(pod.restarts),
            Reverse(pod.created),
        )
    });
}

/// What the status counts.
struct Counts {
    replicas: i64,
    fully_labeled: i64,
    ready: i64,
    available: i64,
    terminating: i64,
}

impl Counts {
    fn of(set: &Value, active: &[&PodFacts], made: i64, terminating: i64, now: jiff::Timestamp) -> Self {
        let min_ready = number(set, &["spec", "minReadySeconds"]);
        let labels = set
            .at(&["spec", "template", "metadata", "labels"])
            .and_then(Value::as_object);
        let labelled = |pod: &&&PodFacts| {
            let mut labels = labels.into_iter().flat_map(Map::iter);
            labels.all(|(key, value)| pod.object.label(key) == value.as_str())
        };
        let count = |wanted: &dyn Fn(&&&PodFacts) -> bool| active.iter().filter(wanted).count() as i64;
        Counts {
            replicas: active.len() as i64 + made,
            fully_labeled: count(&labelled) + made,
            ready: count(&|pod| pod.is_ready()),
            available: count(&|pod| pod.is_available(min_ready, now)),
            terminating,
        }
    }

    fn write(&self, step: &Step<'_>, set: &Value, trouble: &Trouble) {
        let generation = number(set, &["metadata", "generation"]);
        let now = step.now_text();
        let is_replica_set = step.kind == Kind::ReplicaSet;
        step.change_status(|set| {
            let status = set.make_object().entry("status");
            status.set_at(&["replicas"], self.replicas);
            set_count(status, "fullyLabeledReplicas", self.fully_labeled);
            set_count(status, "readyReplicas", self.ready);
            set_count(status, "availableReplicas", self.available);
            if is_replica_set {
                status.set_at(&["terminatingReplicas"], self.terminating);
            }
            set_count(status, "observedGeneration", generation);
            match trouble {
                Trouble::Lasting => {}
                Trouble::Refused(error) => Condition {
                    kind: "ReplicaFailure",
                    status: "True",
                    reason: "FailedCreate",
                    message: &error.message,
                }
                .append(status, &now, |_| {}),
                Trouble::None => condition::remove(status, "ReplicaFailure"),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::value;

    use super::*;
    use crate::store::{Key, Meta, Object};

    fn pod(name: &str, pod: Value) -> PodFacts {
        let object = Object {
            key: Key::new("default", name),
            revision: 1,
            bytes: model::json::to_vec(&pod).into(),
            meta: Meta::of(&pod, Vec::new()),
        };
        PodFacts::of(&Arc::new(object))
    }

    #[test]
    fn what_is_least_useful_is_given_up_first() {
        let running = |name: &str, created: &str, ready: &str| {
            pod(
                name,
                value!({
                    "metadata": {"creationTimestamp": created},
                    "spec": {"nodeName": "sim-0"},
                    "status": {"phase": "Running", "conditions": [
                        {"type": "Ready", "status": ready, "lastTransitionTime": created}
                    ]},
                }),
            )
        };
        let mut cheap = running("cheap", "2026-01-01T00:00:01Z", "True");
        cheap.deletion_cost = -1;
        let pods = [
            running("old", "2026-01-01T00:00:00Z", "True"),
            running("new", "2026-01-01T00:00:02Z", "True"),
            cheap,
            running("unready", "2026-01-01T00:00:00Z", "False"),
            pod(
                "unplaced",
                value!({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}}),
            ),
        ];
        let mut ranked: Vec<&PodFacts> = pods.iter().collect();
        rank(&mut ranked);
        let names: Vec<&str> = ranked.iter().map(|pod| pod.key().name()).collect();
        assert_eq!(names, ["unplaced", "unready", "cheap", "new", "old"]);
    }
}
