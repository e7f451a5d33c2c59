//! Autoscalers: version 1 knows only processor time and carries all else in annotations.

use model::{Map, Value, json, value};

use super::metric;
use crate::builtin::default::cpu_metric;
use crate::builtin::fields::Fields;

/// Where version 1 carries metrics other than processor time.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CARRIERS: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// Turns a version 2 into a version 1.
pub(in crate::builtin) fn to_v1(object: &mut Map) {
    take_annotations(object);
    let mut carried = Map::new();
    object.within("spec", |spec| {
        let metrics = spec.remove("metrics");
        let metrics = metrics
            .as_ref()
            .and_then(Value::as_array)
            .map(|all| all.as_slice())
            .unwrap_or_default();
        if let Some(percent) = metrics.iter().find_map(|metric| cpu_percent(metric, "target")) {
            spec.insert("targetCPUUtilizationPercentage", percent);
        }
        let others = metrics
            .iter()
            .filter(|metric| cpu_percent(metric, "target").is_none());
        let others: Value = others.map(metric::spec_to_v1).collect();
        if !others.list_at(&[]).is_empty() {
            carried.insert(METRICS, json::to_string(&others));
        }
        if let Some(behavior) = spec.remove("behavior") {
            carried.insert(BEHAVIOR, json::to_string(&go_behavior(&behavior)));
        }
    });
    object.within("status", |status| {
        let current = status.remove("currentMetrics");
        let current = current
            .as_ref()
            .and_then(Value::as_array)
            .map(|all| all.as_slice())
            .unwrap_or_default();
        if let Some(percent) = current
            .iter()
            .rev()
            .find_map(|metric| cpu_percent(metric, "current"))
        {
            status.insert("currentCPUUtilizationPercentage", percent);
        }
        if !current.is_empty() {
            let all: Value = current.iter().map(metric::status_to_v1).collect();
            carried.insert(CURRENT_METRICS, json::to_string(&all));
        }
        if let Some(conditions) = status
            .remove("conditions")
            .filter(|all| !all.list_at(&[]).is_empty())
        {
            let all: Value = conditions.list_at(&[]).iter().map(go_condition).collect();
            carried.insert(CONDITIONS, json::to_string(&all));
        }
        status.fill("currentReplicas", 0);
    });
    if !carried.is_empty() {
        let annotations = object.make("metadata").make("annotations");
        for (name, text) in carried {
            annotations.insert(name, text);
        }
    }
}

/// Turns a version 1 into a version 2.
pub(in crate::builtin) fn to_v2(object: &mut Map) {
    let carried = take_annotations(object);
    let read = |name: &str| {
        carried
            .get(name)
            .and_then(Value::as_str)
            .and_then(|text| json::parse(text.as_bytes()).ok())
    };
    object.within("spec", |spec| {
        let cpu = spec
            .remove("targetCPUUtilizationPercentage")
            .and_then(|percent| percent.as_i64());
        let others = read(METRICS).unwrap_or_default();
        let mut metrics: Vec<Value> = others.list_at(&[]).iter().map(metric::spec_to_v2).collect();
        metrics.extend(cpu.map(cpu_metric));
        if !metrics.is_empty() {
            spec.insert("metrics", metrics);
        }
        if let Some(behavior) = read(BEHAVIOR).and_then(|behavior| json_behavior(&behavior)) {
            spec.insert("behavior", behavior);
        }
    });
    object.within("status", |status| {
        let cpu = status.remove("currentCPUUtilizationPercentage").and_then(|percent| percent.as_i64());
        let current = read(CURRENT_METRICS).unwrap_or_default();
        let mut metrics: Vec<Value> = current.list_at(&[]).iter().map(metric::status_to_v2).collect();
        if metrics.is_empty() {
            let single = |percent: i64| {
                value!({ "type": "Resource", "resource": { "name": "cpu", "current": { "averageUtilization": percent } } })
            };
            metrics.extend(cpu.map(single));
        }
        // Version 2 writes these lists even when they are empty.
        status.insert("currentMetrics", if metrics.is_empty() { Value::Null } else { metrics.into() });
        if let Some(conditions) = read(CONDITIONS) {
            status.insert("conditions", conditions);
        }
        if status.number("currentReplicas") == 0 {
            status.remove("currentReplicas");
        }
    });
}

