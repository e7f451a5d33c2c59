//! `flowcontrol.apiserver.k8s.io`: which requests wait.
//!
//! **Deviation**: the objects that every cluster has (`exempt`, `catch-all`) may be changed.

use std::collections::HashSet;

use super::at::At;
use super::errors::Errors;
use super::name;

/// A flow schema.
pub(super) fn flow_schema(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let precedence = spec.num("matchingPrecedence");
    if precedence.int() <= 0 {
        errors.invalid(&precedence, "must be a positive value");
    }
    if precedence.int() > 10_000 {
        errors.invalid(&precedence, "must not be greater than 10000");
    }
    if precedence.int() == 1 && object.deep("metadata.name").text() != "exempt" {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        errors.invalid(&precedence, detail);
    }
    let method = spec.get("distinguisherMethod");
    if method.is_set() && !matches!(method.text_of("type"), "ByNamespace" | "ByUser") {
        let at = method.get("type");
        let ty = "flowcontrol.FlowDistinguisherMethod";
        errors.not_supported_as(&at.with(method.value()), ty, &["ByNamespace", "ByUser"]);
    }
    let level = spec.get("priorityLevelConfiguration");
    let level = level.txt("name");
    match level.text() {
        "" => errors.required(&level, "must reference a priority level"),
        text => errors.each(&level, name::subdomain(text)),
    }
    for rule in spec.get("rules").items() {
        self::rule(&rule, errors);
    }
    conditions(object, errors);
}

fn rule(at: &At, errors: &mut Errors) {
    let subjects = at.get("subjects");
    if subjects.is_empty() {
        errors.required(&subjects, "subjects must contain at least one value");
    }
    for one in subjects.items() {
        subject(&one, errors);
    }
    let (resources, urls) = (at.get("resourceRules"), at.get("nonResourceRules"));
    if resources.is_empty() && urls.is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.required(at, detail);
    }
    for one in resources.items() {
        resource_rule(&one, errors);
    }
    for one in urls.items() {
        url_rule(&one, errors);
    }
}

fn subject(at: &At, errors: &mut Errors) {
    const KINDS: [(&str, &str); 3] = [
        ("Group", "group"),
        ("ServiceAccount", "serviceAccount"),
        ("User", "user"),
    ];
    let kind = at.txt("kind");
    let Some((own_kind, own)) = KINDS.iter().find(|(name, _)| *name == kind.text()) else {
        errors.not_supported(&kind, &["Group", "ServiceAccount", "User"]);
        return;
    };
    let part = at.get(own);
    let name_at = part.txt("name");
    if !part.is_set() {
        errors.required(
            &part,
            format!("{own} is required when subject kind is '{own_kind}'"),
        );
    } else {
        let named = errors.require_text(&name_at);
        if *own_kind == "ServiceAccount" {
            if named && name_at.text() != "*" {
                errors.each(&name_at, name::subdomain(name_at.text()));
            }
            let namespace = part.txt("namespace");
            match namespace.text() {
                "" => errors.required(&namespace, "must specify namespace for service account"),
                text => errors.each(&namespace, name::label(text)),
            }
        }
    }
    for (other_kind, other) in [
        ("ServiceAccount", "serviceAccount"),
        ("User", "user"),
        ("Group", "group"),
    ] {
        if other != *own && at.has(other) {
            let detail = format!("{other} is forbidden when subject kind is not '{other_kind}'");
            errors.forbidden(&at.get(other), detail);
        }
    }
}

const VERBS: [&str; 9] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];

fn has_all(at: &At) -> bool {
    at.texts().any(|one| one == "*")
}

fn alone(at: &At, what: &str, errors: &mut Errors) {
    if at.len() > 1 && has_all(at) {
        errors.invalid(at, format!("if '*' is present, must not specify other {what}"));
    }
}

fn verbs(at: &At, errors: &mut Errors) {
    if at.is_empty() {
        errors.required(at, "verbs must contain at least one value");
    } else if has_all(at) {
        alone(at, "verbs", errors);
    } else if at.texts().any(|verb| !VERBS.contains(&verb)) {
        errors.not_supported(at, &VERBS);
    }
}

fn resource_rule(at: &At, errors: &mut Errors) {
    verbs(&at.get("verbs"), errors);
    for (field, missing, what) in [
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ] {
        let list = at.get(field);
        if list.is_empty() {
            errors.required(
                &list,
                format!("resource rules must supply at least one {missing}"),
            );
        }
        alone(&list, what, errors);
    }
    let namespaces = at.get("namespaces");
    if namespaces.is_empty() && !at.flag_of("clusterScope") {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        errors.required(&namespaces, detail);
    } else if has_all(&namespaces) {
        alone(&namespaces, "namespaces", errors);
    } else {
        for one in namespaces.items() {
            for problem in name::label(one.text()) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {problem}");
                errors.invalid(&one, detail);
            }
        }
    }
}

