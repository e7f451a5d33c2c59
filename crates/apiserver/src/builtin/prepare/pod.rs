//! New pods wait to be placed, in a class of service that follows from what they ask for.

use model::{Map, Str, Value, value};
use smd::schema::Gvk;

use crate::builtin::fields::Fields;
use smd::go::Quantity;

/// The class of service that a new pod claims in its status. The real server believes it.
pub(super) fn given_class(gvk: &Gvk, object: &Map) -> Option<Str> {
    let class = object.get("status").map(|status| status.str_at(&["qosClass"]))?;
    (gvk.group.is_empty() && gvk.kind == "Pod" && !class.is_empty()).then(|| class.into())
}

/// The status of a new pod.
pub(super) fn create(object: &mut Map, class: Option<Str>) {
    let by_resources = || {
        object
            .get("spec")
            .and_then(Value::as_object)
            .map_or("BestEffort", service_class)
            .into()
    };
    let class = class.unwrap_or_else(by_resources);
    let gated = object
        .child("spec")
        .is_some_and(|spec| !spec.items("schedulingGates").is_empty());
    let now = object.make("metadata").text("creationTimestamp").to_owned();
    let status = object.make("status");
    status.insert("phase", "Pending");
    status.insert("qosClass", class);
    if gated {
        let condition = value!({
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null,
            "lastTransitionTime": now,
        });
        status.insert("conditions", vec![condition]);
    }
}

/// Writers of the status need not know the class of service.
pub(super) fn update_status(object: &mut Map, old: &Value) {
    let class = old.str_at(&["status", "qosClass"]);
    if !class.is_empty() {
        object.make("status").fill("qosClass", class);
    }
}

/// `Guaranteed` where all containers have equal requests and limits of both processor and memory, `BestEffort` where
/// none has any, else `Burstable`.
fn service_class(spec: &Map) -> &'static str {
    let pod_level = spec
        .get("resources")
        .filter(|resources| resources.list_of("limits").is_some() || resources.list_of("requests").is_some());
    let resources: Vec<Option<&Value>> = match pod_level {
        Some(resources) => vec![Some(resources)],
        None => spec
            .items("containers")
            .iter()
            .chain(spec.items("initContainers"))
            .map(|c| c.get("resources"))
            .collect(),
    };
    let amounts = |part: &str| -> Vec<[Option<Quantity>; 2]> {
        resources
            .iter()
            .map(|one| ["cpu", "memory"].map(|name| amount(*one, part, name)))
            .collect()
    };
    let (limits, requests) = (amounts("limits"), amounts("requests"));
    if limits
        .iter()
        .chain(&requests)
        .all(|pair| pair.iter().all(Option::is_none))
    {
        return "BestEffort";
    }
    let equal = |limit: &[Option<Quantity>; 2], request: &[Option<Quantity>; 2]| {
        limit.iter().zip(request).all(|(limit, request)| {
            // What is not asked for is taken from the limit.
            limit.is_some() && (request.is_none() || limit == request)
        })
    };
    match limits
        .iter()
        .zip(&requests)
        .all(|(limit, request)| equal(limit, request))
    {
        true => "Guaranteed",
        false => "Burstable",
    }
}

/// An amount that is more than nothing.
fn amount(resources: Option<&Value>, part: &str, name: &str) -> Option<Quantity> {
    let text = resources?.at(&[part, name])?.as_str()?;
    Quantity::parse(text)
        .ok()
        .filter(|amount| !amount.is_zero() && !amount.is_negative())
}

trait ResourceLists {
    fn list_of(&self, part: &str) -> Option<&Map>;
}

impl ResourceLists for Value {
    fn list_of(&self, part: &str) -> Option<&Map> {
        self.get(part)
            .and_then(Value::as_object)
            .filter(|list| !list.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(containers: Value) -> &'static str {
        let spec = value!({ "containers": containers });
        service_class(spec.as_object().unwrap())
    }

    #[test]
    fn the_class_of_service_follows_from_requests_and_limits() {
        assert_eq!(class(value!([{ "name": "a" }])), "BestEffort");
        assert_eq!(
            class(value!([{ "resources": { "requests": { "cpu": "1" } } }])),
            "Burstable"
        );
        let full = value!({ "resources": { "limits": { "cpu": "1", "memory": "1Gi" }, "requests": { "cpu": "1000m", "memory": "1024Mi" } } });
        assert_eq!(class(Value::from(vec![full.clone()])), "Guaranteed");
        assert_eq!(
            class(Value::from(vec![full, value!({ "name": "b" })])),
            "Burstable"
        );
        assert_eq!(
            class(value!([{ "resources": { "limits": { "cpu": "1" } } }])),
            "Burstable"
        );
        assert_eq!(
            class(value!([{ "resources": { "limits": { "cpu": "0" } } }])),
            "BestEffort"
        );
    }
}
