//! The fields by which lists of a kind can be narrowed.

use model::{Str, Value};
use smd::schema::Gvk;

/// The label under which values for the field selector `label` are found among [`values`], which is nearly always the
/// label itself.
///
/// # Errors
/// The real server's message, where objects of `gvk` cannot be selected by `label`.
pub fn label<'a>(gvk: &Gvk, label: &'a str) -> Result<&'a str, String> {
    let own = own_labels(gvk);
    if own.contains(&label)
        || label == "metadata.name"
        || (label == "metadata.namespace" && is_namespaced(gvk))
    {
        return Ok(label);
    }
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") if label == "spec.host" => Ok("spec.nodeName"),
        ("batch", "Job") => Err(format!("field label {label:?} not supported for Job")),
        _ if !own.is_empty() => Err(format!("field label not supported: {label}")),
        _ if label == "metadata.namespace" => Ok(label),
        _ => Err(format!(
            "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        )),
    }
}

/// The values of the fields by which objects of `gvk` can be selected, besides their name and namespace.
pub fn values(gvk: &Gvk, object: &Value) -> Vec<(Str, Str)> {
    let value = |label: &&'static str| (Str::from(*label), value(label, object));
    own_labels(gvk).iter().map(value).collect()
}

fn own_labels(gvk: &Gvk) -> &'static [&'static str] {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "Node") => &["spec.unschedulable"],
        ("", "ReplicationController") => &["status.replicas"],
        ("", "Namespace") => &["status.phase"],
        ("", "Secret") => &["type"],
        ("", "Service") => &["spec.clusterIP", "spec.type"],
        ("", "Event") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "Event") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("batch", "Job") => &["status.successful"],
        ("certificates.k8s.io", "CertificateSigningRequest") => &["spec.signerName"],
        _ => &[],
    }
}

/// Kinds that have labels of their own must tell whether they have a namespace.
fn is_namespaced(gvk: &Gvk) -> bool {
    !matches!(
        gvk.kind.as_str(),
        "Node" | "Namespace" | "CertificateSigningRequest"
    )
}

/// The value of a field as text: what is missing is empty, or what Go has in its place.
fn value(label: &str, object: &Value) -> Str {
    let path: Vec<&str> = match label {
        "status.successful" => vec!["status", "succeeded"],
        "source" => return source(object),
        // Known as a label, but nothing is ever found under it.
        "status.podIPs" => return Str::default(),
        label => label.split('.').collect(),
    };
    match object.at(&path) {
        Some(Value::Str(text)) => text.clone(),
        Some(Value::Int(number)) => number.to_string().into(),
        Some(Value::Bool(flag)) => flag.to_string().into(),
        _ => match label {
            "spec.hostNetwork" | "spec.unschedulable" => "false".into(),
            "status.replicas" | "status.successful" => "0".into(),
            _ => Str::default(),
        },
    }
}

/// Who reported an event, in whichever field.
fn source(event: &Value) -> Str {
    match event.str_at(&["source", "component"]) {
        "" => event.str_at(&["reportingComponent"]).into(),
        component => component.into(),
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn gvk(group: &str, kind: &str) -> Gvk {
        Gvk {
            group: group.into(),
            version: "v1".into(),
            kind: kind.into(),
        }
    }

    #[test]
    fn unknown_labels_are_told_as_the_real_server_does() {
        assert_eq!(
            label(&gvk("", "Pod"), "foo"),
            Err("field label not supported: foo".into())
        );
        assert_eq!(
            label(&gvk("batch", "Job"), "foo"),
            Err("field label \"foo\" not supported for Job".into())
        );
        let general = "\"foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
        assert_eq!(label(&gvk("apps", "Deployment"), "foo"), Err(general.into()));
        assert!(label(&gvk("", "Node"), "metadata.namespace").is_err());
        assert_eq!(label(&gvk("", "Pod"), "spec.host"), Ok("spec.nodeName"));
    }

    #[test]
    fn missing_fields_have_the_value_go_gives_them() {
        let all = values(&gvk("", "Pod"), &value!({ "status": { "phase": "Running" } }));
        assert!(all.contains(&("spec.hostNetwork".into(), "false".into())));
        assert!(all.contains(&("status.phase".into(), "Running".into())));
        assert!(all.contains(&("spec.nodeName".into(), "".into())));
        let all = values(&gvk("batch", "Job"), &value!({ "status": { "succeeded": 3 } }));
        assert_eq!(all, [("status.successful".into(), "3".into())]);
    }
}
