//! What the real server resets of its own kinds.

use super::{Reset, Step};
use crate::fieldset::PathElement;

impl Reset {
    /// What is reset when an object of a built-in `kind`, or one of its subresources, is written.
    pub fn builtin(kind: &str, subresource: &str) -> Self {
        const METADATA: &[&str] = &["metadata"];
        const SPEC: &[&str] = &["spec"];
        const STATUS: &[&str] = &["status"];
        match (kind, subresource) {
            (_, "" | "finalize") if !has_status(kind) => Reset::Nothing,
            ("CertificateSigningRequest", "") => Reset::fields(&[SPEC, STATUS]),
            (_, "" | "finalize") => Reset::fields(&[STATUS]),
            ("CertificateSigningRequest", "status") => Reset::fields(&[SPEC, &["status", "conditions"]]),
            ("CertificateSigningRequest", "approval") => Reset::fields(&[SPEC, &["status", "certificate"]]),
            ("Deployment", "status") => Reset::fields(&[SPEC, &["metadata", "labels"]]),
            ("Pod", "status") => Reset::fields(&[
                SPEC,
                &["metadata", "deletionTimestamp"],
                &["metadata", "ownerReferences"],
            ]),
            ("Pod", "ephemeralcontainers") => {
                Reset::AllBut(vec![vec![field("spec"), field("ephemeralContainers")]])
            }
            ("Pod", "resize") => Reset::AllBut(resizable()),
            (_, "status") if is_bare(kind) => Reset::fields(&[SPEC, METADATA]),
            (_, "status") if has_status(kind) => Reset::fields(&[SPEC]),
            _ => Reset::Nothing,
        }
    }
}

fn has_status(kind: &str) -> bool {
    matches!(
        kind,
        "CertificateSigningRequest"
            | "CronJob"
            | "DaemonSet"
            | "Deployment"
            | "HorizontalPodAutoscaler"
            | "Ingress"
            | "Job"
            | "Namespace"
            | "Node"
            | "PersistentVolume"
            | "PersistentVolumeClaim"
            | "Pod"
            | "PodDisruptionBudget"
            | "ReplicaSet"
            | "ReplicationController"
            | "ResourceQuota"
            | "Service"
            | "StatefulSet"
    ) || is_bare(kind)
}

/// Kinds whose status cannot be written together with metadata.
fn is_bare(kind: &str) -> bool {
    matches!(
        kind,
        "APIService"
            | "CustomResourceDefinition"
            | "FlowSchema"
            | "PriorityLevelConfiguration"
            | "ResourceClaim"
            | "ValidatingAdmissionPolicy"
            | "VolumeAttachment"
    )
}

fn resizable() -> Vec<Vec<Step>> {
    let mut paths = Vec::new();
    for list in ["containers", "initContainers"] {
        for part in ["resources", "resizePolicy"] {
            paths.push(vec![field("spec"), field(list), Step::Any, field(part)]);
        }
    }
    paths
}

fn field(name: &str) -> Step {
    Step::Is(PathElement::field(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FieldSet, Path};

    fn left(kind: &str, subresource: &str) -> String {
        let paths = [&["metadata", "labels", "a"][..], &["spec", "x"], &["status", "y"]];
        let mut set: FieldSet = paths.iter().map(|path| Path::fields(path)).collect();
        Reset::builtin(kind, subresource).filter(&mut set);
        set.to_json()
    }

    #[test]
    fn each_part_of_an_object_is_written_where_it_belongs() {
        let labels = r#""f:metadata":{"f:labels":{"f:a":{}}}"#;
        assert_eq!(
            left("StatefulSet", ""),
            format!(r#"{{{labels},"f:spec":{{"f:x":{{}}}}}}"#)
        );
        assert_eq!(
            left("StatefulSet", "status"),
            format!(r#"{{{labels},"f:status":{{"f:y":{{}}}}}}"#)
        );
        assert_eq!(left("Deployment", "status"), r#"{"f:status":{"f:y":{}}}"#);
        assert_eq!(left("FlowSchema", "status"), r#"{"f:status":{"f:y":{}}}"#);
        let all = format!(r#"{{{labels},"f:spec":{{"f:x":{{}}}},"f:status":{{"f:y":{{}}}}}}"#);
        assert_eq!(left("ConfigMap", ""), all);
    }
}
