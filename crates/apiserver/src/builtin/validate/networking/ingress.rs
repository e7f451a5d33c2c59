//! Ingresses.

use super::super::at::At;
use super::super::core::{Modes, balancer_status};
use super::super::errors::Errors;
use super::super::text::port_name;
use super::super::{address, name, port};
use super::ingress_class::reference;

/// A new ingress.
pub(in super::super) fn ingress(object: &At, errors: &mut Errors) {
    ingress_update(object, object, errors);
    let notes = object.deep("metadata.annotations");
    let (note, class) = (
        notes.key("kubernetes.io/ingress.class"),
        object.deep("spec.ingressClassName"),
    );
    if note.is_set() && class.is_set() && note.text() != class.text() {
        let here = object.get("annotations");
        let here = here.get("kubernetes.io/ingress.class");
        let detail = "must match `ingressClassName` when both are specified";
        errors.invalid(&here.with(note.value()), detail);
    }
}

/// A changed ingress.
pub(in super::super) fn ingress_update(object: &At, _old: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let (rules, fallback) = (spec.get("rules"), spec.get("defaultBackend"));
    if rules.is_empty() && !fallback.is_set() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.invalid(&spec.with(rules.value()), detail);
    }
    if fallback.is_set() {
        backend(&fallback, errors);
    }
    for rule in rules.items() {
        self::rule(&rule, errors);
    }
    for tls in spec.get("tls").items() {
        for host in tls.get("hosts").items() {
            host_name(&host, errors);
        }
        let secret = tls.txt("secretName");
        if !secret.text().is_empty() {
            errors.each(&secret, name::subdomain(secret.text()));
        }
    }
    let class = spec.get("ingressClassName");
    if class.is_set() {
        errors.each(&class, name::subdomain(class.text()));
    }
}

fn host_name(at: &At, errors: &mut Errors) {
    match at.text().contains('*') {
        true => errors.each(at, name::wildcard(at.text())),
        false => errors.each(at, name::subdomain(at.text())),
    }
}

fn rule(at: &At, errors: &mut Errors) {
    let host = at.txt("host");
    if !host.text().is_empty() {
        if address::parse(host.text()).is_some() {
            errors.invalid(&host, "must be a DNS name, not an IP address");
        }
        host_name(&host, errors);
    }
    let http = at.get("http");
    if !http.is_set() {
        return;
    }
    let paths = http.get("paths");
    if paths.is_empty() {
        errors.required(&paths, "");
    }
    for path in paths.items() {
        self::path(&path, errors);
    }
}

fn path(at: &At, errors: &mut Errors) {
    let (kind, path) = (at.get("pathType"), at.txt("path"));
    if !kind.is_set() {
        errors.required(&kind, "pathType must be specified");
        return;
    }
    let absolute = path.text().starts_with('/');
    match kind.text() {
        "Exact" | "Prefix" => {
            if !absolute {
                errors.invalid(&path, "must be an absolute path");
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if path.text().contains(part) {
                    errors.invalid(&path, format!("must not contain '{part}'"));
                }
            }
            for end in ["/..", "/."] {
                if path.text().ends_with(end) {
                    errors.invalid(&path, format!("cannot end with '{end}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !path.text().is_empty() && !absolute {
                errors.invalid(&path, "must be an absolute path");
            }
        }
        _ => errors.not_supported(&kind, &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    backend(&at.get("backend"), errors);
}

fn backend(at: &At, errors: &mut Errors) {
    let (resource, service) = (at.get("resource"), at.get("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => errors.invalid_value(at, "", "cannot set both resource and service backends"),
        (true, false) => reference(&resource, errors),
        (false, true) => service_backend(at, &service, errors),
        (false, false) => errors.invalid_value(at, "", "resource or service backend is required"),
    }
}

fn service_backend(at: &At, service: &At, errors: &mut Errors) {
    let name_at = service.txt("name");
    if errors.require_text(&name_at) {
        errors.each(&name_at, name::label_1035(name_at.text()));
    }
    let port_at = service.get("port");
    let (port_text, number) = (port_at.txt("name"), port_at.num("number"));
    match (!port_text.text().is_empty(), number.int() != 0) {
        (true, true) => errors.invalid_value(at, "", "cannot set both port name & port number"),
        (true, false) => errors.each(&port_text, port_name(port_text.text())),
        (false, true) => port::number(&number, errors),
        (false, false) => errors.required(at, "port name or number is required"),
    }
}

/// A changed status.
pub(in super::super) fn ingress_status(object: &At, _old: &At, errors: &mut Errors) {
    balancer_status(
        &object.deep("status.loadBalancer.ingress"),
        Modes::Unknown,
        errors,
    );
}
