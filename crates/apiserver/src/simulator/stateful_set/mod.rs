//! StatefulSets: pods with names, made and replaced one after the other.

mod claims;
mod identity;
mod update;

use std::collections::HashSet;

use model::Value;

use super::facts::{Phase, PodFacts};
use super::revision::{History, Revision};
use super::step::{deleting, number, set_count};
use super::{Kind, Step, children, selectors};
use update::Done;

/// The label of a pod that tells its revision.
const POD_REVISION: &str = "controller-revision-hash";
/// The label of a revision that tells its hash.
const REVISION_HASH: &str = "controller.kubernetes.io/hash";

/// A StatefulSet while it is looked at.
struct View<'a> {
    set: &'a Value,
    name: &'a str,
    /// The number of the first pod.
    start: i64,
    wanted: i64,
    min_ready: i64,
    /// Whether pods come and go one after the other.
    ordered: bool,
    /// What pods were made by so far, and what they shall be made by.
    current: Revision,
    update: Revision,
}

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(set) = step.own() else { return };
    let Some(selector) = selectors::of_object(step.kind, &set) else {
        return;
    };
    let keys = children::of(step, &set, Kind::Pod, &selector);
    let index = step.index;
    let pods: Vec<&PodFacts> = keys.iter().filter_map(|key| index.pod(key)).collect();
    let mut history = History::of(step, &set, &selector, REVISION_HASH);
    let collisions = number(&set, &["status", "collisionCount"]);
    let mut collisions = Some(collisions);
    let Some(update) = history.current(step, &set, &mut collisions) else {
        return;
    };
    let current = history.get(set.str_at(&["status", "currentRevision"]));
    let view = View {
        set: &set,
        name: step.key.name(),
        start: number(&set, &["spec", "ordinals", "start"]),
        wanted: number(&set, &["spec", "replicas"]),
        min_ready: number(&set, &["spec", "minReadySeconds"]),
        ordered: set.str_at(&["spec", "podManagementPolicy"]) != "Parallel",
        current: current.unwrap_or(&update).clone(),
        update,
    };
    let done = match deleting(&set) {
        true => Done::default(),
        false => update::advance(step, &view, &pods),
    };
    view.write_status(step, &pods, &done, collisions.unwrap_or(0));
    let mut live: HashSet<&str> = pods
        .iter()
        .filter_map(|pod| pod.object.label(POD_REVISION))
        .collect();
    live.extend([view.current.name.as_str(), view.update.name.as_str()]);
    history.truncate(step, &set, &live);
    let next = pods
        .iter()
        .filter_map(|pod| pod.available_in(view.min_ready, step.now));
    if let Some(next) = next.min() {
        step.look_again(next);
    }
}

impl View<'_> {
    /// Whether a pod's number is one of those that shall be there.
    fn is_wanted(&self, ordinal: i64) -> bool {
        (self.start..self.start + self.wanted).contains(&ordinal)
    }

    fn is_rolling(&self) -> bool {
        self.set.str_at(&["spec", "updateStrategy", "type"]) != "OnDelete"
    }

    /// Pods with lower numbers keep the current revision.
    fn partition(&self) -> i64 {
        number(
            self.set,
            &["spec", "updateStrategy", "rollingUpdate", "partition"],
        )
    }

    fn write_status(&self, step: &Step<'_>, pods: &[&PodFacts], done: &Done, collisions: i64) {
        let is_running = |pod: &&&PodFacts| pod.phase == Phase::Running && pod.is_ready();
        let of = |revision: &Revision| {
            let has = |pod: &&&PodFacts| {
                !pod.deleting()
                    && !done.deleted.contains(pod.key())
                    && pod.object.label(POD_REVISION) == Some(&revision.name)
            };
            let made = done.made.iter().filter(|name| **name == revision.name);
            (pods.iter().filter(has).count() + made.count()) as i64
        };
        let replicas = (pods.len() + done.made.len()) as i64;
        let ready = pods.iter().filter(is_running).count() as i64;
        let available = pods.iter().filter(is_running);
        let available = available.filter(|pod| pod.is_available(self.min_ready, step.now));
        let available = available.count() as i64;
        let updated = of(&self.update);
        let complete = self.is_rolling() && [updated, ready, replicas] == [self.wanted; 3];
        let (current_name, current) = match complete {
            true => (self.update.name.as_str(), updated),
            false => (self.current.name.as_str(), of(&self.current)),
        };
        let generation = number(self.set, &["metadata", "generation"]);
        step.change_status(|set| {
            let status = set.make_object().entry("status");
            status.set_at(&["replicas"], replicas);
            status.set_at(&["availableReplicas"], available);
            status.set_at(&["currentRevision"], current_name);
            status.set_at(&["updateRevision"], self.update.name.as_str());
            status.set_at(&["collisionCount"], collisions);
            set_count(status, "observedGeneration", generation);
            set_count(status, "readyReplicas", ready);
            set_count(status, "currentReplicas", current);
            set_count(status, "updatedReplicas", updated);
        });
    }
}
