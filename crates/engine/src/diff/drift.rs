//! Whether an object differs from what an apply would make of it, by the rules of Flux.
//!
//! The question is put to the API server: `merged` is its answer to an apply that is not carried out. What it would change
//! is drift: labels, annotations, and everything but `metadata` and `status`. That others changed what nobody else wants is
//! none.

use model::{Map, Value, value};
use serde::{Deserialize, Serialize};

use super::fields::{self, Field};
use super::ignore::IgnoreRules;
use super::mask;
use super::owner::Owners;

/// What an apply would do to an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Drift {
    /// Nothing.
    None,
    /// It would be created.
    Created,
    /// These fields would change; there is at least one.
    Changed(Vec<Field>),
}

impl Drift {
    /// Whether anything would happen.
    pub fn is_some(&self) -> bool {
        *self != Drift::None
    }
}

/// What an apply would do: `live` is the object before it, `merged` the server's answer to its dry run.
///
/// Values of Secrets are masked in the fields.
pub fn drift(live: Option<&Value>, merged: &Value, rules: &IgnoreRules) -> Drift {
    if merged.str_at(&["metadata", "resourceVersion"]).is_empty() {
        return Drift::Created;
    }
    let absent =
        value!({ "apiVersion": (merged.str_at(&["apiVersion"])), "kind": (merged.str_at(&["kind"])) });
    let live = live.unwrap_or(&absent);
    let stripped;
    let (before, after) = if rules.is_empty() {
        if is_same(live, merged) {
            return Drift::None;
        }
        (live, merged)
    } else {
        let (mut a, mut b) = (live.clone(), merged.clone());
        rules.strip(&mut a, &mut b);
        stripped = (a, b);
        (&stripped.0, &stripped.1)
    };
    let (mut before, mut after) = (compared(before), compared(after));
    if before == after {
        return Drift::None;
    }
    mask::mask(Some(&mut before), Some(&mut after));
    Drift::Changed(fields::compare(&before, &after, &Owners::of(live)))
}

/// Whether two objects are equal in all that is compared. The common case, which copies nothing.
fn is_same(live: &Value, merged: &Value) -> bool {
    let (Some(a), Some(b)) = (live.as_object(), merged.as_object()) else {
        return false;
    };
    let body = |name: &str| name != "metadata" && name != "status";
    let count = |map: &Map| map.keys().filter(|name| body(name)).count();
    let texts = |object: &Value, name: &str| {
        let map = object.at(&["metadata", name]).and_then(Value::as_object);
        map.filter(|map| !map.is_empty()).cloned()
    };
    count(a) == count(b)
        && a.iter()
            .all(|(name, value)| !body(name) || b.get(name) == Some(value))
        && ["labels", "annotations"]
            .iter()
            .all(|name| texts(live, name) == texts(merged, name))
}

/// What of an object is compared.
fn compared(object: &Value) -> Value {
    let mut pared = Value::object();
    let map = pared.make_object();
    for (name, value) in object.as_object().into_iter().flat_map(|object| object.iter()) {
        if name != "metadata" && name != "status" {
            map.insert(name, value.clone());
        }
    }
    for name in ["labels", "annotations"] {
        // Nothing and an empty map are the same to Flux.
        let found = object.at(&["metadata", name]).and_then(Value::as_object);
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            pared.set_at(&["metadata", name], found.clone());
        }
    }
    drop_odd_metrics(&mut pared);
    pared
}

/// Dry runs of servers before 1.27 repeat the first metric of a HorizontalPodAutoscaler and add an empty one
/// (kubernetes/kubernetes#118293).
fn drop_odd_metrics(object: &mut Value) {
    if object.str_at(&["kind"]) != "HorizontalPodAutoscaler"
        || object.str_at(&["apiVersion"]) != "autoscaling/v2"
    {
        return;
    }
    let Some(metrics) = object.at_mut(&["spec", "metrics"]).and_then(Value::as_array_mut) else {
        return;
    };
    let mut kept: Vec<Value> = Vec::with_capacity(metrics.len());
    for metric in metrics.drain(..) {
        if !metric.str_at(&["type"]).is_empty() && !kept.contains(&metric) {
            kept.push(metric);
        }
    }
    let is_empty = kept.is_empty();
    metrics.extend(kept);
    if is_empty {
        object.remove_at(&["spec", "metrics"]);
    }
}