/// Removes and returns the annotations that carry what version 1 has no fields for.
fn take_annotations(object: &mut Map) -> Map {
    let mut carried = Map::new();
    let metadata = object.make("metadata");
    let Some(annotations) = metadata.child("annotations") else {
        return carried;
    };
    for name in CARRIERS {
        if let Some(text) = annotations.remove(name) {
            carried.insert(name, text);
        }
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    carried
}

/// The share of processor time that a metric is about, if it is.
fn cpu_percent(metric: &Value, part: &str) -> Option<i64> {
    if metric.str_at(&["type"]) != "Resource" || metric.str_at(&["resource", "name"]) != "cpu" {
        return None;
    }
    metric.at(&["resource", part, "averageUtilization"])?.as_i64()
}

/// A map with its keys in the given order, which annotations keep.
fn in_order<const N: usize>(pairs: [(&str, Option<Value>); N]) -> Value {
    let mut map = Map::new();
    for (key, value) in pairs {
        map.push(key.into(), value.unwrap_or_default());
    }
    map.into()
}

/// The real server writes behavior by its internal type, whose fields have Go names and are all there.
fn go_behavior(behavior: &Value) -> Value {
    in_order([
        ("ScaleUp", behavior.get("scaleUp").map(go_rules)),
        ("ScaleDown", behavior.get("scaleDown").map(go_rules)),
    ])
}

fn go_rules(rules: &Value) -> Value {
    let policies = rules.get("policies").and_then(Value::as_array).map(|policies| {
        let policy = |policy: &Value| {
            in_order([
                ("Type", policy.get("type").cloned()),
                ("Value", policy.get("value").cloned()),
                ("PeriodSeconds", policy.get("periodSeconds").cloned()),
            ])
        };
        policies.iter().map(policy).collect()
    });
    in_order([
        (
            "StabilizationWindowSeconds",
            rules.get("stabilizationWindowSeconds").cloned(),
        ),
        ("SelectPolicy", rules.get("selectPolicy").cloned()),
        ("Policies", policies),
        ("Tolerance", rules.get("tolerance").cloned()),
    ])
}

/// A condition with its keys as the real server writes them.
fn go_condition(condition: &Value) -> Value {
    let mut map = Map::new();
    for key in ["type", "status", "lastTransitionTime", "reason", "message"] {
        if let Some(value) = condition.get(key) {
            map.push(key.into(), value.clone());
        }
    }
    map.into()
}

/// The reverse of [`go_behavior`].
fn json_behavior(behavior: &Value) -> Option<Value> {
    let mut out = Map::new();
    for (go, name) in [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")] {
        let Some(rules) = behavior.get(go).and_then(Value::as_object) else {
            continue;
        };
        let mut map = Map::new();
        for (go, name) in [
            ("StabilizationWindowSeconds", "stabilizationWindowSeconds"),
            ("SelectPolicy", "selectPolicy"),
            ("Tolerance", "tolerance"),
        ] {
            if let Some(value) = rules.get(go).filter(|value| !value.is_null()) {
                map.insert(name, value.clone());
            }
        }
        let policies: Vec<Value> = rules
            .items("Policies")
            .iter()
            .map(|policy| {
                value!({
                    "type": (policy.str_at(&["Type"])),
                    "value": (policy.get("Value").cloned().unwrap_or(Value::Int(0))),
                    "periodSeconds": (policy.get("PeriodSeconds").cloned().unwrap_or(Value::Int(0))),
                })
            })
            .collect();
        if !policies.is_empty() {
            map.insert("policies", policies);
        }
        out.insert(name, map);
    }
    (!out.is_empty()).then_some(Value::Object(out))
}
