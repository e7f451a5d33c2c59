//! Containers, their probes and hooks.

use model::Map;

use super::image::pull_policy;
use super::{Fields, round_amounts};

/// The defaults of a container of any sort.
pub(super) fn container(container: &mut Map) {
    if container.text("imagePullPolicy").is_empty() {
        let policy = pull_policy(container.text("image"));
        container.insert("imagePullPolicy", policy);
    }
    container.default("terminationMessagePath", "/dev/termination-log");
    container.default("terminationMessagePolicy", "File");
    container.each("ports", |port| port.default("protocol", "TCP"));
    container.each("env", |variable| {
        variable.within("valueFrom", |source| {
            source.within("fieldRef", field_ref);
            source.within("fileKeyRef", |key| key.default("optional", false));
        });
    });
    container.within("resources", |resources| {
        round_amounts(resources, &["limits", "requests"])
    });
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        container.within(name, probe);
    }
    container.within("lifecycle", |lifecycle| {
        for name in ["postStart", "preStop"] {
            lifecycle.within(name, |hook| hook.within("httpGet", http_get));
        }
    });
}

/// A reference to a field of the pod.
pub(super) fn field_ref(reference: &mut Map) {
    reference.default("apiVersion", "v1");
}

/// What a container may use at most it also asks for, where it asks for nothing.
pub(super) fn requests_from_limits(container: &mut Map) {
    let Some(resources) = container.child("resources") else {
        return;
    };
    let Some(limits) = resources.child("limits").cloned() else {
        return;
    };
    let requests = resources.make("requests");
    for (name, amount) in limits {
        requests.default(&name, amount);
    }
}

fn probe(probe: &mut Map) {
    probe.default("timeoutSeconds", 1);
    probe.default("periodSeconds", 10);
    probe.default("successThreshold", 1);
    probe.default("failureThreshold", 3);
    probe.within("httpGet", http_get);
    probe.within("grpc", |grpc| grpc.default("service", ""));
}

fn http_get(action: &mut Map) {
    action.default("path", "/");
    action.default("scheme", "HTTP");
}
