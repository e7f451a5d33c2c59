//! What the status of a pod says in each stage of its life, as a kubelet writes it.

use model::{Value, value};

use super::generation;
use crate::simulator::node::ADDRESS;
use crate::simulator::outcome::{self, Outcome};
use crate::simulator::{condition, hash, step};

/// The lists of containers and of their statuses.
const MAIN: (&str, &str) = ("containers", "containerStatuses");
const INIT: (&str, &str) = ("initContainers", "initContainerStatuses");

/// A pod that is placed and whose containers are being made.
pub(super) fn creating(pod: &mut Value, now: &str) {
    let has_init = !pod.list_at(&["spec", INIT.0]).is_empty();
    let reason = if has_init {
        "PodInitializing"
    } else {
        "ContainerCreating"
    };
    let waiting = value!({"waiting": {"reason": reason}});
    begin(pod, now, "Pending");
    set_containers(pod, MAIN, |container| {
        status_of(container, &waiting, Value::object(), false, 0)
    });
    set_containers(pod, INIT, |container| {
        status_of(container, &waiting, Value::object(), false, 0)
    });
    let initialized = if has_init { "False" } else { "True" };
    let uninitialized = if has_init { "ContainersNotInitialized" } else { "" };
    set_condition(pod, now, "PodReadyToStartContainers", "False", "", "");
    set_condition(pod, now, "Initialized", initialized, uninitialized, "");
    set_unready(pod, now, "ContainersNotReady", &unready_message(pod));
    finish(pod);
}

/// A pod whose images cannot be pulled.
pub(super) fn unpulled(pod: &mut Value, now: &str) {
    waiting(pod, now, "ImagePullBackOff", |container| {
        format!(
            "Back-off pulling image \"{0}\": ErrImagePull: simulated: {0}: not found",
            container.str_at(&["image"])
        )
    });
}

/// A pod that is not started because nobody knows how it shall turn out.
pub(super) fn refused(pod: &mut Value, now: &str) {
    let message = outcome::unknown_message(pod);
    waiting(pod, now, outcome::UNKNOWN, |_| message.clone());
}

/// A pod whose containers wait; `message` says of each one why.
fn waiting(pod: &mut Value, now: &str, reason: &str, message: impl Fn(&Value) -> String) {
    begin(pod, now, "Pending");
    set_containers(pod, MAIN, |container| {
        let waiting = value!({"waiting": {"reason": reason, "message": (message(container))}});
        status_of(container, &waiting, Value::object(), false, 0)
    });
    set_init_containers_done(pod, now);
    set_condition(pod, now, "PodReadyToStartContainers", "True", "", "");
    set_condition(pod, now, "Initialized", "True", "", "");
    set_unready(pod, now, "ContainersNotReady", &unready_message(pod));
    finish(pod);
}

/// A pod whose containers were started: they run well, crash, or do not become ready.
pub(super) fn running(pod: &mut Value, now: &str, outcome: Outcome, restarts: i64) {
    begin(pod, now, "Running");
    let name = full_name(pod);
    let crashed = outcome == Outcome::Crash;
    let before = std::mem::take(pod.make_object().entry("status").make_object().entry(MAIN.1));
    set_containers(pod, MAIN, |container| {
        let own = container.str_at(&["name"]);
        let old = before
            .as_array()
            .and_then(|all| all.iter().find(|old| old.str_at(&["name"]) == own));
        let failed =
            value!({"terminated": {"exitCode": 1, "reason": "Error", "startedAt": now, "finishedAt": now}});
        if crashed {
            let message = format!("back-off restarting failed container={own} pod={name}");
            let waiting = value!({"waiting": {"reason": "CrashLoopBackOff", "message": message}});
            return status_of(container, &waiting, failed, false, restarts.max(1));
        }
        let since = old.and_then(|old| old.at(&["state", "running", "startedAt"]));
        let since = since.and_then(Value::as_str).unwrap_or(now);
        let running = value!({"running": {"startedAt": since}});
        let count = old.map_or(0, |old| step::number(old, &["restartCount"]));
        let last = old.and_then(|old| old.get("lastState")).cloned();
        status_of(
            container,
            &running,
            last.unwrap_or_else(Value::object),
            outcome == Outcome::Fine,
            count,
        )
    });
    set_init_containers_done(pod, now);
    set_condition(pod, now, "PodReadyToStartContainers", "True", "", "");
    set_condition(pod, now, "Initialized", "True", "", "");
    if outcome == Outcome::Fine {
        match closed_gates(pod) {
            true => {
                let message = "corresponding condition of one or more pod readiness gates is not True";
                set_condition(pod, now, "Ready", "False", "ReadinessGatesNotReady", message);
            }
            false => set_condition(pod, now, "Ready", "True", "", ""),
        }
        set_condition(pod, now, "ContainersReady", "True", "", "");
    } else {
        set_unready(pod, now, "ContainersNotReady", &unready_message(pod));
    }
    finish(pod);
}

