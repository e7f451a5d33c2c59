//! Who may talk to whom, and by which way in.

use model::{Map, Value};

use super::Fields;

pub(super) fn network_policy(object: &mut Map) {
    object.within("spec", |spec| {
        if spec.items("policyTypes").is_empty() {
            let mut types = vec![Value::str("Ingress")];
            if !spec.items("egress").is_empty() {
                types.push(Value::str("Egress"));
            }
            spec.insert("policyTypes", types);
        }
        for direction in ["ingress", "egress"] {
            spec.each(direction, |rule| {
                rule.each("ports", |port| port.default("protocol", "TCP"))
            });
        }
    });
}

pub(super) fn ingress_class(object: &mut Map) {
    object.within("spec", |spec| {
        spec.within("parameters", |parameters| parameters.default("scope", "Cluster"))
    });
}
