//! Pods: scheduled at once, started and stopped after a while.

use std::time::Duration;

use jiff::Timestamp;
use model::{Value, value};

use super::{MANAGER, NODE, Outcome, Step};
use crate::strategy::Part;

/// Takes a pod's next step; returns after how long to look again.
pub(super) fn advance(step: &Step<'_>) -> Option<Duration> {
    let object = step.state.store.get(&step.served.resource.storage, step.key)?;
    let pod = step.served.show(&object);
    if object.meta.deleting {
        return stop(step, &pod);
    }
    if pod.str_at(&["spec", "nodeName"]).is_empty() {
        schedule(step);
        return Some(step.options.start_delay);
    }
    let outcome = Outcome::of(&pod);
    match pod.str_at(&["status", "phase"]) {
        "Pending" if outcome == Outcome::ImagePull => {
            pull_failed(step, &pod);
            None
        }
        "Pending" => {
            let left = remaining(
                step,
                pod.str_at(&["metadata", "creationTimestamp"]),
                step.options.start_delay,
            );
            if left.is_some() && scheduled_now(step, &pod) {
                return left;
            }
            start(step, outcome);
            is_task(&pod).then_some(step.options.run_delay)
        }
        "Running" if is_task(&pod) => {
            finish(step, outcome);
            None
        }
        _ => None,
    }
}

/// Whether the pod was scheduled so recently that its start is still to come.
fn scheduled_now(step: &Step<'_>, pod: &Value) -> bool {
    let scheduled = pod
        .list_at(&["status", "conditions"])
        .iter()
        .find(|c| c.str_at(&["type"]) == "PodScheduled");
    let time = scheduled.map_or("", |condition| condition.str_at(&["lastTransitionTime"]));
    remaining(step, time, step.options.start_delay).is_some()
}

/// How much of `delay` is left since `since`, which has whole seconds only; `None` when it is over.
fn remaining(step: &Step<'_>, since: &str, delay: Duration) -> Option<Duration> {
    let since: Timestamp = since.parse().ok()?;
    let passed = step.state.now().duration_since(since).unsigned_abs();
    delay.checked_sub(passed).filter(|left| !left.is_zero())
}

/// A pod that ends by itself.
fn is_task(pod: &Value) -> bool {
    let owners = pod.list_at(&["metadata", "ownerReferences"]);
    owners.iter().any(|owner| owner.str_at(&["kind"]) == "Job")
}

fn schedule(step: &Step<'_>) {
    write(step, Part::Main, |pod, _| pod.set_at(&["spec", "nodeName"], NODE));
    write(step, Part::Status, |pod, now| {
        set_conditions(pod, now, &[("PodScheduled", true, "")])
    });
}

fn start(step: &Step<'_>, outcome: Outcome) {
    let address = address_of(step.key.text());
    write(step, Part::Status, |pod, now| {
        let ready = outcome == Outcome::Fine;
        pod.set_at(&["status", "phase"], "Running");
        pod.set_at(&["status", "startTime"], now);
        pod.set_at(&["status", "hostIP"], "127.0.0.1");
        pod.set_at(&["status", "hostIPs"], value!([{"ip": "127.0.0.1"}]));
        pod.set_at(&["status", "podIP"], address.as_str());
        pod.set_at(&["status", "podIPs"], value!([{"ip": (address.as_str())}]));
        let state = match outcome {
            Outcome::Crash => {
                value!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container"}})
            }
            _ => value!({"running": {"startedAt": now}}),
        };
        set_containers(pod, &state, ready, outcome == Outcome::Crash);
        let why = if ready { "" } else { "ContainersNotReady" };
        let all = [
            ("Initialized", true, ""),
            ("Ready", ready, why),
            ("ContainersReady", ready, why),
            ("PodScheduled", true, ""),
        ];
        set_conditions(pod, now, &all);
    });
}

