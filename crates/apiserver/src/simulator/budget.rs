//! PodDisruptionBudgets: how many pods may be missing now.

use std::collections::HashMap;

use model::{Str, Value};

use super::amount::{self, Round};
use super::condition::Condition;
use super::facts::{PodFacts, controller};
use super::step::number;
use super::{Kind, Step};
use crate::store::Key;

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(budget) = step.own() else { return };
    let pods: Vec<&PodFacts> = step
        .index
        .members(Kind::Budget, step.key)
        .filter(|pod| !pod.is_done())
        .collect();
    let healthy = pods.iter().filter(|pod| !pod.deleting() && pod.is_ready());
    let healthy = healthy.count() as i64;
    let Some((expected, desired)) = needs(step, &budget, &pods) else {
        return;
    };
    let allowed = if expected > 0 {
        (healthy - desired).max(0)
    } else {
        0
    };
    let generation = number(&budget, &["metadata", "generation"]);
    let now = step.now_text();
    let (status, reason) = match allowed {
        0 => ("False", "InsufficientPods"),
        _ => ("True", "SufficientPods"),
    };
    step.change_status(|budget| {
        let place = budget.make_object().entry("status");
        place.set_at(&["currentHealthy"], healthy);
        place.set_at(&["desiredHealthy"], desired);
        place.set_at(&["expectedPods"], expected);
        place.set_at(&["disruptionsAllowed"], allowed);
        place.set_at(&["observedGeneration"], generation);
        let condition = Condition {
            kind: "DisruptionAllowed",
            status,
            reason,
            message: "",
        };
        condition.replace(place, &now, |condition| {
            condition.set_at(&["message"], "");
            condition.set_at(&["observedGeneration"], generation);
        });
    });
}

/// How many pods are expected, and how many of them must be healthy.
fn needs(step: &Step<'_>, budget: &Value, pods: &[&PodFacts]) -> Option<(i64, i64)> {
    if let Some(most) = budget.at(&["spec", "maxUnavailable"]) {
        let expected = expected(step, pods);
        let missing = amount::of(most, expected, Round::Up)?;
        return Some((expected, (expected - missing).max(0)));
    }
    let least = budget.at(&["spec", "minAvailable"])?;
    let expected = match least.as_i64() {
        Some(_) => pods.len() as i64,
        None => expected(step, pods),
    };
    Some((expected, amount::of(least, expected, Round::Up)?))
}

/// How many pods the workloads of these pods want to have.
fn expected(step: &Step<'_>, pods: &[&PodFacts]) -> i64 {
    let mut wanted: HashMap<Str, i64> = HashMap::new();
    for pod in pods {
        let Some((kind, key, uid)) = workload(step, pod) else {
            continue;
        };
        wanted.entry(uid).or_insert_with(|| {
            let workload = step.read(kind, &key);
            workload.map_or(0, |workload| number(&workload, &["spec", "replicas"]))
        });
    }
    wanted.values().sum()
}

/// The workload whose size counts: the Deployment, where a ReplicaSet has one.
fn workload(step: &Step<'_>, pod: &PodFacts) -> Option<(Kind, Key, Str)> {
    let owner = controller(&pod.object)?;
    let kind = Kind::of_reference(&owner.api_version, &owner.kind)?;
    let key = Key::new(pod.key().namespace(), &owner.name);
    let set = step.find(kind, &key)?;
    let above = controller(&set).filter(|above| above.kind == "Deployment");
    match above {
        Some(above) => {
            let key = Key::new(pod.key().namespace(), &above.name);
            Some((Kind::Deployment, key, above.uid.clone()))
        }
        None => Some((kind, key, owner.uid.clone())),
    }
}
