//! HorizontalPodAutoscalers: keep a workload within their limits.
//!
//! **Deviation**: there is no load, so all metrics are always exactly at their targets, and the size of a workload
//! changes only where it is outside of the limits.

use model::{Value, value};

use super::condition::Condition;
use super::event::Level;
use super::step::number;
use super::{Kind, Step};
use crate::store::Key;

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(autoscaler) = step.own() else { return };
    let reference = autoscaler
        .at(&["spec", "scaleTargetRef"])
        .cloned()
        .unwrap_or_default();
    let kind = Kind::of_reference(reference.str_at(&["apiVersion"]), reference.str_at(&["kind"]));
    let scales = |kind: &Kind| {
        matches!(
            kind,
            Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet | Kind::ReplicationController
        )
    };
    let key = Key::new(step.key.namespace(), reference.str_at(&["name"]));
    let target = kind
        .filter(scales)
        .and_then(|kind| Some((kind, step.read(kind, &key)?)));
    let Some((kind, target)) = target else {
        return tell_missing(step, &autoscaler, &reference);
    };
    let current = number(&target, &["status", "replicas"]);
    let wanted = number(&target, &["spec", "replicas"]);
    let least = autoscaler.at(&["spec", "minReplicas"]).and_then(Value::as_i64);
    let (least, most) = (least.unwrap_or(1), number(&autoscaler, &["spec", "maxReplicas"]));
    // One that somebody scaled to nothing stays so.
    let desired = match wanted {
        0 => 0,
        wanted => wanted.min(most).max(least),
    };
    if desired != wanted {
        step.change(kind, &key, |target| target.set_at(&["spec", "replicas"], desired));
        let reason = match desired > wanted {
            true => "Current number of replicas below Spec.MinReplicas",
            false => "Current number of replicas above Spec.MaxReplicas",
        };
        let message = format!("New size: {desired}; reason: {reason}");
        step.event(&autoscaler, Level::Normal, "SuccessfulRescale", &message);
    }
    write_status(step, &autoscaler, current, desired, desired != wanted);
}

fn write_status(step: &Step<'_>, autoscaler: &Value, current: i64, desired: i64, scaled: bool) {
    let now = step.now_text();
    let rescaled = format!("the HPA controller was able to update the target scale to {desired}");
    let able = match scaled {
        true => condition("AbleToScale", "True", "SucceededRescale", &rescaled),
        false => condition(
            "AbleToScale",
            "True",
            "ReadyForNewScale",
            "recommended size matches current size",
        ),
    };
    let active = match desired {
        0 => condition(
            "ScalingActive",
            "False",
            "ScalingDisabled",
            "scaling is disabled since the replica count of the target is zero",
        ),
        _ => condition(
            "ScalingActive",
            "True",
            "ValidMetricFound",
            "the HPA was able to successfully calculate a replica count from simulated load",
        ),
    };
    let limited = condition(
        "ScalingLimited",
        "False",
        "DesiredWithinRange",
        "the desired count is within the acceptable range",
    );
    let metrics: Vec<Value> = autoscaler
        .list_at(&["spec", "metrics"])
        .iter()
        .filter_map(at_target)
        .collect();
    step.change_status(|autoscaler| {
        let status = autoscaler.make_object().entry("status");
        status.set_at(&["currentReplicas"], current);
        status.set_at(&["desiredReplicas"], desired);
        if scaled {
            status.set_at(&["lastScaleTime"], now.as_str());
        }
        match metrics.is_empty() || desired == 0 {
            true => status.set_at(&["currentMetrics"], Value::Null),
            false => status.set_at(&["currentMetrics"], metrics.clone()),
        }
        for condition in [able, active, limited] {
            condition.replace(status, &now, |_| {});
        }
    });
}

fn condition<'a>(kind: &'a str, status: &'a str, reason: &'a str, message: &'a str) -> Condition<'a> {
    Condition {
        kind,
        status,
        reason,
        message,
    }
}

/// The value of a metric that is exactly at its target.
fn at_target(metric: &Value) -> Option<Value> {
    let kind = metric.str_at(&["type"]);
    let (field, keys): (&str, &[&str]) = match kind {
        "Resource" => ("resource", &["name"]),
        "ContainerResource" => ("containerResource", &["name", "container"]),
        "Pods" => ("pods", &["metric"]),
        "Object" => ("object", &["metric", "describedObject"]),
        "External" => ("external", &["metric"]),
        _ => return None,
    };
    let target = metric.at(&[field, "target"])?;
    let mut current = Value::object();
    for key in ["averageUtilization", "averageValue", "value"] {
        if let Some(value) = target.get(key) {
            current.set_at(&[key], value.clone());
        }
    }
    // A share of what is asked for is told as an amount, too.
    if current.get("averageUtilization").is_some() && current.get("averageValue").is_none() {
        current.set_at(&["averageValue"], "0");
    }
    let mut status = value!({"type": kind, field: {"current": current}});
    for key in keys {
        if let Some(value) = metric.at(&[field, key]) {
            status.set_at(&[field, key], value.clone());
        }
    }
    Some(status)
}

fn tell_missing(step: &mut Step<'_>, autoscaler: &Value, reference: &Value) {
    let (kind, name) = (reference.str_at(&["kind"]), reference.str_at(&["name"]));
    let error = format!("{}s \"{name}\" not found", kind.to_lowercase());
    let message = format!("the HPA controller was unable to get the target's current scale: {error}");
    let now = step.now_text();
    step.change_status(|autoscaler| {
        let status = autoscaler.make_object().entry("status");
        if status.get("desiredReplicas").is_none() {
            status.set_at(&["desiredReplicas"], 0);
        }
        let condition = condition("AbleToScale", "False", "FailedGetScale", &message);
        condition.replace(status, &now, |_| {});
    });
    step.event(autoscaler, Level::Warning, "FailedGetScale", &error);
}