fn finish(step: &Step<'_>, outcome: Outcome) {
    write(step, Part::Status, |pod, now| {
        let (phase, code, reason) = match outcome {
            Outcome::Fine => ("Succeeded", 0, "Completed"),
            Outcome::Crash => ("Failed", 1, "Error"),
            Outcome::ImagePull | Outcome::NeverReady => return,
        };
        pod.set_at(&["status", "phase"], phase);
        let state =
            value!({"terminated": {"exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now}});
        set_containers(pod, &state, false, false);
        let why = if code == 0 { "PodCompleted" } else { "PodFailed" };
        set_conditions(
            pod,
            now,
            &[("Ready", false, why), ("ContainersReady", false, why)],
        );
    });
}

fn pull_failed(step: &Step<'_>, pod: &Value) {
    let image = pod
        .list_at(&["spec", "containers"])
        .first()
        .map_or("", |container| container.str_at(&["image"]))
        .to_owned();
    write(step, Part::Status, |pod, now| {
        let message = format!("Back-off pulling image \"{image}\"");
        let state = value!({"waiting": {"reason": "ImagePullBackOff", "message": message}});
        set_containers(pod, &state, false, false);
        let why = "ContainersNotReady";
        set_conditions(
            pod,
            now,
            &[
                ("PodScheduled", true, ""),
                ("Ready", false, why),
                ("ContainersReady", false, why),
            ],
        );
    });
}

/// Ends a pod that is being deleted once its time is up.
fn stop(step: &Step<'_>, pod: &Value) -> Option<Duration> {
    let grace = pod
        .at(&["metadata", "deletionGracePeriodSeconds"])
        .and_then(Value::as_i64)
        .unwrap_or(0);
    let deleted: Timestamp = pod.str_at(&["metadata", "deletionTimestamp"]).parse().ok()?;
    let asked = deleted - jiff::SignedDuration::from_secs(grace);
    let passed = step.state.now().duration_since(asked).unsigned_abs();
    if let Some(left) = step
        .options
        .stop_delay
        .checked_sub(passed)
        .filter(|left| !left.is_zero())
    {
        return Some(left);
    }
    let options = crate::verbs::delete::DeleteOptions {
        grace: Some(0),
        ..Default::default()
    };
    step.state.delete_inside(step.served, step.key, &options);
    None
}

fn set_containers(pod: &mut Value, state: &Value, ready: bool, restarted: bool) {
    for (field, list) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
    ] {
        let containers = pod.list_at(&["spec", list]);
        if containers.is_empty() {
            continue;
        }
        let init = list == "initContainers";
        let statuses = containers.iter().map(|container| {
            let done = value!({"terminated": {"exitCode": 0, "reason": "Completed"}});
            let name = container.str_at(&["name"]);
            value!({
                "name": name,
                "image": (container.str_at(&["image"])),
                "imageID": "",
                "containerID": (format!("simulated://{name}")),
                "ready": (ready || init),
                "started": (ready && !init),
                "restartCount": (i64::from(restarted && !init)),
                "state": (if init { done } else { state.clone() }),
                "lastState": {},
            })
        });
        let statuses: Value = statuses.collect();
        pod.set_at(&["status", field], statuses);
    }
}

/// Sets conditions, keeping the time of those that stay as they are.
fn set_conditions(pod: &mut Value, now: &str, wanted: &[(&str, bool, &str)]) {
    let mut list: Vec<Value> = pod.list_at(&["status", "conditions"]).to_vec();
    for (kind, status, reason) in wanted {
        let status = if *status { "True" } else { "False" };
        let before = list
            .iter()
            .position(|condition| condition.str_at(&["type"]) == *kind);
        if before.is_some_and(|at| {
            list[at].str_at(&["status"]) == status && list[at].str_at(&["reason"]) == *reason
        }) {
            continue;
        }
        let mut condition =
            value!({"type": (*kind), "status": status, "lastProbeTime": null, "lastTransitionTime": now});
        if !reason.is_empty() {
            condition.set_at(&["reason"], *reason);
        }
        match before {
            Some(at) => list[at] = condition,
            None => list.push(condition),
        }
    }
    pod.set_at(&["status", "conditions"], list);
}

/// An address that belongs to the pod's name, so that it is the same in every run.
fn address_of(name: &str) -> String {
    let hash = name.bytes().fold(0u32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    format!("10.244.{}.{}", (hash >> 8) % 256, 1 + hash % 254)
}

fn write(step: &Step<'_>, part: Part, change: impl Fn(&mut Value, &str)) {
    let now = step.state.now_text();
    // The pod may be gone meanwhile, which is as good.
    let _ = step
        .state
        .update_inside(step.served, step.key, part, MANAGER, |pod| change(pod, &now));
}
