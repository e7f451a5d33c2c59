//! What kinds of objects do and do not do when they are written, as one table.

/// How objects of a kind behave when they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Whether a new object gets `metadata.generation: 1`.
    pub starts_generation: bool,
    /// The paths whose change raises `metadata.generation`.
    pub raises_generation: &'static [&'static [&'static str]],
    /// Whether `status` is written through its own subresource.
    pub has_status: bool,
    /// What the status subresource leaves as it was, besides all that is not `status`.
    pub status_keeps: Keeps,
    /// Whether an update of an object that is not there makes it.
    pub creates_on_update: bool,
    /// Whether an update may leave out the version it is based on.
    pub updates_unconditionally: bool,
}

/// What of the metadata a write of the status subresource does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing: labels, annotations, finalizers and owners may change.
    Nothing,
    /// Labels.
    Labels,
    /// Owners.
    Owners,
    /// Labels, annotations, finalizers and owners.
    Metadata,
}

const SPEC: &[&[&str]] = &[&["spec"]];

/// A kind without `status` and `generation`.
const PLAIN: Traits = Traits {
    starts_generation: false,
    raises_generation: &[],
    has_status: false,
    status_keeps: Keeps::Nothing,
    creates_on_update: false,
    updates_unconditionally: true,
};

/// A kind with a `spec` that raises the generation.
const WITH_SPEC: Traits = Traits {
    starts_generation: true,
    raises_generation: SPEC,
    ..PLAIN
};

/// A kind with `spec` and `status`.
const WITH_BOTH: Traits = Traits {
    has_status: true,
    ..WITH_SPEC
};

/// A kind with `status` but without generation.
const WITH_STATUS: Traits = Traits {
    has_status: true,
    ..PLAIN
};

/// How objects of `group` and `kind` behave.
pub fn of(group: &str, kind: &str) -> Traits {
    match group {
        "" => core(kind),
        "apps" | "batch" | "policy" => workload(kind),
        "networking.k8s.io" => networking(kind),
        "admissionregistration.k8s.io" => admission(kind),
        "storage.k8s.io" => storage(kind),
        "rbac.authorization.k8s.io" | "events.k8s.io" => Traits {
            creates_on_update: true,
            ..PLAIN
        },
        "coordination.k8s.io" | "node.k8s.io" => Traits {
            creates_on_update: true,
            updates_unconditionally: false,
            ..PLAIN
        },
        "autoscaling" | "certificates.k8s.io" => WITH_STATUS,
        "discovery.k8s.io" => Traits {
            starts_generation: true,
            raises_generation: &[
                &["addressType"],
                &["endpoints"],
                &["ports"],
                &["metadata", "labels"],
            ],
            ..PLAIN
        },
        "scheduling.k8s.io" => Traits {
            starts_generation: true,
            ..PLAIN
        },
        "flowcontrol.apiserver.k8s.io" => Traits {
            status_keeps: Keeps::Metadata,
            ..WITH_BOTH
        },
        "apiextensions.k8s.io" => Traits {
            updates_unconditionally: false,
            ..WITH_BOTH
        },
        "apiregistration.k8s.io" => Traits {
            status_keeps: Keeps::Metadata,
            updates_unconditionally: false,
            ..WITH_STATUS
        },
        _ => PLAIN,
    }
}

fn core(kind: &str) -> Traits {
    match kind {
        "Pod" => Traits {
            status_keeps: Keeps::Owners,
            ..WITH_BOTH
        },
        "PodTemplate" => Traits {
            starts_generation: true,
            raises_generation: &[&["template"]],
            ..PLAIN
        },
        "ReplicationController" => WITH_BOTH,
        "Service" => Traits {
            creates_on_update: true,
            ..WITH_STATUS
        },
        "Namespace" | "Node" | "PersistentVolume" | "PersistentVolumeClaim" | "ResourceQuota" => WITH_STATUS,
        "Endpoints" | "Event" | "LimitRange" => Traits {
            creates_on_update: true,
            ..PLAIN
        },
        _ => PLAIN,
    }
}

fn workload(kind: &str) -> Traits {
    match kind {
        "Deployment" => Traits {
            raises_generation: &[&["spec"], &["metadata", "annotations"]],
            status_keeps: Keeps::Labels,
            ..WITH_BOTH
        },
        "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job" | "CronJob" => WITH_BOTH,
        "PodDisruptionBudget" => Traits {
            updates_unconditionally: false,
            ..WITH_BOTH
        },
        _ => PLAIN,
    }
}

fn networking(kind: &str) -> Traits {
    match kind {
        "Ingress" => WITH_BOTH,
        "IngressClass" | "NetworkPolicy" => WITH_SPEC,
        // The real server lets the main resource write the status of these, too.
        "ServiceCIDR" => Traits {
            status_keeps: Keeps::Metadata,
            ..PLAIN
        },
        _ => PLAIN,
    }
}

fn admission(kind: &str) -> Traits {
    let versioned = Traits {
        updates_unconditionally: false,
        ..WITH_SPEC
    };
    match kind {
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => Traits {
            raises_generation: &[&["webhooks"]],
            ..versioned
        },
        "ValidatingAdmissionPolicy" => Traits {
            has_status: true,
            status_keeps: Keeps::Metadata,
            ..versioned
        },
        _ => versioned,
    }
}

fn storage(kind: &str) -> Traits {
    let versioned = Traits {
        updates_unconditionally: false,
        ..PLAIN
    };
    match kind {
        "CSIDriver" => Traits {
            raises_generation: SPEC,
            ..versioned
        },
        "VolumeAttachment" => Traits {
            has_status: true,
            status_keeps: Keeps::Metadata,
            ..versioned
        },
        "StorageClass" | "VolumeAttributesClass" => PLAIN,
        _ => versioned,
    }
}
