//! Which pods can be on which nodes: selectors, required affinity and taints.

use model::Value;

/// Whether a pod with this spec can be on the node, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Fits,
    /// The pod does not want to be there.
    Unwanted,
    /// The node does not let new pods in; those that are there stay.
    Closed,
    /// The node does not tolerate the pod.
    Repelled,
}

/// Whether a pod with this spec can be on the node.
pub(super) fn fit(spec: &Value, node: &Value) -> Fit {
    let name = node.str_at(&["metadata", "name"]);
    let wanted = spec.str_at(&["nodeName"]);
    if !matches!(wanted, "") && wanted != name {
        return Fit::Unwanted;
    }
    if !selected(spec, node) || !has_affinity(spec, node) {
        return Fit::Unwanted;
    }
    let untolerated = |effect: &str| {
        let mut taints = node.list_at(&["spec", "taints"]).iter();
        taints.any(|taint| taint.str_at(&["effect"]) == effect && !tolerates(spec, taint))
    };
    if untolerated("NoExecute") {
        Fit::Repelled
    } else if untolerated("NoSchedule") {
        Fit::Closed
    } else {
        Fit::Fits
    }
}

fn label<'a>(node: &'a Value, key: &str) -> Option<&'a str> {
    node.at(&["metadata", "labels"])?.get(key)?.as_str()
}

fn selected(spec: &Value, node: &Value) -> bool {
    let selector = spec.get("nodeSelector").and_then(Value::as_object);
    let mut pairs = selector.into_iter().flat_map(|selector| selector.iter());
    pairs.all(|(key, value)| label(node, key) == value.as_str())
}

fn has_affinity(spec: &Value, node: &Value) -> bool {
    let required = spec.at(&[
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
    ]);
    let Some(required) = required else {
        return true;
    };
    let mut terms = required.list_at(&["nodeSelectorTerms"]).iter();
    terms.any(|term| {
        let (labels, fields) = (
            term.list_at(&["matchExpressions"]),
            term.list_at(&["matchFields"]),
        );
        let name = node.str_at(&["metadata", "name"]);
        // A term that asks for nothing selects nothing.
        !(labels.is_empty() && fields.is_empty())
            && labels
                .iter()
                .all(|ask| meets(ask, label(node, ask.str_at(&["key"]))))
            && fields
                .iter()
                .all(|ask| ask.str_at(&["key"]) == "metadata.name" && meets(ask, Some(name)))
    })
}

/// Whether what a node has meets a requirement.
fn meets(requirement: &Value, has: Option<&str>) -> bool {
    let values = requirement.list_at(&["values"]);
    let listed = || has.is_some_and(|has| values.iter().any(|value| value.as_str() == Some(has)));
    let compared = || -> Option<std::cmp::Ordering> {
        let has: i64 = has?.parse().ok()?;
        let value: i64 = values.first()?.as_str()?.parse().ok()?;
        Some(has.cmp(&value))
    };
    match requirement.str_at(&["operator"]) {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => has.is_some(),
        "DoesNotExist" => has.is_none(),
        "Gt" => compared() == Some(std::cmp::Ordering::Greater),
        "Lt" => compared() == Some(std::cmp::Ordering::Less),
        _ => false,
    }
}

fn tolerates(spec: &Value, taint: &Value) -> bool {
    let mut tolerations = spec.list_at(&["tolerations"]).iter();
    tolerations.any(|toleration| {
        let key = toleration.str_at(&["key"]);
        let effect = toleration.str_at(&["effect"]);
        let everything = key.is_empty() && toleration.str_at(&["operator"]) == "Exists";
        (everything || key == taint.str_at(&["key"]))
            && matches!(effect, own if own.is_empty() || own == taint.str_at(&["effect"]))
            && (toleration.str_at(&["operator"]) == "Exists"
                || toleration.str_at(&["value"]) == taint.str_at(&["value"]))
    })
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn node() -> Value {
        value!({
            "metadata": {"name": "n1", "labels": {"os": "linux", "cores": "8"}},
            "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
        })
    }

    fn fits(spec: Value) -> Fit {
        fit(&spec, &node())
    }

    #[test]
    fn taints_keep_out_what_does_not_tolerate_them() {
        assert_eq!(fits(value!({})), Fit::Closed);
        assert_eq!(
            fits(value!({"tolerations": [{"key": "gpu", "operator": "Equal", "value": "yes"}]})),
            Fit::Fits
        );
        assert_eq!(fits(value!({"tolerations": [{"operator": "Exists"}]})), Fit::Fits);
        assert_eq!(
            fits(value!({"tolerations": [{"key": "gpu", "operator": "Equal", "value": "no"}]})),
            Fit::Closed
        );
    }

    #[test]
    fn selectors_and_affinity_say_where_a_pod_wants_to_be() {
        let tolerations = value!([{"operator": "Exists"}]);
        assert_eq!(fits(value!({"nodeSelector": {"os": "windows"}})), Fit::Unwanted);
        assert_eq!(
            fits(value!({"nodeSelector": {"os": "linux"}, "tolerations": (tolerations.clone())})),
            Fit::Fits
        );
        let affinity = |term: Value| {
            value!({
                "tolerations": (tolerations.clone()),
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [term]
                }}},
            })
        };
        let more = value!({"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]});
        assert_eq!(fits(affinity(more)), Fit::Fits);
        let other = value!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]});
        assert_eq!(fits(affinity(other)), Fit::Unwanted);
        assert_eq!(fits(affinity(value!({}))), Fit::Unwanted);
    }
}
