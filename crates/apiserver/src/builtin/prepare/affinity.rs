//! Pods may name labels whose values, as the pod itself has them, narrow its affinities.

use model::{Map, Str, Value, value};

use crate::builtin::fields::Fields;

/// Turns the label keys of a new pod's affinities and spreading into expressions of their selectors.
pub(super) fn expand_label_keys(pod: &mut Map) {
    let labels = pod.make("metadata").child("labels").cloned().unwrap_or_default();
    let spec = pod.make("spec");
    spec.each("topologySpreadConstraints", |constraint| {
        expand(constraint, &labels)
    });
    spec.within("affinity", |affinity| {
        for kind in ["podAffinity", "podAntiAffinity"] {
            affinity.within(kind, |terms| {
                terms.each("requiredDuringSchedulingIgnoredDuringExecution", |term| {
                    expand(term, &labels)
                });
                terms.each("preferredDuringSchedulingIgnoredDuringExecution", |weighted| {
                    weighted.within("podAffinityTerm", |term| expand(term, &labels));
                });
            });
        }
    });
}

fn expand(term: &mut Map, labels: &Map) {
    let mut added: Vec<Value> = Vec::new();
    for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
        let keys: Vec<Str> = term
            .items(field)
            .iter()
            .filter_map(Value::as_str)
            .map(Str::new)
            .collect();
        for key in keys {
            if let Some(label) = labels.get(&key) {
                let values = vec![label.clone()];
                added.push(value!({ "key": key, "operator": operator, "values": values }));
            }
        }
    }
    if added.is_empty() || !term.contains_key("labelSelector") {
        return;
    }
    let selector = term.make("labelSelector");
    let mut expressions = selector.items("matchExpressions").to_vec();
    expressions.extend(added);
    selector.insert("matchExpressions", expressions);
}
