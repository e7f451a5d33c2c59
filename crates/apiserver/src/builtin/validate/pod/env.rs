//! Environment variables.

use model::label::key_problems;

use super::super::amount::amount;
use super::super::at::At;
use super::super::errors::Errors;
use super::super::name;
use super::super::text::{config_key, variable};
use super::volume::file_key;

/// Single variables.
pub(super) fn variables(at: &At, errors: &mut Errors) {
    for one in at.items() {
        let name_at = one.txt("name");
        if errors.require_text(&name_at) {
            errors.each(&name_at, variable(name_at.text()).into_iter().collect());
        }
        let source = one.get("valueFrom");
        if source.is_set() {
            value_from(&source, !one.text_of("value").is_empty(), errors);
        }
    }
}

fn value_from(at: &At, has_value: bool, errors: &mut Errors) {
    let mut count = 0;
    for kind in [
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "fileKeyRef",
    ] {
        let source = at.get(kind);
        if !source.is_set() {
            continue;
        }
        count += 1;
        match kind {
            "fieldRef" => field_ref(&source, FieldsOf::Variable, errors),
            "resourceFieldRef" => resource_ref(&source, FieldsOf::Variable, errors),
            "fileKeyRef" => file_key(&source, errors),
            _ => key_ref(&source, errors),
        }
    }
    let detail = match count {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        _ if has_value => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.invalid_value(at, "", detail);
}

fn key_ref(at: &At, errors: &mut Errors) {
    let name_at = at.txt("name");
    errors.each(&name_at, name::subdomain(name_at.text()));
    let key = at.txt("key");
    if errors.require_text(&key) {
        errors.each(&key, config_key(key.text()));
    }
}

/// All keys of a `ConfigMap` or a `Secret` as variables.
pub(super) fn sources(at: &At, errors: &mut Errors) {
    for one in at.items() {
        let prefix = one.txt("prefix");
        if !prefix.text().is_empty() {
            errors.each(&prefix, variable(prefix.text()).into_iter().collect());
        }
        let mut count = 0;
        for kind in ["configMapRef", "secretRef"] {
            let source = one.get(kind);
            if source.is_set() {
                count += 1;
                let name_at = source.txt("name");
                if errors.require_text(&name_at) {
                    errors.each(&name_at, name::prefix(name_at.text()));
                }
            }
        }
        let detail = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.invalid_value(at, "", detail);
    }
}

/// Who refers to a field of the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldsOf {
    Variable,
    Volume,
}

impl FieldsOf {
    fn fields(self) -> &'static [&'static str] {
        match self {
            FieldsOf::Variable => &[
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
                "spec.nodeName",
                "spec.serviceAccountName",
                "status.hostIP",
                "status.hostIPs",
                "status.podIP",
                "status.podIPs",
            ],
            FieldsOf::Volume => &[
                "metadata.annotations",
                "metadata.labels",
                "metadata.name",
                "metadata.namespace",
                "metadata.uid",
            ],
        }
    }
}

/// A reference to a field of the pod.
pub(super) fn field_ref(at: &At, of: FieldsOf, errors: &mut Errors) {
    let path = at.txt("fieldPath");
    if !errors.require_text(&at.txt("apiVersion")) || !errors.require_text(&path) {
        return;
    }
    let subscript = path
        .text()
        .strip_suffix("']")
        .and_then(|text| text.split_once("['"))
        .filter(|(field, _)| !field.is_empty());
    if let Err(problem) = known_field(at.text_of("apiVersion"), path.text(), subscript) {
        errors.invalid(&path, format!("error converting fieldPath: {problem}"));
        return;
    }
    match subscript {
        Some(("metadata.annotations", key)) => {
            let key = key.to_lowercase();
            for problem in key_problems(&key) {
                errors.invalid_value(at, key.as_str(), problem);
            }
        }
        Some((_, key)) => {
            for problem in key_problems(key) {
                errors.invalid_value(at, key, problem);
            }
        }
        None if path.text() == "spec.host" && of == FieldsOf::Variable => {}
        None if !of.fields().contains(&path.text()) => errors.not_supported(&path, of.fields()),
        None => {}
    }
}

/// Whether the real server knows the field at all.
fn known_field(version: &str, path: &str, subscript: Option<(&str, &str)>) -> Result<(), String> {
    if version != "v1" {
        return Err(format!("unsupported pod version: {version}"));
    }
    match (subscript, path) {
        (Some(("metadata.annotations" | "metadata.labels", _)), _) => Ok(()),
        (Some(_), _) => Err(format!("field label does not support subscript: {path}")),
        (
            None,
            "metadata.annotations"
            | "metadata.labels"
            | "spec.restartPolicy"
            | "spec.schedulerName"
            | "status.phase"
            | "spec.host",
        ) => Ok(()),
        (None, path) if FieldsOf::Variable.fields().contains(&path) => Ok(()),
        (None, path) => Err(format!("field label not supported: {path}")),
    }
}

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// A reference to a resource of a container.
pub(super) fn resource_ref(at: &At, of: FieldsOf, errors: &mut Errors) {
    let resource = at.txt("resource");
    let pages = ["requests.hugepages-", "limits.hugepages-"];
    let is_pages = pages.iter().any(|prefix| resource.text().starts_with(prefix));
    if of == FieldsOf::Volume && at.text_of("containerName").is_empty() {
        errors.required(&at.txt("containerName"), "");
    } else if errors.require_text(&resource) && !RESOURCES.contains(&resource.text()) && !is_pages {
        errors.not_supported(&resource, &RESOURCES);
    }
    divisor(at, is_pages, errors);
}

fn divisor(at: &At, is_pages: bool, errors: &mut Errors) {
    let divisor = at.get("divisor");
    if amount(divisor.value()).is_zero() {
        return;
    }
    let text = divisor.text();
    let resource = at.text_of("resource");
    let unit = text.strip_prefix('1').unwrap_or("?");
    let is_byte_unit = matches!(
        unit,
        "" | "k" | "M" | "G" | "T" | "P" | "E" | "Ki" | "Mi" | "Gi" | "Ti" | "Pi" | "Ei"
    );
    let what = match resource {
        "limits.cpu" | "requests.cpu" => {
            if !matches!(text, "1m" | "1") {
                let detail = "only divisor's values 1m and 1 are supported with the cpu resource";
                errors.invalid_value(&divisor, resource, detail);
            }
            return;
        }
        "limits.memory" | "requests.memory" => "memory",
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => "local ephemeral storage",
        _ if is_pages => "hugepages",
        _ => return,
    };
    if !is_byte_unit {
        let detail = format!(
            "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the \
             {what} resource"
        );
        errors.invalid_value(&divisor, resource, detail);
    }
}
