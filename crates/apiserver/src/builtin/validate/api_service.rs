//! `apiregistration.k8s.io`: APIs that other servers serve.

use model::Value;

use super::at::At;
use super::errors::Errors;
use super::name::{self, path_segment};
use super::text::port_number;

/// An `APIService`.
pub(super) fn api_service(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let (group, version) = (spec.txt("group"), spec.txt("version"));
    own_name(object, &format!("{}.{}", version.text(), group.text()), errors);
    if group.text().is_empty() {
        if version.text() != "v1" {
            let detail = "only v1 may have an empty group and it better be legacy kube";
            errors.required(&group, detail);
        }
    } else {
        errors.each(&group, name::subdomain(group.text()));
    }
    errors.each(&version, name::label_1035(version.text()));
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1_000)] {
        let at = spec.num(field);
        if !(1..=most).contains(&at.int()) {
            errors.invalid(&at, format!("must be positive and less than {most}"));
        }
    }
    let service = spec.get("service");
    match service.is_set() {
        true => remote(&spec, &service, errors),
        false => local(&spec, errors),
    }
}

/// It is named after the version and the group that it serves.
fn own_name(object: &At, required: &str, errors: &mut Errors) {
    let metadata = object.get("metadata");
    let at = metadata.txt("name");
    if at.text() != required && path_segment(at.text()).is_empty() && !at.text().is_empty() {
        let detail = format!("must be `spec.version+\".\"+spec.group`: {required:?}");
        errors.invalid(&at, detail);
    }
}

fn local(spec: &At, errors: &mut Errors) {
    let (bundle, insecure) = (spec.get("caBundle"), spec.get("insecureSkipTLSVerify"));
    if !bundle.text().is_empty() {
        let padding = bundle
            .text()
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'=')
            .count();
        let size = bundle.text().len() / 4 * 3 - padding;
        let detail = "local APIServices may not have a caBundle";
        errors.invalid_value(&bundle, format!("{size} bytes"), detail);
    }
    if insecure.value() == &Value::Bool(true) {
        errors.invalid(&insecure, "local APIServices may not have insecureSkipTLSVerify");
    }
}

fn remote(spec: &At, service: &At, errors: &mut Errors) {
    errors.require_text(&service.txt("namespace"));
    errors.require_text(&service.txt("name"));
    let port = service.num("port");
    if let Some(problem) = port_number(port.int()) {
        errors.invalid(&port, format!("port is not valid: {problem}"));
    }
    let insecure = spec.get("insecureSkipTLSVerify");
    if insecure.value() == &Value::Bool(true) && !spec.text_of("caBundle").is_empty() {
        errors.invalid(&insecure, "may not be true if caBundle is present");
    }
}

/// A changed status.
pub(super) fn api_service_status(object: &At, _old: &At, errors: &mut Errors) {
    for condition in object.deep("status.conditions").items() {
        let status = condition.txt("status");
        if !matches!(status.text(), "True" | "False" | "Unknown") {
            errors.not_supported(&status, &["True", "False", "Unknown"]);
        }
    }
}
