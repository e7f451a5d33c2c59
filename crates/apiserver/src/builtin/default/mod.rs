//! The values that fields have when nothing was said about them, kind by kind.
//!
//! This also does what the way through the real server's internal types does to objects, such as keeping the old and
//! the new name of a field alike. Objects that come here are decoded; what is set here keeps them in that form.

mod admission;
mod autoscaling;
mod batch;
mod container;
mod core;
mod flowcontrol;
mod image;
mod networking;
mod pod;
mod rbac;
mod service;
mod storage;
mod volume;
mod workload;

pub(super) use autoscaling::cpu_metric;
use model::{Map, Value};
pub(super) use service::is_reached_from_outside;
use smd::schema::Gvk;

use super::fields::Fields;
use smd::go::Quantity;

/// Fills in the defaults of an object of `gvk`.
pub fn apply(gvk: &Gvk, object: &mut Value) {
    if let Some(object) = object.as_object_mut()
        && let Some(defaults) = of(gvk)
    {
        defaults(object);
    }
}

/// The function that fills in the defaults of a kind, if it has any.
fn of(gvk: &Gvk) -> Option<fn(&mut Map)> {
    let defaults = match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => pod::pod,
        ("", "PodTemplate") => pod::holder,
        ("", "ReplicationController") => workload::replication_controller,
        ("", "Service") => service::service,
        ("", "Endpoints") => service::endpoints,
        ("", "Secret") => core::secret,
        ("", "Namespace") => core::namespace,
        ("", "Node") => core::node,
        ("", "LimitRange") => core::limit_range,
        ("", "ResourceQuota") => core::resource_quota,
        ("", "PersistentVolume") => storage::volume,
        ("", "PersistentVolumeClaim") => storage::claim,
        ("apps", "Deployment") => workload::deployment,
        ("apps", "StatefulSet") => workload::stateful_set,
        ("apps", "DaemonSet") => workload::daemon_set,
        ("apps", "ReplicaSet") => workload::replica_set,
        ("batch", "Job") => batch::job,
        ("batch", "CronJob") => batch::cron_job,
        ("autoscaling", "HorizontalPodAutoscaler") if gvk.version == "v1" => autoscaling::v1,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaling::v2,
        ("networking.k8s.io", "NetworkPolicy") => networking::network_policy,
        ("networking.k8s.io", "IngressClass") => networking::ingress_class,
        ("discovery.k8s.io", "EndpointSlice") => service::endpoint_slice,
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => rbac::binding,
        ("storage.k8s.io", "StorageClass") => storage::class,
        ("storage.k8s.io", "CSIDriver") => storage::csi_driver,
        ("scheduling.k8s.io", "PriorityClass") => core::priority_class,
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => flowcontrol::flow_schema,
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => flowcontrol::priority_level,
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => admission::mutating_webhooks,
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => admission::validating_webhooks,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => admission::policy,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => admission::binding,
        ("apiregistration.k8s.io", "APIService") => service::api_service,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => core::custom_resource_definition,
        ("authentication.k8s.io", "TokenRequest") => core::token_request,
        _ => return None,
    };
    Some(defaults)
}

/// Amounts in resource lists are no finer than a thousandth.
fn round_amounts(lists: &mut Map, keys: &[&str]) {
    for key in keys {
        let Some(list) = lists.child(key) else { continue };
        for (_, amount) in list.iter_mut() {
            let Some(text) = amount.as_str() else { continue };
            // Only amounts with a point, a fine suffix or an exponent can be finer.
            if !text.contains(['.', 'n', 'u', 'e', 'E']) {
                continue;
            }
            if let Ok(mut quantity) = Quantity::parse(text) {
                quantity.round_up(-3);
                *amount = quantity.to_string().into();
            }
        }
    }
}
