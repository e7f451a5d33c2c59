//! The kinds that the simulator looks at or makes.

use std::sync::Arc;

use crate::catalog::StorageId;
use crate::kinds::{Kinds, Served, split_api_version};

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Node,
    Pod,
    ReplicationController,
    ReplicaSet,
    Deployment,
    StatefulSet,
    DaemonSet,
    ControllerRevision,
    Job,
    CronJob,
    Claim,
    Volume,
    StorageClass,
    Service,
    Endpoints,
    EndpointSlice,
    Ingress,
    Budget,
    Autoscaler,
    Event,
}

/// How a kind is called in the API.
struct Names {
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    name: &'static str,
}

const ALL: [Kind; 20] = [
    Kind::Node,
    Kind::Pod,
    Kind::ReplicationController,
    Kind::ReplicaSet,
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::ControllerRevision,
    Kind::Job,
    Kind::CronJob,
    Kind::Claim,
    Kind::Volume,
    Kind::StorageClass,
    Kind::Service,
    Kind::Endpoints,
    Kind::EndpointSlice,
    Kind::Ingress,
    Kind::Budget,
    Kind::Autoscaler,
    Kind::Event,
];

impl Kind {
    fn names(self) -> Names {
        let (group, version, plural, name) = match self {
            Kind::Node => ("", "v1", "nodes", "Node"),
            Kind::Pod => ("", "v1", "pods", "Pod"),
            Kind::ReplicationController => ("", "v1", "replicationcontrollers", "ReplicationController"),
            Kind::ReplicaSet => ("apps", "v1", "replicasets", "ReplicaSet"),
            Kind::Deployment => ("apps", "v1", "deployments", "Deployment"),
            Kind::StatefulSet => ("apps", "v1", "statefulsets", "StatefulSet"),
            Kind::DaemonSet => ("apps", "v1", "daemonsets", "DaemonSet"),
            Kind::ControllerRevision => ("apps", "v1", "controllerrevisions", "ControllerRevision"),
            Kind::Job => ("batch", "v1", "jobs", "Job"),
            Kind::CronJob => ("batch", "v1", "cronjobs", "CronJob"),
            Kind::Claim => ("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
            Kind::Volume => ("", "v1", "persistentvolumes", "PersistentVolume"),
            Kind::StorageClass => ("storage.k8s.io", "v1", "storageclasses", "StorageClass"),
            Kind::Service => ("", "v1", "services", "Service"),
            Kind::Endpoints => ("", "v1", "endpoints", "Endpoints"),
            Kind::EndpointSlice => ("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
            Kind::Ingress => ("networking.k8s.io", "v1", "ingresses", "Ingress"),
            Kind::Budget => ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
            Kind::Autoscaler => (
                "autoscaling",
                "v2",
                "horizontalpodautoscalers",
                "HorizontalPodAutoscaler",
            ),
            Kind::Event => ("", "v1", "events", "Event"),
        };
        Names {
            group,
            version,
            plural,
            name,
        }
    }

    /// The kind whose objects are kept there.
    pub(super) fn of_storage(storage: &StorageId) -> Option<Kind> {
        let same = |kind: &Kind| {
            let names = kind.names();
            names.plural == storage.plural && names.group == storage.group
        };
        ALL.into_iter().find(same)
    }

    /// The kind that an owner reference or the like names. The version does not matter.
    pub(super) fn of_reference(api_version: &str, name: &str) -> Option<Kind> {
        let (group, _) = split_api_version(api_version);
        let same = |kind: &Kind| {
            let names = kind.names();
            names.name == name && names.group == group
        };
        ALL.into_iter().find(same)
    }

    /// `Deployment`
    pub(super) fn name(self) -> &'static str {
        self.names().name
    }

    /// `apps/v1`
    pub(super) fn api_version(self) -> String {
        let names = self.names();
        match names.group {
            "" => names.version.to_owned(),
            group => format!("{group}/{}", names.version),
        }
    }

    /// How the server handles the kind.
    pub(super) fn served(self, kinds: &Kinds) -> &Arc<Served> {
        let names = self.names();
        kinds
            .get(names.group, names.version, names.plural)
            .expect("built-in kinds are always served")
    }

    /// Whom the managed fields name as the writer.
    pub(super) fn manager(self) -> &'static str {
        match self {
            Kind::Pod | Kind::Node => "kubelet",
            Kind::Ingress => "ingress-controller",
            _ => "kube-controller-manager",
        }
    }

    /// Whom events name as their source.
    pub(super) fn component(self) -> &'static str {
        match self {
            Kind::Pod | Kind::Node => "kubelet",
            Kind::ReplicationController => "replication-controller",
            Kind::ReplicaSet => "replicaset-controller",
            Kind::Deployment => "deployment-controller",
            Kind::StatefulSet => "statefulset-controller",
            Kind::DaemonSet => "daemonset-controller",
            Kind::Job => "job-controller",
            Kind::CronJob => "cronjob-controller",
            Kind::Claim | Kind::Volume => "persistentvolume-controller",
            Kind::Service => "service-controller",
            Kind::Ingress => "ingress-controller",
            Kind::Autoscaler => "horizontal-pod-autoscaler",
            _ => "controllermanager",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_what_references_say() {
        assert_eq!(
            Kind::of_reference("apps/v1", "ReplicaSet"),
            Some(Kind::ReplicaSet)
        );
        assert_eq!(
            Kind::of_reference("autoscaling/v1", "HorizontalPodAutoscaler"),
            Some(Kind::Autoscaler)
        );
        assert_eq!(Kind::of_reference("example.org/v1", "Deployment"), None);
        assert_eq!(Kind::of_reference("v1", "Pod"), Some(Kind::Pod));
    }
}
