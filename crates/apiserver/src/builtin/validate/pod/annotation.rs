//! Annotations of pods that say what fields say by now.

use model::Value;

use super::super::at::At;
use super::super::errors::Errors;
use super::{each_container, path};

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Annotations that mean something to the server.
///
/// **Deviation**: tolerations in `scheduler.alpha.kubernetes.io/tolerations` are not looked at.
pub(super) fn annotations(at: &At, spec: &At, errors: &mut Errors) {
    if at.is_empty() {
        return;
    }
    let mirror = at.key(MIRROR);
    if mirror.is_set() && spec.text_of("nodeName").is_empty() {
        errors.invalid(&mirror, "must set spec.nodeName if mirror pod annotation is set");
    }
    let cost = at.key(DELETION_COST);
    if cost.is_set() && !is_cost(cost.text()) {
        errors.invalid(&cost, "must be a 32bit integer");
    }
    for (key, note) in at.entries() {
        if key == SECCOMP || key.starts_with(SECCOMP_CONTAINER) {
            // The real server writes a dot in place of brackets here.
            seccomp(&at.get(key), errors);
        }
        if let Some(container) = key.strip_prefix(APP_ARMOR) {
            if !has_container(spec, container) {
                errors.invalid_value(&note, container, "container not found");
            }
            let profile = note.text();
            let known = matches!(profile, "" | "runtime/default" | "unconfined");
            if !known && !profile.starts_with("localhost/") {
                errors.invalid(&note, format!("invalid AppArmor profile name: {profile:?}"));
            }
        }
    }
}

fn is_cost(text: &str) -> bool {
    let first = text.starts_with(|c: char| c == '-' || ('1'..='9').contains(&c)) || text == "0";
    first && text.parse::<i32>().is_ok()
}

fn has_container(spec: &At, name: &str) -> bool {
    let mut found = false;
    each_container(spec, &mut |container| found |= container.text_of("name") == name);
    found
}

fn seccomp(at: &At, errors: &mut Errors) {
    match at.text() {
        "runtime/default" | "docker/default" | "unconfined" => {}
        text => match text.strip_prefix("localhost/") {
            Some(file) => path::local(&at.with(&Value::str(file)), errors),
            None => errors.invalid(at, "must be a valid seccomp profile"),
        },
    }
}

/// Annotations and fields for the same thing say the same.
pub(super) fn match_fields(at: &At, spec: &At, errors: &mut Errors) {
    if at.is_empty() {
        return;
    }
    let context = spec.get("securityContext");
    same(
        &at.key(SECCOMP),
        &context.get("seccompProfile"),
        "seccomp",
        errors,
    );
    each_container(spec, &mut |container| {
        let key = format!("{SECCOMP_CONTAINER}{}", container.text_of("name"));
        let own = container.get("securityContext");
        same(&at.key(&key), &own.get("seccompProfile"), "seccomp", errors);
    });
    if spec.get("os").text_of("name") == "windows" {
        return;
    }
    let pod_profile = context.get("appArmorProfile");
    each_container(spec, &mut |container| {
        let key = format!("{APP_ARMOR}{}", container.text_of("name"));
        let own = container.get("securityContext");
        let own = own.get("appArmorProfile");
        let profile = if own.is_set() {
            own
        } else {
            own.with(pod_profile.value())
        };
        same(&at.key(&key), &profile, "apparmor", errors);
    });
}

fn same(note: &At, profile: &At, what: &str, errors: &mut Errors) {
    if !note.is_set() || !profile.is_set() {
        return;
    }
    let told = note.text();
    let right = match profile.text_of("type") {
        "Unconfined" => told == "unconfined",
        "RuntimeDefault" => told == "runtime/default" || (what == "seccomp" && told == "docker/default"),
        "Localhost" => told.starts_with("localhost/"),
        _ => return,
    };
    if !right {
        let detail = format!("{what} type in annotation and field must match");
        errors.forbidden(&profile.get("type"), detail);
    } else if profile.text_of("type") == "Localhost"
        && told.strip_prefix("localhost/") != Some(profile.text_of("localhostProfile"))
    {
        let detail = format!("{what} profile in annotation and field must match");
        errors.forbidden(&profile.get("localhostProfile"), detail);
    }
}

/// Annotations that cannot change.
pub(super) fn update(at: &At, old: &At, errors: &mut Errors) {
    let fixed = |key: &str| {
        if key.starts_with(APP_ARMOR) {
            return Some("AppArmor annotations");
        }
        (key == MIRROR).then_some("mirror pod annotation")
    };
    for (key, before) in old.entries() {
        if let Some(what) = fixed(key)
            && at.key(key).value() != before.value()
        {
            errors.forbidden(&at.key(key), format!("may not remove or update {what}"));
        }
    }
    for (key, note) in at.entries() {
        if let Some(what) = fixed(key)
            && !old.has(key)
        {
            errors.forbidden(&note, format!("may not add {what}"));
        }
    }
}
