//! What the real server checks beyond types: which values are allowed, what may not change, how objects may be named.
//!
//! Objects that come here are decoded and defaulted: fields have the right types, and those the server always fills in
//! are there. Services have their addresses and ports. Metadata that all kinds share is checked elsewhere.
//!
//! Each function checks in the order of the real server and uses its words, misspellings among them, and its ways to
//! fields, detours among them.
//!
//! **Deviation**: the real server lets objects that were stored before a rule came keep what the rule forbids. Here all
//! objects were checked by the same rules, so that there are no such exceptions. Rules behind feature gates are as in a
//! cluster with the defaults of v1.35.

mod address;
mod admission_policy;
mod amount;
mod api_service;
mod apps;
mod at;
mod autoscaler;
mod batch;
mod certificates;
mod condition;
mod core;
mod diff;
mod disruption;
mod errors;
mod flow;
mod internal;
mod lease;
mod match_rule;
pub mod name;
mod networking;
mod pod;
mod port;
mod priority_class;
mod rbac;
mod runtime_class;
mod selector;
mod storage;
mod text;
mod webhook;

use model::Value;
use smd::schema::Gvk;

use self::at::At;
use self::errors::Errors;
use crate::builtin::convert;
use crate::field;
use crate::strategy::Part;

/// All that is wrong with a new object of `gvk`, besides its metadata.
pub fn create(gvk: &Gvk, object: &Value) -> Vec<field::Error> {
    let mut errors = Errors::default();
    if let Some(Checks { create, .. }) = checks(gvk) {
        let kept = as_checked(gvk, object);
        create(&At::root(kept.as_ref().unwrap_or(object)), &mut errors);
    }
    errors.into_vec()
}

/// All that is wrong with an update of `old` to `object`, besides its metadata.
pub fn update(gvk: &Gvk, part: Part, object: &Value, old: &Value) -> Vec<field::Error> {
    let mut errors = Errors::default();
    if let Some(checks) = checks(gvk) {
        let check = match part {
            Part::Main => checks.update,
            Part::Status => checks.status,
        };
        let (kept, kept_old) = (as_checked(gvk, object), as_checked(gvk, old));
        check(
            &At::root(kept.as_ref().unwrap_or(object)),
            &At::root(kept_old.as_ref().unwrap_or(old)),
            &mut errors,
        );
    }
    errors.into_vec()
}

/// The problems of `name` as the name of an object of `gvk`.
///
/// Names that depend on the rest of the object (`APIService`, `CustomResourceDefinition`) are checked by [`create`].
pub fn name(gvk: &Gvk, name: &str) -> Vec<String> {
    name::problems(name::rule(&gvk.group, &gvk.kind), name)
}

/// The form in which an object is checked, where it is another than its own.
fn as_checked(gvk: &Gvk, object: &Value) -> Option<Value> {
    let stored = convert::stored_as(gvk);
    let differs = stored != *gvk && gvk.kind == "HorizontalPodAutoscaler";
    let mut object = differs.then(|| object.clone())?;
    convert::convert(&mut object, gvk, &stored);
    Some(object)
}

type Create = fn(&At, &mut Errors);
type Update = fn(&At, &At, &mut Errors);

/// The checks of a kind.
struct Checks {
    /// A new object.
    create: Create,
    /// A changed object, and what it was.
    update: Update,
    /// A changed status, and what the object was.
    status: Update,
}

fn nothing(_: &At, _: &At, _: &mut Errors) {}

fn new(create: Create, update: Update) -> Option<Checks> {
    Some(Checks {
        create,
        update,
        status: nothing,
    })
}

fn with_status(create: Create, update: Update, status: Update) -> Option<Checks> {
    Some(Checks {
        create,
        update,
        status,
    })
}

/// The same checks for new objects and for changed ones.
macro_rules! both {
    ($check:path) => {
        new($check, |object, _, errors| $check(object, errors))
    };
    ($check:path, $status:path) => {
        with_status($check, |object, _, errors| $check(object, errors), $status)
    };
}

fn checks(gvk: &Gvk) -> Option<Checks> {
    match gvk.group.as_str() {
        "" => core_checks(&gvk.kind),
        "apps" => apps_checks(&gvk.kind),
        "storage.k8s.io" => storage_checks(&gvk.kind),
        "networking.k8s.io" => networking_checks(&gvk.kind),
        "rbac.authorization.k8s.io" => rbac_checks(&gvk.kind),
        "admissionregistration.k8s.io" => admission_checks(&gvk.kind),
        group => other_checks(group, &gvk.kind),
    }
}

