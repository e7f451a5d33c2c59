//! What others need to know about a pod, read once for each of its changes.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::{Str, Value};

use crate::store::{Key, Object, Owner};

/// Keeps pods of jobs until they are counted.
pub(super) const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Where a pod is in its life. The order is the one in which pods are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
}

/// A pod in short.
#[derive(Debug)]
pub(super) struct PodFacts {
    pub object: Arc<Object>,
    pub phase: Phase,
    pub node: Str,
    /// The node that it is meant for, where it is meant for one.
    target: Str,
    pub created: Timestamp,
    /// Since when it is ready.
    pub ready: Option<Timestamp>,
    /// Since when it is done, one way or the other.
    pub finished: Option<Timestamp>,
    pub restarts: i64,
    /// The lower, the sooner it is given up.
    pub deletion_cost: i64,
    /// Whether its job has not counted it yet.
    pub tracked: bool,
    /// Its index in an indexed job.
    pub completion_index: Option<i64>,
    pub address: Str,
    pub hostname: Str,
    pub subdomain: Str,
    /// Names, protocols and numbers of its ports.
    pub ports: Box<[(Str, Str, i64)]>,
    /// The names of the claims it uses.
    pub claims: Box<[Str]>,
}

impl PodFacts {
    pub(super) fn of(object: &Arc<Object>) -> Self {
        let pod = object.value();
        let condition = |kind: &str| {
            let all = pod.list_at(&["status", "conditions"]);
            all.iter().find(|condition| condition.str_at(&["type"]) == kind)
        };
        let ready = condition("Ready");
        let phase = match pod.str_at(&["status", "phase"]) {
            "Running" => Phase::Running,
            "Succeeded" => Phase::Succeeded,
            "Failed" => Phase::Failed,
            _ => Phase::Pending,
        };
        let since = |condition: &Value| time(condition.str_at(&["lastTransitionTime"]));
        let annotation = |key: &str| pod.str_at(&["metadata", "annotations", key]);
        let created = time(pod.str_at(&["metadata", "creationTimestamp"])).unwrap_or(Timestamp::UNIX_EPOCH);
        let finished = match phase {
            Phase::Succeeded | Phase::Failed => Some(ready.and_then(since).unwrap_or(created)),
            _ => deletion_asked(&pod),
        };
        PodFacts {
            object: Arc::clone(object),
            phase,
            node: pod.str_at(&["spec", "nodeName"]).into(),
            target: target(&pod).into(),
            created,
            ready: ready
                .filter(|ready| ready.str_at(&["status"]) == "True")
                .and_then(since),
            finished,
            restarts: restarts(&pod),
            deletion_cost: annotation("controller.kubernetes.io/pod-deletion-cost")
                .parse()
                .unwrap_or(0),
            tracked: crate::metadata::finalizers(&pod).any(|name| name == TRACKING),
            completion_index: annotation("batch.kubernetes.io/job-completion-index")
                .parse()
                .ok(),
            address: pod.str_at(&["status", "podIP"]).into(),
            hostname: pod.str_at(&["spec", "hostname"]).into(),
            subdomain: pod.str_at(&["spec", "subdomain"]).into(),
            ports: ports(&pod),
            claims: claims(&pod).collect(),
        }
    }

    pub(super) fn key(&self) -> &Key {
        &self.object.key
    }

    pub(super) fn uid(&self) -> &Str {
        &self.object.meta.uid
    }

    /// The node that it is on or is meant for.
    pub(super) fn place(&self) -> &Str {
        if self.node.is_empty() {
            &self.target
        } else {
            &self.node
        }
    }

    pub(super) fn deleting(&self) -> bool {
        self.object.meta.deleting
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether it counts as one of its controller's replicas.
    pub(super) fn is_active(&self) -> bool {
        !self.is_done() && !self.deleting()
    }

    /// Whether it is on its way out but still there.
    pub(super) fn is_terminating(&self) -> bool {
        !self.is_done() && self.deleting()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// Whether it has been ready for so many seconds.
    pub(super) fn is_available(&self, min_ready_seconds: i64, now: Timestamp) -> bool {
        self.ready.is_some() && self.available_in(min_ready_seconds, now).is_none()
    }

    /// How long until a ready pod is available; `None` where it is, or is not ready.
    pub(super) fn available_in(&self, min_ready_seconds: i64, now: Timestamp) -> Option<Duration> {
        let at = self
            .ready?
            .saturating_add(SignedDuration::from_secs(min_ready_seconds));
        let left = at.unwrap_or(Timestamp::MAX).duration_since(now);
        (min_ready_seconds > 0 && left.is_positive()).then(|| left.unsigned_abs())
    }
}

/// The controller among an object's owners.
pub(super) fn controller(object: &Object) -> Option<&Owner> {
    object.meta.owners.iter().find(|owner| owner.controller)
}

/// A time as objects have it.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// The only node that a pod's affinity allows by name.
fn target(pod: &Value) -> &str {
    let path = [
        "spec",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
    ];
    let terms = pod
        .at(&path)
        .map(|required| required.list_at(&["nodeSelectorTerms"]));
    let mut fields = terms
        .unwrap_or_default()
        .iter()
        .flat_map(|term| term.list_at(&["matchFields"]));
    let named = fields.find(|field| field.str_at(&["key"]) == "metadata.name");
    let name = named.and_then(|field| field.list_at(&["values"]).first());
    name.and_then(Value::as_str).unwrap_or_default()
}

/// When somebody asked for an object's deletion.
fn deletion_asked(object: &Value) -> Option<Timestamp> {
    let deleted = time(object.str_at(&["metadata", "deletionTimestamp"]))?;
    let grace = crate::metadata::number(object, "deletionGracePeriodSeconds");
    deleted.checked_sub(SignedDuration::from_secs(grace)).ok()
}

fn restarts(pod: &Value) -> i64 {
    let counts = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|list| pod.list_at(&["status", list]))
        .filter_map(|status| status.get("restartCount")?.as_i64());
    counts.sum()
}

fn ports(pod: &Value) -> Box<[(Str, Str, i64)]> {
    let containers = pod.list_at(&["spec", "containers"]).iter();
    // Init containers that keep running serve, too.
    let beside = pod.list_at(&["spec", "initContainers"]).iter();
    let beside = beside.filter(|container| container.str_at(&["restartPolicy"]) == "Always");
    let ports = containers
        .chain(beside)
        .flat_map(|container| container.list_at(&["ports"]));
    let port = |port: &Value| {
        let number = port.get("containerPort")?.as_i64()?;
        Some((
            port.str_at(&["name"]).into(),
            port.str_at(&["protocol"]).into(),
            number,
        ))
    };
    ports.filter_map(port).collect()
}

/// The names of the claims that a pod uses.
pub(super) fn claims(pod: &Value) -> impl Iterator<Item = Str> {
    let name = pod.str_at(&["metadata", "name"]);
    pod.list_at(&["spec", "volumes"])
        .iter()
        .filter_map(move |volume| {
            let claim = volume.str_at(&["persistentVolumeClaim", "claimName"]);
            match volume.get("ephemeral") {
                // The claim of such a volume is made for the pod.
                Some(_) => Some(format!("{name}-{}", volume.str_at(&["name"])).into()),
                None if claim.is_empty() => None,
                None => Some(claim.into()),
            }
        })
}
