//! How an object is doing, in a few words.

use model::Value;

/// How an object is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// On its way.
    Progressing,
    /// As it shall be.
    Ready,
    /// It will not get there by itself.
    Failed,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            State::Progressing => "progressing",
            State::Ready => "ready",
            State::Failed => "failed",
        }
    }
}

/// The state of a live object and why it is so.
pub(super) fn of(object: &Value) -> (State, String) {
    if object.at(&["metadata", "deletionTimestamp"]).is_some() {
        return (State::Progressing, "being deleted".into());
    }
    let group = object
        .str_at(&["apiVersion"])
        .split_once('/')
        .map_or("", |(group, _)| group);
    match (group, object.str_at(&["kind"])) {
        ("apps", "Deployment") => deployment(object),
        ("apps", "StatefulSet") => replicas(object, "readyReplicas"),
        ("apps", "ReplicaSet") => replicas(object, "availableReplicas"),
        ("apps", "DaemonSet") => daemon_set(object),
        ("batch", "Job") => job(object),
        ("", "Pod") => pod(object),
        ("", "PersistentVolumeClaim") => phase(object, "Bound"),
        ("", "Namespace") => phase(object, "Active"),
        ("", "Service") => service(object),
        _ => conditions(object),
    }
}

fn number(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_i64).unwrap_or(0)
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<(&'a str, &'a str)> {
    let list = object.list_at(&["status", "conditions"]).iter();
    let found = list
        .into_iter()
        .find(|condition| condition.str_at(&["type"]) == kind)?;
    Some((found.str_at(&["status"]), found.str_at(&["message"])))
}

fn observed(object: &Value) -> bool {
    number(object, &["status", "observedGeneration"]) >= number(object, &["metadata", "generation"])
}

fn deployment(object: &Value) -> (State, String) {
    let failed = object
        .list_at(&["status", "conditions"])
        .iter()
        .find(|condition| {
            condition.str_at(&["type"]) == "Progressing"
                && condition.str_at(&["reason"]) == "ProgressDeadlineExceeded"
        });
    if let Some(failed) = failed {
        return (State::Failed, failed.str_at(&["message"]).to_owned());
    }
    let wanted = number(object, &["spec", "replicas"]);
    let (updated, available) = (
        number(object, &["status", "updatedReplicas"]),
        number(object, &["status", "availableReplicas"]),
    );
    // Neither pods of an older template nor surplus ones are left.
    let all = number(object, &["status", "replicas"]);
    let done = observed(object) && updated >= wanted && available >= wanted && all <= wanted;
    (
        if done { State::Ready } else { State::Progressing },
        format!("{available}/{wanted} available"),
    )
}

fn replicas(object: &Value, field: &str) -> (State, String) {
    let (wanted, have) = (
        number(object, &["spec", "replicas"]),
        number(object, &["status", field]),
    );
    let done = observed(object) && have >= wanted;
    (
        if done { State::Ready } else { State::Progressing },
        format!("{have}/{wanted} ready"),
    )
}

fn daemon_set(object: &Value) -> (State, String) {
    let wanted = number(object, &["status", "desiredNumberScheduled"]);
    let have = number(object, &["status", "numberAvailable"]);
    let done = observed(object) && have >= wanted;
    (
        if done { State::Ready } else { State::Progressing },
        format!("{have}/{wanted} available"),
    )
}

fn job(object: &Value) -> (State, String) {
    if let Some(("True", message)) = condition(object, "Failed") {
        return (State::Failed, message.to_owned());
    }
    if let Some(("True", _)) = condition(object, "Complete") {
        return (State::Ready, "complete".into());
    }
    (
        State::Progressing,
        format!("{} active", number(object, &["status", "active"])),
    )
}

fn pod(object: &Value) -> (State, String) {
    let phase = object.str_at(&["status", "phase"]);
    let ready = matches!(condition(object, "Ready"), Some(("True", _)));
    match phase {
        "Succeeded" => (State::Ready, phase.to_owned()),
        "Failed" => (State::Failed, phase.to_owned()),
        _ if ready => (State::Ready, phase.to_owned()),
        _ => (State::Progressing, phase.to_owned()),
    }
}

fn phase(object: &Value, wanted: &str) -> (State, String) {
    let phase = object.str_at(&["status", "phase"]);
    (
        if phase == wanted {
            State::Ready
        } else {
            State::Progressing
        },
        phase.to_owned(),
    )
}

fn service(object: &Value) -> (State, String) {
    if object.str_at(&["spec", "type"]) != "LoadBalancer" {
        return (State::Ready, String::new());
    }
    match object.list_at(&["status", "loadBalancer", "ingress"]).first() {
        Some(ingress) => (
            State::Ready,
            format!("{}{}", ingress.str_at(&["ip"]), ingress.str_at(&["hostname"])),
        ),
        None => (State::Progressing, "waits for an address".into()),
    }
}

/// What most custom resources tell: a condition `Ready` or `Established`.
fn conditions(object: &Value) -> (State, String) {
    match condition(object, "Ready").or_else(|| condition(object, "Established")) {
        None | Some(("True", _)) => (State::Ready, String::new()),
        Some((_, message)) => (State::Progressing, message.to_owned()),
    }
}
