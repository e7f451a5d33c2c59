//! Pods: ready if they are to run on, succeeded if they are to end. Containers that do not come up are a failure only of
//! pods that run on: a hook whose image comes late has not failed.

use model::health::State;
use model::{Health, Value};

use super::super::object::{Object, degraded};

/// Has a pod that is to end judged as if it were to run on.
const IGNORE_RESTART_POLICY: &str = "argocd.argoproj.io/ignore-restart-policy";

pub(super) fn assess(object: Object<'_>) -> Health {
    let message = object.text(&["status", "message"]);
    let runs_on = object.text(&["spec", "restartPolicy"]) == "Always";
    if runs_on || is_judged_as_running_on(object) {
        let waiting = containers(object, "containerStatuses").filter(|one| is_broken(waiting_reason(one)));
        let messages: Vec<&str> = waiting
            .map(|one| one.str_at(&["state", "waiting", "message"]))
            .collect();
        if !messages.is_empty() {
            return degraded(messages.join(", "));
        }
    }
    let state = match object.text(&["status", "phase"]) {
        "Pending" => State::Progressing,
        "Succeeded" => State::Healthy,
        "Failed" if message.is_empty() => return degraded(failure(object).unwrap_or_default()),
        "Failed" => State::Degraded,
        "Running" => match object.text(&["spec", "restartPolicy"]) {
            "Always" => running(object),
            "OnFailure" | "Never" => State::Progressing,
            _ => State::Unknown,
        },
        _ => State::Unknown,
    };
    Health::because(state, message)
}

fn running(object: Object<'_>) -> State {
    let is_ready = object
        .condition("Ready")
        .is_some_and(|condition| condition.is_true());
    let has_ended = |one: &Value| {
        one.at(&["lastState", "terminated"])
            .is_some_and(|last| !last.is_null())
    };
    match (is_ready, containers(object, "containerStatuses").any(has_ended)) {
        (true, _) => State::Healthy,
        (false, true) => State::Degraded,
        (false, false) => State::Progressing,
    }
}

fn is_judged_as_running_on(object: Object<'_>) -> bool {
    let annotations = object.0.at(&["metadata", "annotations"]);
    let annotation = |name: &str| annotations.and_then(|all| all.get(name)).and_then(Value::as_str);
    let is_hook = annotation("argocd.argoproj.io/hook").is_some() || annotation("helm.sh/hook").is_some();
    annotation(IGNORE_RESTART_POLICY) == Some("true") && !is_hook
}

fn containers<'o>(object: Object<'o>, list: &str) -> impl Iterator<Item = &'o Value> {
    object.list(&["status", list]).iter()
}

fn waiting_reason(container: &Value) -> &str {
    container.str_at(&["state", "waiting", "reason"])
}

fn is_broken(reason: &str) -> bool {
    reason.starts_with("Err") || reason.ends_with("Error") || reason.ends_with("BackOff")
}

/// Why the first container that failed did.
fn failure(object: Object<'_>) -> Option<String> {
    let first = containers(object, "initContainerStatuses");
    let mut all = first.chain(containers(object, "containerStatuses"));
    all.find_map(|container| {
        let ended = container.at(&["state", "terminated"])?;
        let code = ended.get("exitCode").and_then(Value::as_i64).unwrap_or_default();
        match (ended.str_at(&["message"]), ended.str_at(&["reason"]), code) {
            ("", "OOMKilled", _) => Some("OOMKilled".to_owned()),
            ("", _, 0) => None,
            ("", _, code) => Some(format!(
                "container {} failed with exit code {code}",
                model::quote::quote(container.str_at(&["name"]))
            )),
            (message, ..) => Some(message.to_owned()),
        }
    })
}
