//! Pods and pod templates.

use model::{Map, Value, value};

use super::container::{container, requests_from_limits};
use super::volume::volume;
use super::{Fields, round_amounts};

/// The defaults of a pod.
pub(super) fn pod(pod: &mut Map) {
    pod.within("metadata", drop_old_annotations);
    pod.within("spec", |spec| {
        spec.each("containers", requests_from_limits);
        spec.each("initContainers", requests_from_limits);
        spec.default("enableServiceLinks", true);
        if spec.flag("hostNetwork") {
            spec.each("containers", host_ports);
            spec.each("initContainers", host_ports);
        }
        pod_spec(spec);
        if spec.number("terminationGracePeriodSeconds") < 0 {
            spec.insert("terminationGracePeriodSeconds", 1);
        }
    });
    pod.within("status", addresses);
}

/// The defaults of something that has a `template`.
pub(super) fn holder(holder: &mut Map) {
    holder.within("template", |template| {
        template.within("metadata", drop_old_annotations);
        template.within("spec", pod_spec);
    });
}

fn pod_spec(spec: &mut Map) {
    spec.default("dnsPolicy", "ClusterFirst");
    spec.default("restartPolicy", "Always");
    spec.default("securityContext", Map::new());
    spec.default("terminationGracePeriodSeconds", 30);
    spec.default("schedulerName", "default-scheduler");
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        spec.each(list, container);
    }
    spec.each("volumes", volume);
    round_amounts(spec, &["overhead"]);
    spec.within("resources", |resources| {
        round_amounts(resources, &["limits", "requests"])
    });
    service_account(spec);
}

/// The field has an old name, which always says the same.
fn service_account(spec: &mut Map) {
    let name = match spec.text("serviceAccountName") {
        "" => spec.text("serviceAccount").to_owned(),
        name => name.to_owned(),
    };
    if !name.is_empty() {
        spec.insert("serviceAccountName", name.as_str());
        spec.insert("serviceAccount", name);
    }
}

/// On the host's network a port is open on the host.
fn host_ports(container: &mut Map) {
    container.each("ports", |port| {
        let number = port.number("containerPort");
        port.fill("hostPort", number);
    });
}

/// The first address of a pod stands in two fields.
fn addresses(status: &mut Map) {
    let single = status.text("podIP").to_owned();
    let first = status
        .items("podIPs")
        .first()
        .map(|address| address.str_at(&["ip"]).to_owned());
    match first {
        Some(first) if single.is_empty() => drop(status.insert("podIP", first)),
        Some(first) if first == single => {}
        _ if single.is_empty() => {}
        _ => drop(status.insert("podIPs", vec![value!({ "ip": (single) })])),
    }
}

/// What init containers were once written in.
const OLD_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-containers",
];

fn drop_old_annotations(metadata: &mut Map) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else {
        return;
    };
    for name in OLD_ANNOTATIONS {
        annotations.remove(name);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}
