//! The pods of a DaemonSet: bound to a node, and not afraid of its troubles.

use model::{Value, value};

use super::{REVISION, View};
use crate::simulator::template;

/// Which troubles of a node the pods stay for, and how far.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];
const NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");
const GENERATION: &str = "deprecated.daemonset.template.generation";

/// The spec of the set's pods, before they are bound to a node.
pub(super) fn spec(set: &Value) -> Value {
    let mut spec = set.at(&["spec", "template", "spec"]).cloned().unwrap_or_default();
    let on_host = crate::simulator::step::flag(&spec, &["hostNetwork"]);
    let mut tolerations = spec.list_at(&["tolerations"]).to_vec();
    for (key, effect) in TOLERATED.into_iter().chain(on_host.then_some(NETWORK)) {
        let toleration = value!({"key": key, "operator": "Exists", "effect": effect});
        if !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
    spec.set_at(&["tolerations"], tolerations);
    spec
}

impl View<'_> {
    /// The pod for a node.
    pub(super) fn pod(&self, node: &str) -> Value {
        let empty = Value::Null;
        let template = self.set.at(&["spec", "template"]).unwrap_or(&empty);
        let mut pod = template::pod(template, self.set);
        let generation = self.set.str_at(&["metadata", "annotations", GENERATION]);
        if !generation.is_empty() {
            pod.set_at(&["metadata", "labels", "pod-template-generation"], generation);
        }
        pod.set_at(&["metadata", "labels", REVISION], self.revision.hash.as_str());
        let mut spec = spec(self.set);
        bind(&mut spec, node);
        pod.set_at(&["spec"], spec);
        pod
    }
}

/// Lets a pod be on one node only. What it asks of nodes otherwise was asked already.
fn bind(spec: &mut Value, node: &str) {
    let path = [
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
    ];
    let field = value!({"key": "metadata.name", "operator": "In", "values": [node]});
    let mut terms = spec
        .at(&path)
        .map_or(&[][..], |required| required.list_at(&["nodeSelectorTerms"]))
        .to_vec();
    if terms.is_empty() {
        terms.push(Value::object());
    }
    // Each term is one way to be placed, so each one names the node.
    for term in &mut terms {
        term.set_at(&["matchFields"], vec![field.clone()]);
    }
    spec.set_at(&path, value!({"nodeSelectorTerms": terms}));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_be_placed_names_the_node() {
        let mut spec = value!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}],
        }}}});
        bind(&mut spec, "n1");
        let field = value!({"key": "metadata.name", "operator": "In", "values": ["n1"]});
        assert_eq!(
            spec.at(&[
                "affinity",
                "nodeAffinity",
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]),
            Some(&value!({"nodeSelectorTerms": [{
                "matchExpressions": [{"key": "a", "operator": "Exists"}], "matchFields": [(field.clone())],
            }]}))
        );
        let mut empty = Value::object();
        bind(&mut empty, "n1");
        assert_eq!(
            empty.at(&[
                "affinity",
                "nodeAffinity",
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]),
            Some(&value!({"nodeSelectorTerms": [{"matchFields": [field]}]}))
        );
    }
}
