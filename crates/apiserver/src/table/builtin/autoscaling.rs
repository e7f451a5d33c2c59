//! Horizontal pod autoscalers of both versions.

use model::{Value, json, value};

use crate::table::cell::{self, NONE, UNKNOWN, UNSET};
use crate::table::column::{AGE, Layout, NAME, text};

/// How many metrics a cell lists.
const SHOWN: usize = 2;

pub(super) const AUTOSCALERS: Layout = Layout {
    columns: &[
        NAME,
        text("Reference"),
        text("Targets"),
        text("MinPods"),
        text("MaxPods"),
        text("Replicas"),
        AGE,
    ],
    cells: |object, now| {
        let target = |field| object.str_at(&["spec", "scaleTargetRef", field]);
        let least = object.at(&["spec", "minReplicas"]).and_then(Value::as_i64);
        vec![
            cell::name(object),
            Value::from(format!("{}/{}", target("kind"), target("name"))),
            Value::from(metrics(object)),
            Value::from(least.map_or(UNSET.to_owned(), |least| least.to_string())),
            cell::number(object, &["spec", "maxReplicas"]),
            cell::number(object, &["status", "currentReplicas"]),
            cell::age(object, now),
        ]
    },
};

fn metrics(object: &Value) -> String {
    let wanted = wanted_metrics(object);
    if wanted.is_empty() {
        return NONE.to_owned();
    }
    let current = current_metrics(object);
    let texts: Vec<String> = wanted
        .iter()
        .enumerate()
        .map(|(at, spec)| metric(spec, current.get(at)))
        .collect();
    match texts.len() {
        count if count > SHOWN => format!("{} + {} more...", texts[..SHOWN].join(", "), count - SHOWN),
        _ => texts.join(", "),
    }
}

/// The metrics in the words of v2. In v1 all but the processor's load are kept in an annotation, in words of its own.
fn wanted_metrics(object: &Value) -> Vec<Value> {
    if let Some(metrics) = object.at(&["spec", "metrics"]).and_then(Value::as_array) {
        return metrics.to_vec();
    }
    let mut metrics = annotated(object, "metrics");
    if let Some(percent) = object.at(&["spec", "targetCPUUtilizationPercentage"]) {
        let target = value!({ "averageUtilization": (percent.clone()) });
        metrics.push(value!({ "type": "Resource", "resource": { "name": "cpu", "target": target } }));
    }
    metrics
}

fn current_metrics(object: &Value) -> Vec<Value> {
    if let Some(metrics) = object.at(&["status", "currentMetrics"]).and_then(Value::as_array) {
        return metrics.to_vec();
    }
    let metrics = annotated(object, "current-metrics");
    match object.at(&["status", "currentCPUUtilizationPercentage"]) {
        Some(percent) if metrics.is_empty() => {
            let current = value!({ "averageUtilization": (percent.clone()) });
            vec![value!({ "type": "Resource", "resource": { "name": "cpu", "current": current } })]
        }
        _ => metrics,
    }
}

fn annotated(object: &Value, name: &str) -> Vec<Value> {
    let text = object.str_at(&[
        "metadata",
        "annotations",
        &format!("autoscaling.alpha.kubernetes.io/{name}"),
    ]);
    let parsed = json::parse(text.as_bytes()).ok();
    parsed
        .and_then(|value| value.as_array().map(|items| items.to_vec()))
        .unwrap_or_default()
}

/// One metric as `name: current/target`.
fn metric(spec: &Value, status: Option<&Value>) -> String {
    let field = match spec.str_at(&["type"]) {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let empty = Value::Null;
    let source = spec.get(field).unwrap_or(&empty);
    let status = status.and_then(|status| status.get(field));
    let average = amount(source, "target", "AverageValue");
    match field {
        "resource" | "containerResource" => {
            let name = source.str_at(&["name"]);
            match average {
                Some(target) => {
                    let current = status.map(|status| or_nil(amount(status, "current", "AverageValue")));
                    format!("{name}: {}/{target}", current.unwrap_or(UNKNOWN.to_owned()))
                }
                None => {
                    let current = status.and_then(|status| amount(status, "current", "AverageUtilization"));
                    let current = current.map_or(UNKNOWN.to_owned(), |percent| format!("{percent}%"));
                    let target = amount(source, "target", "AverageUtilization");
                    let target = target.map_or("<auto>".to_owned(), |percent| format!("{percent}%"));
                    format!("{name}: {current}/{target}")
                }
            }
        }
        "pods" => {
            let current = status.map(|status| or_nil(amount(status, "current", "AverageValue")));
            format!("{}/{}", current.unwrap_or(UNKNOWN.to_owned()), or_nil(average))
        }
        _ => match average {
            Some(target) => {
                let current = status.and_then(|status| amount(status, "current", "AverageValue"));
                format!("{}/{target} (avg)", current.unwrap_or(UNKNOWN.to_owned()))
            }
            None => {
                let current = status.map(|status| or_nil(amount(status, "current", "Value")));
                let target = or_nil(amount(source, "target", "Value"));
                format!("{}/{target}", current.unwrap_or(UNKNOWN.to_owned()))
            }
        },
    }
}

/// An amount by the name it has in v2 (`target.averageValue`) or, in the annotations of v1, `targetAverageValue`;
/// one of these has no prefix.
fn amount(source: &Value, prefix: &str, name: &str) -> Option<String> {
    let lower = format!("{}{}", name[..1].to_lowercase(), &name[1..]);
    let value = source
        .at(&[prefix, &lower])
        .or_else(|| source.get(&format!("{prefix}{name}")))
        .or_else(|| source.get(&lower))
        .filter(|value| !value.is_null())?;
    Some(cell::int_or_string(value))
}

/// What Go prints for an amount that is not there.
fn or_nil(amount: Option<String>) -> String {
    amount.unwrap_or("<nil>".to_owned())
}