fn core_checks(kind: &str) -> Option<Checks> {
    match kind {
        "Pod" => with_status(pod::create, pod::update, pod::status_update),
        "PodTemplate" => both!(pod::holder),
        "ReplicationController" => both!(apps::replication_controller, apps::replication_controller_status),
        "Service" => with_status(core::service, core::service_update, core::service_status),
        "Endpoints" => new(core::endpoints, core::endpoints_update),
        "ConfigMap" => new(core::config_map, core::config_map_update),
        "Secret" => new(core::secret, core::secret_update),
        "Namespace" => both!(core::namespace, core::namespace_status),
        "Node" => with_status(core::node, core::node_update, core::node_status),
        "LimitRange" => both!(core::limit_range),
        "ResourceQuota" => with_status(core::quota, core::quota_update, core::quota_status),
        "PersistentVolume" => new(storage::volume, storage::volume_update),
        "PersistentVolumeClaim" => with_status(
            storage::claim::claim,
            storage::claim::claim_update,
            storage::claim::claim_status,
        ),
        "Event" => new(
            |object, errors| core::event("", object, errors),
            |object, old, errors| core::event_update("", object, old, errors),
        ),
        _ => None,
    }
}

fn apps_checks(kind: &str) -> Option<Checks> {
    match kind {
        "Deployment" => with_status(apps::deployment, apps::deployment_update, apps::deployment_status),
        "StatefulSet" => with_status(
            apps::stateful_set,
            apps::stateful_set_update,
            apps::stateful_set_status,
        ),
        "DaemonSet" => with_status(apps::daemon_set, apps::daemon_set_update, apps::daemon_set_status),
        "ReplicaSet" => with_status(
            apps::replica_set,
            apps::replica_set_update,
            apps::replica_set_status,
        ),
        "ControllerRevision" => new(apps::revision, apps::revision_update),
        _ => None,
    }
}

fn storage_checks(kind: &str) -> Option<Checks> {
    match kind {
        "StorageClass" => new(storage::class, storage::class_update),
        "VolumeAttributesClass" => new(storage::attributes_class, storage::attributes_class_update),
        "CSIDriver" => new(storage::driver, storage::driver_update),
        "CSINode" => new(storage::node, storage::node_update),
        "CSIStorageCapacity" => new(storage::capacity, storage::capacity_update),
        "VolumeAttachment" => with_status(
            storage::attachment,
            storage::attachment_update,
            storage::attachment_update,
        ),
        _ => None,
    }
}

fn networking_checks(kind: &str) -> Option<Checks> {
    match kind {
        "Ingress" => with_status(
            networking::ingress,
            networking::ingress_update,
            networking::ingress_status,
        ),
        "IngressClass" => new(networking::ingress_class, networking::ingress_class_update),
        "NetworkPolicy" => new(networking::network_policy, networking::network_policy_update),
        "IPAddress" => new(networking::ip_address, networking::ip_address_update),
        "ServiceCIDR" => new(networking::service_cidr, networking::service_cidr_update),
        _ => None,
    }
}

fn rbac_checks(kind: &str) -> Option<Checks> {
    match kind {
        "Role" => both!(rbac::role),
        "ClusterRole" => both!(rbac::cluster_role),
        "RoleBinding" => new(rbac::role_binding, rbac::role_binding_update),
        "ClusterRoleBinding" => new(rbac::cluster_role_binding, rbac::cluster_role_binding_update),
        _ => None,
    }
}

fn admission_checks(kind: &str) -> Option<Checks> {
    match kind {
        "ValidatingWebhookConfiguration" => both!(webhook::validating),
        "MutatingWebhookConfiguration" => both!(webhook::mutating),
        "ValidatingAdmissionPolicy" => both!(admission_policy::policy, admission_policy::policy_status),
        "ValidatingAdmissionPolicyBinding" => both!(admission_policy::binding),
        _ => None,
    }
}

fn other_checks(group: &str, kind: &str) -> Option<Checks> {
    match (group, kind) {
        ("batch", "Job") => with_status(batch::job, batch::job_update, batch::job_status),
        ("batch", "CronJob") => new(batch::cron_job, batch::cron_job_update),
        ("policy", "PodDisruptionBudget") => both!(disruption::budget, disruption::budget_status),
        ("autoscaling", "HorizontalPodAutoscaler") => with_status(
            autoscaler::autoscaler,
            autoscaler::autoscaler_update,
            autoscaler::autoscaler_status,
        ),
        ("coordination.k8s.io", "Lease") => both!(lease::lease),
        ("scheduling.k8s.io", "PriorityClass") => new(
            priority_class::priority_class,
            priority_class::priority_class_update,
        ),
        ("node.k8s.io", "RuntimeClass") => {
            new(runtime_class::runtime_class, runtime_class::runtime_class_update)
        }
        ("discovery.k8s.io", "EndpointSlice") => new(core::endpoint_slice, core::endpoint_slice_update),
        ("events.k8s.io", "Event") => new(
            |object, errors| core::event("events.k8s.io", object, errors),
            |object, old, errors| core::event_update("events.k8s.io", object, old, errors),
        ),
        ("certificates.k8s.io", "CertificateSigningRequest") => with_status(
            certificates::request,
            certificates::request_update,
            certificates::request_update,
        ),
        ("apiregistration.k8s.io", "APIService") => {
            both!(api_service::api_service, api_service::api_service_status)
        }
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => both!(flow::flow_schema, flow::status),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => {
            both!(flow::priority_level, flow::status)
        }
        _ => None,
    }
}
