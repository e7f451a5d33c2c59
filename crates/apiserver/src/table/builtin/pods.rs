//! Pods and pod templates.

use jiff::Timestamp;
use model::{Value, value};

use crate::table::cell::{self, NONE};
use crate::table::column::{AGE, Layout, NAME, text, wide};
use crate::table::{duration, selector};

pub(super) const PODS: Layout = Layout {
    columns: &[
        NAME,
        text("Ready"),
        text("Status"),
        text("Restarts"),
        AGE,
        wide("IP"),
        wide("Node"),
        wide("Nominated Node"),
        wide("Readiness Gates"),
    ],
    cells: pod,
};

pub(super) const POD_TEMPLATES: Layout = Layout {
    columns: &[NAME, text("Containers"), text("Images"), text("Pod Labels")],
    cells: |object, _| {
        let [names, images] = cell::containers(object, &["template", "spec", "containers"]);
        let labels = selector::labels(cell::map(object, &["template", "metadata", "labels"]));
        vec![cell::name(object), names, images, Value::from(labels)]
    },
};

/// What a row says of a pod that has come to its end, so that clients can hide it.
pub(in crate::table) fn conditions(pod: &Value) -> Option<Value> {
    let (reason, message) = match pod.str_at(&["status", "phase"]) {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(value!([{ "type": "Completed", "status": "True", "reason": reason, "message": message }]))
}

fn pod(pod: &Value, now: Timestamp) -> Vec<Value> {
    let summary = Summary::of(pod);
    let restarts = match summary.last_restart {
        Some(time) if summary.restarts != 0 => {
            format!(
                "{} ({} ago)",
                summary.restarts,
                duration::human(now.duration_since(time))
            )
        }
        _ => summary.restarts.to_string(),
    };
    let ip = pod
        .list_at(&["status", "podIPs"])
        .first()
        .map_or("", |ip| ip.str_at(&["ip"]));
    vec![
        cell::name(pod),
        Value::from(format!("{}/{}", summary.ready, summary.total)),
        Value::from(summary.reason),
        Value::from(restarts),
        cell::age(pod, now),
        Value::str(if ip.is_empty() { NONE } else { ip }),
        cell::filled_or(pod, &["spec", "nodeName"], NONE),
        cell::filled_or(pod, &["status", "nominatedNodeName"], NONE),
        Value::from(readiness_gates(pod)),
    ]
}

fn readiness_gates(pod: &Value) -> String {
    let gates = pod.list_at(&["spec", "readinessGates"]);
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let open = gates
        .iter()
        .filter(|gate| cell::condition_is_true(pod, gate.str_at(&["conditionType"])));
    format!("{}/{}", open.count(), gates.len())
}

/// What the states of a pod's containers come to.
struct Summary {
    total: usize,
    ready: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
    reason: String,
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let mut summary = Summary {
            total: pod.list_at(&["spec", "containers"]).len(),
            ready: 0,
            restarts: 0,
            last_restart: None,
            reason: initial_reason(pod).to_owned(),
        };
        let initializing = summary.add_init_containers(pod);
        if !initializing || cell::condition_is_true(pod, "Initialized") {
            summary.add_containers(pod);
        }
        if cell::is_deleted(pod) {
            if pod.str_at(&["status", "reason"]) == "NodeLost" {
                summary.reason = "Unknown".to_owned();
            } else if !matches!(pod.str_at(&["status", "phase"]), "Succeeded" | "Failed") {
                summary.reason = "Terminating".to_owned();
            }
        }
        summary
    }

    /// Walks the init containers until one is not done; says whether there is such a one. Afterwards the restarts of
    /// side cars alone count if the pod is past its initialization.
    fn add_init_containers(&mut self, pod: &Value) -> bool {
        let init = pod.list_at(&["spec", "initContainers"]);
        let is_sidecar = |container: &Value| container.str_at(&["restartPolicy"]) == "Always";
        self.total += init.iter().filter(|container| is_sidecar(container)).count();
        let (mut sidecar_restarts, mut sidecar_last) = (0, None);
        let mut waiting = None;
        for (at, status) in pod
            .list_at(&["status", "initContainerStatuses"])
            .iter()
            .enumerate()
        {
            self.add_restarts(status);
            let name = status.str_at(&["name"]);
            let sidecar = init
                .iter()
                .rfind(|container| container.str_at(&["name"]) == name)
                .is_some_and(is_sidecar);
            if sidecar {
                sidecar_restarts += cell::int(status, &["restartCount"]);
                sidecar_last = sidecar_last.max(last_termination(status));
            }
            let terminated = status.at(&["state", "terminated"]);
            if terminated.is_some_and(|state| cell::int(state, &["exitCode"]) == 0) {
                continue;
            }
            if sidecar && status.get("started").and_then(Value::as_bool) == Some(true) {
                self.ready += usize::from(status.get("ready").and_then(Value::as_bool) == Some(true));
                continue;
            }
            waiting = Some(init_reason(status, at, init.len()));
            break;
        }
        let initializing = waiting.is_some();
        if let Some(reason) = waiting {
            self.reason = reason;
        }
        if !initializing || cell::condition_is_true(pod, "Initialized") {
            self.restarts = sidecar_restarts;
            self.last_restart = sidecar_last;
        }
        initializing
    }

    fn add_containers(&mut self, pod: &Value) {
        let mut running = false;
        let mut failure = None;
        for status in pod.list_at(&["status", "containerStatuses"]).iter().rev() {
            self.add_restarts(status);
            let waiting = status.str_at(&["state", "waiting", "reason"]);
            if !waiting.is_empty() {
                self.reason = waiting.to_owned();
            } else if let Some(state) = status.at(&["state", "terminated"]) {
                self.reason = termination_reason(state);
                if cell::int(state, &["exitCode"]) != 0 {
                    failure = Some(self.reason.clone());
                }
            } else if status.get("ready").and_then(Value::as_bool) == Some(true)
                && status.at(&["state", "running"]).is_some()
            {
                running = true;
                self.ready += 1;
            }
        }
        // A pod is not completed as long as one of its containers runs, or when one of them failed.
        if self.reason == "Completed" {
            if running && cell::condition_is_true(pod, "Ready") {
                self.reason = "Running".to_owned();
            } else if let Some(failure) = failure {
                self.reason = failure;
            } else if running {
                self.reason = "NotReady".to_owned();
            }
        }
    }

    fn add_restarts(&mut self, status: &Value) {
        self.restarts = self.restarts.saturating_add(cell::int(status, &["restartCount"]));
        self.last_restart = self.last_restart.max(last_termination(status));
    }
}