fn url_rule(at: &At, errors: &mut Errors) {
    verbs(&at.get("verbs"), errors);
    let urls = at.get("nonResourceURLs");
    if urls.is_empty() {
        errors.required(&urls, "nonResourceURLs must contain at least one value");
    } else if has_all(&urls) {
        alone(&urls, "non-resource URLs", errors);
    } else {
        for one in urls.items() {
            if let Some(problem) = url_problem(one.text()) {
                errors.invalid(&one, problem);
            }
        }
    }
}

fn url_problem(path: &str) -> Option<&'static str> {
    let stars = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !path.starts_with('/') => Some("must start with slash"),
        _ if path.contains(' ') => Some("must not contain white-space"),
        _ if path.contains("//") => Some("must not contain double slash"),
        _ if stars > 1 || (stars == 1 && !path.ends_with("/*")) => {
            Some("wildcard can only do suffix matching")
        }
        _ => None,
    }
}

fn conditions(object: &At, errors: &mut Errors) {
    let mut kinds = HashSet::new();
    for one in object.deep("status.conditions").items() {
        let kind = one.txt("type");
        if !kinds.insert(kind.text()) {
            errors.duplicate(&kind);
        }
        errors.require_text(&kind);
    }
}

/// A changed status of either kind.
pub(super) fn status(object: &At, _old: &At, errors: &mut Errors) {
    conditions(object, errors);
}

/// A priority level.
pub(super) fn priority_level(object: &At, errors: &mut Errors) {
    let spec = object.get("spec");
    let kind = spec.txt("type");
    if (object.deep("metadata.name").text() == "exempt") != (kind.text() == "Exempt") {
        errors.invalid(&kind, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    let (limited, exempt) = (spec.get("limited"), spec.get("exempt"));
    match kind.text() {
        "Exempt" => {
            if limited.is_set() {
                errors.forbidden(&limited, "must be nil if the type is not Limited");
            }
            shares(&exempt, errors);
            percent(&exempt, errors);
        }
        "Limited" => {
            if exempt.is_set() {
                errors.forbidden(&exempt, "must be nil if the type is Limited");
            }
            match limited.is_set() {
                false => errors.required(&limited, "must not be empty when type is Limited"),
                true => self::limited(&limited, errors),
            }
        }
        _ => errors.not_supported(&kind, &["Exempt", "Limited"]),
    }
    conditions(object, errors);
}

fn shares(at: &At, errors: &mut Errors) {
    let shares = at.num("nominalConcurrencyShares");
    if shares.int() < 0 {
        errors.invalid(&shares, "must be a non-negative integer");
    }
}

fn percent(at: &At, errors: &mut Errors) {
    let percent = at.num("lendablePercent");
    if !(0..=100).contains(&percent.int()) {
        errors.invalid(&percent, "must be between 0 and 100, inclusive");
    }
}

fn limited(at: &At, errors: &mut Errors) {
    shares(at, errors);
    let response = at.get("limitResponse");
    let (kind, queuing) = (response.txt("type"), response.get("queuing"));
    match kind.text() {
        "Reject" => {
            if queuing.is_set() {
                let detail = "must be nil if limited.limitResponse.type is not Limited";
                errors.forbidden(&queuing, detail);
            }
        }
        "Queue" => match queuing.is_set() {
            false => {
                let detail = "must not be empty if limited.limitResponse.type is Limited";
                errors.required(&queuing, detail);
            }
            true => self::queuing(&queuing, errors),
        },
        _ => errors.not_supported(&kind, &["Queue", "Reject"]),
    }
    percent(at, errors);
    let borrowed = at.num("borrowingLimitPercent");
    if borrowed.int() < 0 {
        errors.invalid(&borrowed, "if specified, must be a non-negative integer");
    }
}

fn queuing(at: &At, errors: &mut Errors) {
    const MOST: i64 = 10_000_000;
    const BITS: f64 = 60.0;
    let (length, queues, hand) = (at.num("queueLengthLimit"), at.num("queues"), at.num("handSize"));
    if length.int() <= 0 {
        errors.invalid(&length, "must be positive");
    }
    if queues.int() <= 0 {
        errors.invalid(&queues, "must be positive");
    } else if queues.int() > MOST {
        errors.invalid(&queues, format!("must not be greater than {MOST}"));
    }
    let (count, size) = (queues.int(), hand.int());
    if size <= 0 {
        errors.invalid(&hand, "must be positive");
    } else if size > count {
        errors.invalid(&hand, format!("should not be greater than queues ({count})"));
    } else if ((count as f64).log2() * size as f64).ceil() > BITS {
        let detail = format!(
            "required entropy bits of deckSize {count} and handSize {size} should not be greater than {BITS}"
        );
        errors.invalid(&hand, detail);
    }
}
