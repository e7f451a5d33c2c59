//! `certificates.k8s.io`: requests for certificates.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::at::At;
use super::errors::Errors;
use super::name;

const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// A new request.
///
/// **Deviation**: of the request itself only the PEM block is looked at, not what is signed in it; nor are certificates
/// in the status.
pub(super) fn request(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let pem = spec.txt("request");
    let text = STANDARD.decode(pem.text()).unwrap_or_default();
    if !is_request(&String::from_utf8_lossy(&text)) {
        errors.invalid(&pem, "PEM block type must be CERTIFICATE REQUEST");
    }
    let usages = spec.get("usages");
    if usages.is_empty() {
        errors.required(&usages, "");
    }
    for usage in usages.items() {
        errors.one_of_if_set(&usage, &USAGES);
    }
    let mut seen = HashSet::new();
    for usage in usages.items() {
        if !seen.insert(usage.text()) {
            errors.duplicate(&usage);
        }
    }
    let signer = spec.txt("signerName");
    match signer.text() {
        "kubernetes.io/legacy-unknown" => {
            let detail = "the legacy signerName is not allowed via this API version";
            errors.invalid(&signer, detail);
        }
        _ => signer_name(&signer, errors),
    }
    let seconds = spec.get("expirationSeconds");
    if seconds.is_set() && seconds.int() < 600 {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.invalid(&seconds, detail);
    }
    conditions(&object.deep("status.conditions"), errors);
}

fn is_request(pem: &str) -> bool {
    let first = pem.lines().find(|line| line.starts_with("-----BEGIN "));
    first.map(str::trim_end) == Some("-----BEGIN CERTIFICATE REQUEST-----")
        && pem.contains("-----END CERTIFICATE REQUEST-----")
}

fn conditions(at: &At, errors: &mut Errors) {
    let mut kinds = HashSet::new();
    let (mut approved, mut denied) = (false, false);
    for one in at.items() {
        let (kind, status) = (one.txt("type"), one.txt("status"));
        errors.require_text(&kind);
        match kind.text() {
            "Approved" | "Denied" | "Failed" => errors.one_of(&status, &["True"]),
            _ => errors.one_of(&status, &["False", "True", "Unknown"]),
        }
        approved |= kind.text() == "Approved";
        denied |= kind.text() == "Denied";
        if approved && denied && matches!(kind.text(), "Approved" | "Denied") {
            let detail = "Approved and Denied conditions are mutually exclusive";
            errors.invalid(&at.with(kind.value()), detail);
        }
        if !kinds.insert(kind.text()) {
            errors.duplicate(&kind);
        }
    }
}

/// A changed request, or its status. Conditions that decide are set through the subresource for approval.
pub(super) fn request_update(object: &At, old: &At, errors: &mut Errors) {
    request(object, errors);
    let (at, before) = (object.deep("status.conditions"), old.deep("status.conditions"));
    let count = |list: &At, kind: &str| list.items().filter(|one| one.text_of("type") == kind).count();
    for kind in ["Approved", "Denied", "Failed"] {
        if count(&at, kind) < count(&before, kind) {
            errors.forbidden(
                &at,
                format!("updates may not remove a condition of type {kind:?}"),
            );
        }
    }
}

/// The name of a signer: `example.com/signer-name`.
pub(super) fn signer_name(at: &At, errors: &mut Errors) {
    if !errors.require_text(at) {
        return;
    }
    let parts: Vec<&str> = at.text().splitn(3, '/').collect();
    let [domain, path] = parts.as_slice() else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.invalid(at, detail);
        return;
    };
    if domain.len() > 253 {
        errors.too_long(at, 253);
    }
    labels(at, domain, name::label, errors);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.invalid_value(at, *domain, detail);
    }
    labels(at, path, name::subdomain, errors);
    if at.text().len() > 253 + 317 + 1 {
        errors.too_long(at, 253 + 317 + 1);
    }
}

/// The first part between dots that is wrong.
fn labels(at: &At, text: &str, check: fn(&str) -> Vec<String>, errors: &mut Errors) {
    let checked = text.split('.').map(|label| (label, check(label)));
    if let Some((label, problems)) = checked.into_iter().find(|(_, problems)| !problems.is_empty()) {
        for problem in problems {
            errors.invalid_value(at, text, format!("validating label {label:?}: {problem}"));
        }
    }
}

/// What is wrong with the name of a trust bundle, which starts with the name of its signer.
pub(super) fn bundle_name_problems(text: &str) -> Vec<String> {
    match text.rsplit_once(':') {
        None => name::subdomain(text),
        Some((_, own)) => name::subdomain(own),
    }
}
