//! HorizontalPodAutoscalers: able to scale, and not without the numbers they go by. Version 1 has its conditions in an
//! annotation.

use model::{Health, Value};

use super::super::object::{Object, degraded, healthy, progressing};

const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

pub(super) fn assess(object: Object<'_>) -> Health {
    let annotation = object.0.at(&["metadata", "annotations", CONDITIONS]);
    let is_first = object.text(&["apiVersion"]) == "autoscaling/v1";
    let parsed;
    let conditions = match annotation.and_then(Value::as_str).filter(|_| is_first) {
        Some(text) => match model::json::parse(text.as_bytes()) {
            Ok(value) => {
                parsed = value;
                parsed.list_at(&[])
            }
            Err(error) => {
                return Health::because(
                    model::health::State::Unknown,
                    format!("the annotation {CONDITIONS} is no JSON: {error}"),
                );
            }
        },
        None => object.list(&["status", "conditions"]),
    };
    let told = conditions.iter().find_map(judge);
    told.unwrap_or_else(|| progressing("Waiting to Autoscale"))
}

fn judge(condition: &Value) -> Option<Health> {
    let message = condition.str_at(&["message"]);
    let is_true = condition.str_at(&["status"]) == "True";
    match (condition.str_at(&["type"]), condition.str_at(&["reason"])) {
        ("AbleToScale", "FailedGetScale" | "FailedUpdateScale") => Some(degraded(message)),
        (
            "ScalingActive",
            "FailedGetResourceMetric"
            | "FailedGetObjectMetric"
            | "FailedGetPodsMetric"
            | "FailedGetExternalMetric"
            | "FailedComputeMetricsReplicas"
            | "InvalidSelector",
        ) => Some(degraded(message)),
        ("AbleToScale" | "ScalingLimited", _) if is_true => Some(healthy(message)),
        _ => None,
    }
}