fn last_termination(status: &Value) -> Option<Timestamp> {
    duration::time(status.at(&["lastState", "terminated", "finishedAt"]))
}

fn initial_reason(pod: &Value) -> &str {
    let gated = |condition: &Value| {
        condition.str_at(&["type"]) == "PodScheduled" && condition.str_at(&["reason"]) == "SchedulingGated"
    };
    if pod.list_at(&["status", "conditions"]).iter().any(gated) {
        return "SchedulingGated";
    }
    match pod.str_at(&["status", "reason"]) {
        "" => pod.str_at(&["status", "phase"]),
        reason => reason,
    }
}

/// Why the init container at place `at` holds the pod up.
fn init_reason(status: &Value, at: usize, init_containers: usize) -> String {
    if let Some(state) = status.at(&["state", "terminated"]) {
        return format!("Init:{}", termination_reason(state));
    }
    match status.str_at(&["state", "waiting", "reason"]) {
        "" | "PodInitializing" => format!("Init:{at}/{init_containers}"),
        reason => format!("Init:{reason}"),
    }
}

fn termination_reason(state: &Value) -> String {
    match (state.str_at(&["reason"]), cell::int(state, &["signal"])) {
        ("", 0) => format!("ExitCode:{}", cell::int(state, &["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_is_being_deleted_is_terminating_unless_it_came_to_its_end() {
        let reason = |phase: &str, reason: &str| {
            let pod = value!({
                "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" },
                "status": { "phase": phase, "reason": reason },
            });
            Summary::of(&pod).reason
        };
        assert_eq!(reason("Running", ""), "Terminating");
        assert_eq!(reason("Succeeded", ""), "Succeeded");
        assert_eq!(reason("Running", "NodeLost"), "Unknown");
    }
}
