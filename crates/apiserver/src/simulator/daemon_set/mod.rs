//! DaemonSets: a pod on each node that suits.

mod pods;
mod update;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use model::{Str, Value};

use super::facts::PodFacts;
use super::placement::{Fit, fit};
use super::revision::{History, Revision};
use super::step::{deleting, number, set_count};
use super::{Kind, Step, children, selectors};

/// The label that tells the revision of a pod, and the hash of a revision.
const REVISION: &str = "controller-revision-hash";
/// After a pod could not be created, it is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(5);

/// A DaemonSet while it is looked at.
struct View<'a> {
    set: &'a Value,
    revision: Revision,
    min_ready: i64,
    /// How each node suits its pods.
    nodes: BTreeMap<Str, Fit>,
    /// Its pods by the node that they are on or are meant for.
    pods: BTreeMap<Str, Vec<&'a PodFacts>>,
}

/// What a look wants done.
#[derive(Default)]
struct Plan<'a> {
    create: Vec<Str>,
    delete: Vec<&'a PodFacts>,
}

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(set) = step.own() else { return };
    if deleting(&set) {
        return;
    }
    let Some(selector) = selectors::of_object(step.kind, &set) else {
        return;
    };
    let keys = children::of(step, &set, Kind::Pod, &selector);
    let mut history = History::of(step, &set, &selector, REVISION);
    let mut collisions = set.at(&["status", "collisionCount"]).and_then(Value::as_i64);
    let Some(revision) = history.current(step, &set, &mut collisions) else {
        return;
    };
    let index = step.index;
    let facts = keys.iter().filter_map(|key| index.pod(key));
    let view = View::new(step, &set, revision, facts);

    let mut plan = view.plan_presence();
    if plan.is_empty() && view.is_rolling() {
        plan = view.plan_update(step.now);
    }
    let made = view.execute(step, &plan);
    view.write_status(step, &made, collisions);
    let all = view.pods.values().flatten();
    let live: HashSet<&str> = all
        .clone()
        .filter_map(|pod| pod.object.label(REVISION))
        .chain([view.revision.hash.as_str()])
        .collect();
    history.truncate(step, &set, &live);
    let next = all.filter_map(|pod| pod.available_in(view.min_ready, step.now));
    if let Some(next) = next.min() {
        step.look_again(next);
    }
}

impl Plan<'_> {
    fn is_empty(&self) -> bool {
        self.create.is_empty() && self.delete.is_empty()
    }
}

impl<'a> View<'a> {
    fn new(
        step: &Step<'_>,
        set: &'a Value,
        revision: Revision,
        facts: impl Iterator<Item = &'a PodFacts>,
    ) -> Self {
        let spec = pods::spec(set);
        let nodes = step.index.nodes();
        let nodes = nodes.filter_map(|key| Some((key.name(), step.read(Kind::Node, key)?)));
        let nodes = nodes.map(|(name, node)| (Str::from(name), fit(&spec, &node)));
        let mut pods: BTreeMap<Str, Vec<&PodFacts>> = BTreeMap::new();
        for pod in facts {
            pods.entry(pod.place().clone()).or_default().push(pod);
        }
        for on_node in pods.values_mut() {
            on_node.sort_by_key(|pod| (pod.node.is_empty(), pod.created, pod.key().name().to_owned()));
        }
        View {
            set,
            revision,
            min_ready: number(set, &["spec", "minReadySeconds"]),
            nodes: nodes.collect(),
            pods,
        }
    }

    fn is_updated(&self, pod: &PodFacts) -> bool {
        pod.object.label(REVISION) == Some(&self.revision.hash)
    }

    fn is_rolling(&self) -> bool {
        self.set.str_at(&["spec", "updateStrategy", "type"]) != "OnDelete"
    }

    /// Does what was planned; returns the nodes for which pods were made.
    fn execute(&self, step: &mut Step<'_>, plan: &Plan<'_>) -> Vec<Str> {
        let mut made = Vec::new();
        for node in &plan.create {
            match super::template::create(step, self.set, self.pod(node)) {
                Ok(Some(_)) => made.push(node.clone()),
                Ok(None) => break,
                Err(_) => {
                    step.look_again(TRY_AGAIN);
                    break;
                }
            }
        }
        for pod in &plan.delete {
            super::template::delete(step, self.set, pod.key());
        }
        made
    }

    fn write_status(&self, step: &Step<'_>, made: &[Str], collisions: Option<i64>) {
        let (mut desired, mut current, mut misplaced) = (0, 0, 0);
        let (mut ready, mut updated, mut available) = (0, 0, 0);
        for (node, fit) in &self.nodes {
            let first = self.pods.get(node).and_then(|pods| pods.first());
            let new = made.contains(node);
            if *fit != Fit::Fits {
                misplaced += i64::from(first.is_some());
                continue;
            }
            desired += 1;
            current += i64::from(first.is_some() || new);
            let Some(pod) = first else {
                updated += i64::from(new);
                continue;
            };
            ready += i64::from(pod.is_ready());
            available += i64::from(pod.is_available(self.min_ready, step.now));
            updated += i64::from(self.is_updated(pod));
        }
        let generation = number(self.set, &["metadata", "generation"]);
        step.change_status(|set| {
            let status = set.make_object().entry("status");
            status.set_at(&["desiredNumberScheduled"], desired);
            status.set_at(&["currentNumberScheduled"], current);
            status.set_at(&["numberMisscheduled"], misplaced);
            status.set_at(&["numberReady"], ready);
            set_count(status, "updatedNumberScheduled", updated);
            set_count(status, "numberAvailable", available);
            set_count(status, "numberUnavailable", desired - available);
            set_count(status, "observedGeneration", generation);
            if let Some(collisions) = collisions {
                status.set_at(&["collisionCount"], collisions);
            }
        });
    }
}