/// A pod that came to its end by itself.
pub(super) fn finished(pod: &mut Value, now: &str, outcome: Outcome) {
    match outcome {
        Outcome::Crash => ended(pod, now, "Failed", 1, "Error"),
        _ => ended(pod, now, "Succeeded", 0, "Completed"),
    }
}

/// A pod that was ended from outside.
pub(super) fn killed(pod: &mut Value, now: &str) {
    ended(pod, now, "Failed", 137, "Error");
}

fn ended(pod: &mut Value, now: &str, phase: &str, code: i64, reason: &str) {
    begin(pod, now, phase);
    let statuses = pod.list_at(&["status", MAIN.1]).to_vec();
    set_containers(pod, MAIN, |container| {
        let own = container.str_at(&["name"]);
        let old = statuses.iter().find(|old| old.str_at(&["name"]) == own);
        let since = old.map_or("", |old| old.str_at(&["state", "running", "startedAt"]));
        let since = if since.is_empty() { now } else { since };
        let state = value!({"terminated": {
            "exitCode": code, "reason": reason, "startedAt": since, "finishedAt": now,
            "containerID": (container_id(container)),
        }});
        let restarts = old.map_or(0, |old| step::number(old, &["restartCount"]));
        status_of(container, &state, Value::object(), false, restarts)
    });
    set_init_containers_done(pod, now);
    let why = if code == 0 { "PodCompleted" } else { "PodFailed" };
    let initialized = if code == 0 { "PodCompleted" } else { "" };
    set_condition(pod, now, "PodReadyToStartContainers", "False", "", "");
    set_condition(pod, now, "Initialized", "True", initialized, "");
    set_unready(pod, now, why, "");
    finish(pod);
}

/// Whether the status is about an earlier spec, or depends on conditions that others set.
pub(super) fn is_outdated(pod: &Value) -> bool {
    let observed = step::number(pod, &["status", "observedGeneration"]);
    observed != generation(pod) || !pod.list_at(&["spec", "readinessGates"]).is_empty()
}

/// How the status says that the pod turned out.
pub(super) fn shown(pod: &Value) -> Outcome {
    let statuses = pod.list_at(&["status", MAIN.1]);
    let waits = |reason: &str| {
        let mut all = statuses.iter();
        all.any(|status| status.str_at(&["state", "waiting", "reason"]) == reason)
    };
    if waits("ImagePullBackOff") {
        Outcome::ImagePull
    } else if waits("CrashLoopBackOff") {
        Outcome::Crash
    } else if waits(outcome::UNKNOWN) {
        Outcome::Unknown
    } else if statuses.iter().all(|status| step::flag(status, &["ready"])) {
        Outcome::Fine
    } else {
        Outcome::NeverReady
    }
}

/// How often the containers were started anew.
pub(super) fn restarts(pod: &Value) -> i64 {
    let counts = pod.list_at(&["status", MAIN.1]).iter();
    counts
        .map(|status| step::number(status, &["restartCount"]))
        .max()
        .unwrap_or(0)
}

/// `name_namespace(uid)`, as kubelets name pods in messages.
pub(super) fn full_name(pod: &Value) -> String {
    let part = |field: &str| pod.str_at(&["metadata", field]);
    format!("{}_{}({})", part("name"), part("namespace"), part("uid"))
}

