//! The tables of built-in kinds.

mod admission;
mod autoscaling;
mod batch;
pub(super) mod cluster;
mod events;
mod networking;
mod objects;
pub(super) mod pods;
mod rbac;
mod services;
mod volumes;
pub(super) mod workloads;

use super::column::Layout;

/// The table of a resource. Kinds that none is made for show their name and when they were created.
pub(super) fn layout(group: &str, plural: &str) -> Layout {
    match group {
        "" => core(plural),
        "apps" => apps(plural),
        "batch" if plural == "jobs" => batch::JOBS,
        "batch" => batch::CRON_JOBS,
        "events.k8s.io" => events::NEW,
        "discovery.k8s.io" => services::ENDPOINT_SLICES,
        "networking.k8s.io" => network(plural),
        "storage.k8s.io" => storage(plural),
        "autoscaling" => autoscaling::AUTOSCALERS,
        "policy" => workloads::DISRUPTION_BUDGETS,
        "coordination.k8s.io" => cluster::LEASES,
        "node.k8s.io" => cluster::RUNTIME_CLASSES,
        "scheduling.k8s.io" => cluster::PRIORITY_CLASSES,
        "apiregistration.k8s.io" => cluster::API_SERVICES,
        "certificates.k8s.io" => cluster::SIGNING_REQUESTS,
        _ => other(group, plural),
    }
}

fn core(plural: &str) -> Layout {
    match plural {
        "configmaps" => objects::CONFIG_MAPS,
        "endpoints" => services::ENDPOINTS,
        "events" => events::CORE,
        "namespaces" => objects::NAMESPACES,
        "nodes" => objects::NODES,
        "persistentvolumeclaims" => volumes::PERSISTENT_VOLUME_CLAIMS,
        "persistentvolumes" => volumes::PERSISTENT_VOLUMES,
        "pods" => pods::PODS,
        "podtemplates" => pods::POD_TEMPLATES,
        "replicationcontrollers" => workloads::REPLICATION_CONTROLLERS,
        "resourcequotas" => objects::RESOURCE_QUOTAS,
        "secrets" => objects::SECRETS,
        "serviceaccounts" => objects::NAME_AND_AGE,
        "services" => services::SERVICES,
        _ => objects::NAME_AND_CREATION,
    }
}

fn apps(plural: &str) -> Layout {
    match plural {
        "controllerrevisions" => workloads::CONTROLLER_REVISIONS,
        "daemonsets" => workloads::DAEMON_SETS,
        "deployments" => workloads::DEPLOYMENTS,
        "replicasets" => workloads::REPLICA_SETS,
        "statefulsets" => workloads::STATEFUL_SETS,
        _ => objects::NAME_AND_CREATION,
    }
}

fn network(plural: &str) -> Layout {
    match plural {
        "ingressclasses" => networking::INGRESS_CLASSES,
        "ingresses" => networking::INGRESSES,
        "ipaddresses" => networking::IP_ADDRESSES,
        "networkpolicies" => networking::NETWORK_POLICIES,
        "servicecidrs" => networking::SERVICE_CIDRS,
        _ => objects::NAME_AND_CREATION,
    }
}

fn storage(plural: &str) -> Layout {
    match plural {
        "csidrivers" => volumes::CSI_DRIVERS,
        "csinodes" => volumes::CSI_NODES,
        "storageclasses" => volumes::STORAGE_CLASSES,
        "volumeattachments" => volumes::VOLUME_ATTACHMENTS,
        "volumeattributesclasses" => volumes::VOLUME_ATTRIBUTES_CLASSES,
        _ => objects::NAME_AND_CREATION,
    }
}

fn other(group: &str, plural: &str) -> Layout {
    match (group, plural) {
        ("rbac.authorization.k8s.io", "clusterrolebindings" | "rolebindings") => rbac::BINDINGS,
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => admission::POLICIES,
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings") => admission::POLICY_BINDINGS,
        ("admissionregistration.k8s.io", _) => admission::WEBHOOKS,
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => cluster::FLOW_SCHEMAS,
        ("flowcontrol.apiserver.k8s.io", _) => cluster::PRIORITY_LEVELS,
        _ => objects::NAME_AND_CREATION,
    }
}
