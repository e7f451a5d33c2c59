//! Autoscalers in both versions.

use model::{Map, Value, value};

use super::Fields;
use crate::builtin::convert::autoscaler;

/// What a pod's processor time is held at where nothing is said.
const CPU_UTILIZATION: i64 = 80;

/// Annotations that carry what version 1 has no fields for are read and written anew on the way, which drops those that
/// make no sense.
pub(super) fn v1(object: &mut Map) {
    autoscaler::to_v2(object);
    v2(object);
    autoscaler::to_v1(object);
}

pub(super) fn v2(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("minReplicas", 1);
        spec.default("metrics", vec![cpu_metric(CPU_UTILIZATION)]);
        spec.within("behavior", behavior);
    });
}

/// The metric that holds processor time at a share of what pods ask for.
pub(in crate::builtin) fn cpu_metric(percent: i64) -> Value {
    value!({
        "type": "Resource",
        "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": percent } },
    })
}

fn behavior(behavior: &mut Map) {
    let up = behavior.make("scaleUp");
    up.default("stabilizationWindowSeconds", 0);
    up.default("selectPolicy", "Max");
    let policies = vec![policy("Pods", 4), policy("Percent", 100)];
    up.default("policies", policies);
    let down = behavior.make("scaleDown");
    down.default("selectPolicy", "Max");
    down.default("policies", vec![policy("Percent", 100)]);
}

fn policy(kind: &str, amount: i64) -> Value {
    value!({ "type": kind, "value": amount, "periodSeconds": 15 })
}