/// Sets a condition; its time changes with its status only. Kubelets write no empty reason.
pub(super) fn set_condition(
    pod: &mut Value,
    now: &str,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
) {
    let generation = generation(pod);
    let condition = condition::Condition {
        kind,
        status,
        reason,
        message,
    };
    condition.replace(pod.make_object().entry("status"), now, |condition| {
        condition.set_at(&["lastProbeTime"], Value::Null);
        condition.set_at(&["observedGeneration"], generation);
    });
}

fn set_unready(pod: &mut Value, now: &str, reason: &str, message: &str) {
    set_condition(pod, now, "Ready", "False", reason, message);
    set_condition(pod, now, "ContainersReady", "False", reason, message);
}

fn unready_message(pod: &Value) -> String {
    let names = pod.list_at(&["spec", MAIN.0]).iter();
    let names: Vec<&str> = names.map(|container| container.str_at(&["name"])).collect();
    format!("containers with unready status: [{}]", names.join(" "))
}

/// Whether a condition that the pod's readiness depends on does not hold.
fn closed_gates(pod: &Value) -> bool {
    let empty = Value::Null;
    let status = pod.get("status").unwrap_or(&empty);
    let mut gates = pod.list_at(&["spec", "readinessGates"]).iter();
    gates.any(|gate| !condition::holds(status, gate.str_at(&["conditionType"])))
}

/// What a kubelet tells from the first time it sees the pod.
fn begin(pod: &mut Value, now: &str, phase: &str) {
    pod.set_at(&["status", "phase"], phase);
    if pod.at(&["status", "startTime"]).is_none() {
        pod.set_at(&["status", "startTime"], now);
        pod.set_at(&["status", "hostIP"], ADDRESS);
        pod.set_at(&["status", "hostIPs"], value!([{"ip": ADDRESS}]));
    }
}

/// What is the same in every status: which spec it is about, and the order of conditions.
fn finish(pod: &mut Value) {
    const ORDER: [&str; 5] = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    let generation = generation(pod);
    pod.set_at(&["status", "observedGeneration"], generation);
    let mut conditions = pod.list_at(&["status", "conditions"]).to_vec();
    // Those of others come first and stay in their order.
    conditions.sort_by_key(|condition| {
        ORDER
            .iter()
            .position(|kind| *kind == condition.str_at(&["type"]))
            .map_or(0, |at| at + 1)
    });
    pod.set_at(&["status", "conditions"], conditions);
}

fn set_containers(pod: &mut Value, (list, field): (&str, &str), status: impl Fn(&Value) -> Value) {
    let containers = pod.list_at(&["spec", list]);
    if containers.is_empty() {
        return;
    }
    let statuses: Value = containers.iter().map(status).collect();
    pod.set_at(&["status", field], statuses);
}

/// Init containers are done, but for those that keep running beside the others.
fn set_init_containers_done(pod: &mut Value, now: &str) {
    let before = pod.list_at(&["status", INIT.1]).to_vec();
    set_containers(pod, INIT, |container| {
        let own = container.str_at(&["name"]);
        let old = before.iter().find(|old| old.str_at(&["name"]) == own);
        let past = old.filter(|old| old.at(&["state", "waiting"]).is_none());
        if let Some(old) = past {
            return old.clone();
        }
        let state = match container.str_at(&["restartPolicy"]) {
            "Always" => value!({"running": {"startedAt": now}}),
            _ => value!({"terminated": {
                "exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now,
                "containerID": (container_id(container)),
            }}),
        };
        status_of(container, &state, Value::object(), true, 0)
    });
}

fn status_of(container: &Value, state: &Value, last: Value, ready: bool, restarts: i64) -> Value {
    let mut status = value!({
        "name": (container.str_at(&["name"])),
        "image": (container.str_at(&["image"])),
        "imageID": "",
        "ready": ready,
        "started": (state.get("running").is_some()),
        "restartCount": restarts,
        "state": (state.clone()),
        "lastState": last,
    });
    if state.get("waiting").is_none() || restarts > 0 {
        status.set_at(&["containerID"], container_id(container));
    }
    status
}

/// Something that looks like what a runtime would tell, and is the same in every run.
fn container_id(container: &Value) -> String {
    format!("simulated://{:08x}", hash::fnv(&model::json::to_vec(container)))
}
