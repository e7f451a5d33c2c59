//! `admissionregistration.k8s.io`: webhooks that are asked about requests.

use std::collections::HashSet;

use super::at::At;
use super::errors::Errors;
use super::match_rule::{conditions, rule_with_operations};
use super::name;
use super::selector::selector;
use super::text::port_number;

/// A configuration of webhooks that check objects.
pub(super) fn validating(object: &At, errors: &mut Errors) {
    hooks(object, Changes::No, errors);
}

/// A configuration of webhooks that change objects.
pub(super) fn mutating(object: &At, errors: &mut Errors) {
    hooks(object, Changes::Yes, errors);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Changes {
    Yes,
    No,
}

fn hooks(object: &At, changes: Changes, errors: &mut Errors) {
    let mut names = HashSet::new();
    for hook in object.get("webhooks").items() {
        one(&hook, changes, errors);
        review_versions(&hook.get("admissionReviewVersions"), errors);
        let name_at = hook.txt("name");
        if !name_at.text().is_empty() && !names.insert(name_at.text()) {
            errors.duplicate(&name_at);
        }
    }
}

fn one(hook: &At, changes: Changes, errors: &mut Errors) {
    full_name(&hook.txt("name"), errors);
    for rule in hook.get("rules").items() {
        rule_with_operations(&rule, errors);
    }
    errors.one_of_if_set(&hook.get("failurePolicy"), &["Fail", "Ignore"]);
    errors.one_of_if_set(&hook.get("matchPolicy"), &["Equivalent", "Exact"]);
    let effects = hook.get("sideEffects");
    if !effects.is_set() {
        errors.required(&effects, "must specify one of None, NoneOnDryRun");
    }
    errors.one_of_if_set(&effects, &["None", "NoneOnDryRun"]);
    let timeout = hook.get("timeoutSeconds");
    if timeout.is_set() && !(1..=30).contains(&timeout.int()) {
        errors.invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
    }
    selector(&hook.get("namespaceSelector"), errors);
    selector(&hook.get("objectSelector"), errors);
    if changes == Changes::Yes {
        errors.one_of_if_set(&hook.get("reinvocationPolicy"), &["IfNeeded", "Never"]);
    }
    client(&hook.get("clientConfig"), errors);
    conditions(&hook.get("matchConditions"), errors);
}

/// A name with at least two dots.
fn full_name(at: &At, errors: &mut Errors) {
    if !errors.require_text(at) {
        return;
    }
    let problems = name::subdomain(at.text());
    if !problems.is_empty() {
        errors.invalid(at, problems.join(","));
    } else if at.text().split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.invalid(at, detail);
    }
}

fn review_versions(at: &At, errors: &mut Errors) {
    if at.is_empty() {
        errors.required(at, "must specify one of v1, v1beta1");
        return;
    }
    let mut seen = HashSet::new();
    for version in at.items() {
        match seen.insert(version.text()) {
            false => errors.invalid(&version, "duplicate version"),
            true => errors.each(&version, name::label_1035(version.text())),
        }
    }
    if !seen.contains("v1") && !seen.contains("v1beta1") {
        errors.invalid(at, "must include at least one of v1, v1beta1");
    }
}

fn client(at: &At, errors: &mut Errors) {
    let (url, service) = (at.get("url"), at.get("service"));
    match (url.is_set(), service.is_set()) {
        (true, false) => self::url(&url, errors),
        (false, true) => self::service(&service, errors),
        _ => errors.required(at, "exactly one of url or service is required"),
    }
}

/// **Deviation**: addresses that Go cannot read at all are told in fewer words than Go's.
fn url(at: &At, errors: &mut Errors) {
    const FORM: &str = "; desired format: https://host[/path]";
    let parts = Parts::of(at.text());
    if parts.scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.invalid_value(at, parts.scheme.to_lowercase(), detail);
    }
    if parts.host.is_empty() {
        errors.invalid_value(at, "", format!("host must be specified{FORM}"));
    }
    for (part, detail) in [
        (parts.user, "user information is not permitted in the URL"),
        (parts.fragment, "fragments are not permitted in the URL"),
        (parts.query, "query parameters are not permitted in the URL"),
    ] {
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            errors.invalid_value(at, part, detail);
        }
    }
}

/// The parts of an address.
struct Parts<'t> {
    scheme: &'t str,
    user: Option<&'t str>,
    host: &'t str,
    query: Option<&'t str>,
    fragment: Option<&'t str>,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Self {
        let (rest, fragment) = cut(text, '#');
        let scheme_end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
        let (scheme, rest) = match scheme_end {
            Some(end)
                if rest[end..].starts_with(':') && rest.starts_with(|c: char| c.is_ascii_alphabetic()) =>
            {
                (&rest[..end], &rest[end + 1..])
            }
            _ => ("", rest),
        };
        let (rest, query) = cut(rest, '?');
        let authority = rest
            .strip_prefix("//")
            .map(|rest| rest.split('/').next().unwrap_or_default());
        let (user, host) = match authority.unwrap_or_default().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.unwrap_or_default()),
        };
        Parts {
            scheme,
            user,
            host,
            query,
            fragment,
        }
    }
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    match text.split_once(at) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn service(at: &At, errors: &mut Errors) {
    // The real server mixes the two up, which shows only in the order.
    for field in ["namespace", "name"] {
        let part = at.txt(field);
        if part.text().is_empty() {
            let other = if field == "name" { "namespace" } else { "name" };
            errors.required(&at.txt(other), "");
        }
    }
    let port = at.get("port");
    if port.is_set()
        && let Some(problem) = port_number(port.int())
    {
        errors.invalid(&port, format!("port is not valid: {problem}"));
    }
    path(&at.get("path"), errors);
}

fn path(at: &At, errors: &mut Errors) {
    let text = at.text();
    if matches!(text, "" | "/") {
        return;
    }
    if text == "//" {
        errors.invalid(at, "segment[0] may not be empty");
        return;
    }
    if !text.starts_with('/') {
        errors.invalid(at, "must start with a '/'");
    }
    let rest = text.get(1..).unwrap_or_default();
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    for (index, step) in rest.split('/').enumerate() {
        if step.is_empty() {
            errors.invalid(at, format!("segment[{index}] may not be empty"));
            continue;
        }
        for problem in name::subdomain(step) {
            errors.invalid(at, format!("segment[{index}]: {problem}"));
        }
    }
}
