//! One metric of an autoscaler in the words of either version.

use model::{Map, Value};

/// How a field is called in version 1, and where it stands in version 2.
type Pair = (&'static str, &'static [&'static str]);

/// The sources of metrics: the field they stand in, and the fields of what is aimed at. All in the order in which the
/// real server writes version 1, as it writes it into an annotation.
const SPECS: [(&str, &[Pair]); 5] = [
    (
        "object",
        &[
            ("target", &["describedObject"]),
            ("metricName", &["metric", "name"]),
            ("targetValue", &["target", "value"]),
            ("selector", &["metric", "selector"]),
            ("averageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", &["metric", "name"]),
            ("targetAverageValue", &["target", "averageValue"]),
            ("selector", &["metric", "selector"]),
        ],
    ),
    (
        "resource",
        &[
            ("name", &["name"]),
            ("targetAverageUtilization", &["target", "averageUtilization"]),
            ("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", &["name"]),
            ("targetAverageUtilization", &["target", "averageUtilization"]),
            ("targetAverageValue", &["target", "averageValue"]),
            ("container", &["container"]),
        ],
    ),
    (
        "external",
        &[
            ("metricName", &["metric", "name"]),
            ("metricSelector", &["metric", "selector"]),
            ("targetValue", &["target", "value"]),
            ("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
];

/// The same for what was measured.
const STATUSES: [(&str, &[Pair]); 5] = [
    (
        "object",
        &[
            ("target", &["describedObject"]),
            ("metricName", &["metric", "name"]),
            ("currentValue", &["current", "value"]),
            ("selector", &["metric", "selector"]),
            ("averageValue", &["current", "averageValue"]),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", &["metric", "name"]),
            ("currentAverageValue", &["current", "averageValue"]),
            ("selector", &["metric", "selector"]),
        ],
    ),
    (
        "resource",
        &[
            ("name", &["name"]),
            ("currentAverageUtilization", &["current", "averageUtilization"]),
            ("currentAverageValue", &["current", "averageValue"]),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", &["name"]),
            ("currentAverageUtilization", &["current", "averageUtilization"]),
            ("currentAverageValue", &["current", "averageValue"]),
            ("container", &["container"]),
        ],
    ),
    (
        "external",
        &[
            ("metricName", &["metric", "name"]),
            ("metricSelector", &["metric", "selector"]),
            ("currentValue", &["current", "value"]),
            ("currentAverageValue", &["current", "averageValue"]),
        ],
    ),
];

/// Fields of maps that stand in metrics, in the order in which the real server writes them.
const ORDER: [&str; 8] = [
    "kind",
    "name",
    "apiVersion",
    "matchLabels",
    "matchExpressions",
    "key",
    "operator",
    "values",
];

/// Amounts that version 1 always writes.
const ALWAYS: [(&str, &str); 8] = [
    ("pods", "targetAverageValue"),
    ("object", "targetValue"),
    ("resource", "currentAverageValue"),
    ("containerResource", "currentAverageValue"),
    ("pods", "currentAverageValue"),
    ("object", "currentValue"),
    ("external", "currentValue"),
    ("external", "metricName"),
];

pub(super) fn spec_to_v1(metric: &Value) -> Value {
    to_v1(
        metric,
        SPECS.iter().copied(),
        &["targetAverageValue", "targetValue"],
    )
}

pub(super) fn status_to_v1(metric: &Value) -> Value {
    to_v1(
        metric,
        STATUSES.iter().copied(),
        &["currentAverageValue", "currentValue"],
    )
}

fn to_v1(
    metric: &Value,
    sources: impl Iterator<Item = (&'static str, &'static [Pair])>,
    amounts: &[&str],
) -> Value {
    let mut out = Map::new();
    out.push("type".into(), Value::str(metric.str_at(&["type"])));
    for (field, pairs) in sources {
        let Some(source) = metric.get(field) else { continue };
        let mut renamed = Map::new();
        for (old, path) in pairs {
            match source.at(path) {
                Some(value) => renamed.push((*old).into(), ordered(value)),
                None if amounts.contains(old) && ALWAYS.contains(&(field, old)) => {
                    renamed.push((*old).into(), Value::str("0"));
                }
                None => {}
            }
        }
        out.push(field.into(), renamed.into());
    }
    out.into()
}

/// Labels stay sorted; what has known fields gets their order.
fn ordered(value: &Value) -> Value {
    let Value::Object(map) = value else {
        return value.clone();
    };
    if !map.keys().all(|key| ORDER.contains(&key)) {
        return value.clone();
    }
    let mut out = Map::new();
    for key in ORDER {
        match map.get(key) {
            Some(Value::Array(items)) => out.push(key.into(), items.iter().map(ordered).collect()),
            Some(value) => out.push(key.into(), ordered(value)),
            None => {}
        }
    }
    out.into()
}

pub(super) fn spec_to_v2(metric: &Value) -> Value {
    let mut out = to_v2(metric, SPECS.iter().copied());
    for (field, _) in SPECS {
        let Some(source) = out.get_mut(field) else {
            continue;
        };
        let has = |name: &str| source.at(&["target", name]).is_some();
        let target = match field {
            "resource" | "containerResource" if has("averageUtilization") => "Utilization",
            "object" if !has("averageValue") => "Value",
            "external" if has("value") => "Value",
            _ => "AverageValue",
        };
        source.set_at(&["target", "type"], target);
    }
    out
}

pub(super) fn status_to_v2(metric: &Value) -> Value {
    to_v2(metric, STATUSES.iter().copied())
}

fn to_v2(metric: &Value, sources: impl Iterator<Item = (&'static str, &'static [Pair])>) -> Value {
    let mut out = Value::object();
    out.set_at(&["type"], metric.str_at(&["type"]));
    for (field, pairs) in sources {
        let Some(source) = metric.get(field) else { continue };
        let mut renamed = Value::object();
        for (old, path) in pairs {
            if let Some(value) = source.get(old) {
                renamed.set_at(path, value.clone());
            }
        }
        out.set_at(&[field], renamed);
    }
    out
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_metric_comes_back_as_it_was() {
        for metric in [
            value!({ "type": "Resource", "resource": { "name": "memory", "target": { "type": "AverageValue", "averageValue": "1Gi" } } }),
            value!({ "type": "Pods", "pods": { "metric": { "name": "rps" }, "target": { "type": "AverageValue", "averageValue": "10" } } }),
            value!({ "type": "External", "external": {
                "metric": { "name": "queue", "selector": { "matchLabels": { "a": "b" } } },
                "target": { "type": "Value", "value": "30" },
            } }),
            value!({ "type": "Object", "object": {
                "describedObject": { "kind": "Ingress", "name": "main", "apiVersion": "networking.k8s.io/v1" },
                "metric": { "name": "rps" }, "target": { "type": "Value", "value": "10k" },
            } }),
        ] {
            assert_eq!(spec_to_v2(&spec_to_v1(&metric)), metric);
        }
    }

    #[test]
    fn version_1_always_writes_some_amounts() {
        let metric = value!({ "type": "Resource", "resource": { "name": "cpu", "current": { "averageUtilization": 5 } } });
        let old = status_to_v1(&metric);
        assert_eq!(old.str_at(&["resource", "currentAverageValue"]), "0");
    }
}
