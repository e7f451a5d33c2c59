//! Pods: placed at once, started and stopped after a while.

mod schedule;
mod status;

use std::time::Duration;

use model::Value;

use super::event::{Happening, Level};
use super::facts::{TRACKING, controller};
use super::outcome::Outcome;
use super::step::{deleting, number};
use super::{Kind, Step};
use crate::metadata;
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

/// Between two tries to start a crashing container at most this time passes.
const LONGEST_BACKOFF: Duration = Duration::from_secs(300);

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(pod) = step.own() else { return };
    release_from_job(step, &pod);
    if deleting(&pod) {
        return stop(step, &pod);
    }
    // The time it takes to start includes being placed.
    let starting = step.lasts("start", step.options.start_delay);
    if pod.str_at(&["spec", "nodeName"]).is_empty() {
        return schedule::advance(step, &pod);
    }
    let untold = pod.list_at(&["status", "containerStatuses"]).is_empty();
    match pod.str_at(&["status", "phase"]) {
        "Pending" if starting && untold => {
            step.change_status(|pod| status::creating(pod, &step.now_text()));
        }
        "Pending" if starting => {}
        "Pending" => start(step, &pod),
        "Running" => run(step, &pod),
        _ => {}
    }
}

/// Starts the containers of a pod that is placed.
fn start(step: &mut Step<'_>, pod: &Value) {
    let outcome = match step.outcome(pod) {
        Outcome::ImagePull => return fail_to_pull(step, pod),
        Outcome::Unknown => return refuse(step, pod),
        // It runs well until it fails.
        Outcome::Crash if pod.str_at(&["spec", "restartPolicy"]) == "Never" => Outcome::Fine,
        outcome => outcome,
    };
    let address = address(step, pod);
    step.change_status(|pod| {
        pod.set_at(&["status", "podIP"], address.as_str());
        pod.set_at(&["status", "podIPs"], model::value!([{"ip": (address.as_str())}]));
        status::running(pod, &step.now_text(), outcome, 1);
    });
    for container in pod.list_at(&["spec", "containers"]) {
        let image = container.str_at(&["image"]);
        let present =
            format!("Container image \"{image}\" already present on machine and can be accessed by the pod");
        tell(step, pod, container, Level::Normal, "Pulled", &present);
        tell(
            step,
            pod,
            container,
            Level::Normal,
            "Created",
            "Container created",
        );
        tell(
            step,
            pod,
            container,
            Level::Normal,
            "Started",
            "Container started",
        );
    }
    tell_of_trouble(step, pod, outcome);
}

/// Goes on with a pod that runs: it may end, crash again, or turn out otherwise than before.
fn run(step: &mut Step<'_>, pod: &Value) {
    let outcome = step.outcome(pod);
    let policy = pod.str_at(&["spec", "restartPolicy"]);
    let ends = match outcome {
        Outcome::Fine => policy != "Always",
        Outcome::Crash => policy == "Never",
        Outcome::ImagePull | Outcome::NeverReady | Outcome::Unknown => false,
    };
    if ends && !step.lasts("run", step.options.run_delay) {
        step.change_status(|pod| status::finished(pod, &step.now_text(), outcome));
        return;
    }
    // An image that cannot be pulled any more does not hurt what runs, and what ends soon runs well until then.
    let shown = match outcome {
        Outcome::ImagePull => return,
        Outcome::Crash if ends => Outcome::Fine,
        outcome => outcome,
    };
    if step.complain(pod, shown) {
        // It ran before the annotation came.
        if status::shown(pod) != Outcome::NeverReady {
            let restarts = status::restarts(pod);
            step.change_status(|pod| status::running(pod, &step.now_text(), Outcome::NeverReady, restarts));
        }
        return;
    }
    let restarts = status::restarts(pod);
    if status::shown(pod) != shown {
        let restarts = if shown == Outcome::Crash {
            restarts + 1
        } else {
            restarts
        };
        step.change_status(|pod| status::running(pod, &step.now_text(), shown, restarts));
        tell_of_trouble(step, pod, shown);
    } else if shown == Outcome::Crash && !step.lasts("backoff", backoff(step, restarts)) {
        step.leave("backoff");
        step.change_status(|pod| status::running(pod, &step.now_text(), shown, restarts + 1));
        tell_of_trouble(step, pod, shown);
    } else if status::is_outdated(pod) {
        step.change_status(|pod| status::running(pod, &step.now_text(), shown, restarts));
    }
}

/// How long a container that crashed so often waits.
fn backoff(step: &Step<'_>, restarts: i64) -> Duration {
    let doublings = u32::try_from(restarts.clamp(1, 16) - 1).unwrap_or(0);
    let delay = step.options.retry_delay.saturating_mul(1 << doublings);
    delay.min(LONGEST_BACKOFF.max(step.options.retry_delay))
}

/// Does not start a pod whose annotation makes no sense.
fn refuse(step: &mut Step<'_>, pod: &Value) {
    if status::shown(pod) == Outcome::Unknown {
        return;
    }
    step.change_status(|pod| status::refused(pod, &step.now_text()));
    step.complain(pod, Outcome::Unknown);
}

fn fail_to_pull(step: &mut Step<'_>, pod: &Value) {
    if status::shown(pod) == Outcome::ImagePull {
        return;
    }
    step.change_status(|pod| status::unpulled(pod, &step.now_text()));
    for container in pod.list_at(&["spec", "containers"]) {
        let image = container.str_at(&["image"]);
        let pulling = format!("Pulling image \"{image}\"");
        tell(step, pod, container, Level::Normal, "Pulling", &pulling);
        let failed = format!("Failed to pull image \"{image}\": simulated: not found");
        tell(step, pod, container, Level::Warning, "Failed", &failed);
        tell(
            step,
            pod,
            container,
            Level::Warning,
            "Failed",
            "Error: ErrImagePull",
        );
        let back_off = format!("Back-off pulling image \"{image}\"");
        tell(step, pod, container, Level::Normal, "BackOff", &back_off);
    }
}

fn tell_of_trouble(step: &mut Step<'_>, pod: &Value, outcome: Outcome) {
    for container in pod.list_at(&["spec", "containers"]) {
        match outcome {
            Outcome::Crash => {
                let message = format!(
                    "Back-off restarting failed container {} in pod {}",
                    container.str_at(&["name"]),
                    status::full_name(pod)
                );
                tell(step, pod, container, Level::Warning, "BackOff", &message);
            }
            Outcome::NeverReady => {
                let message = "Readiness probe failed: simulated";
                tell(step, pod, container, Level::Warning, "Unhealthy", message);
            }
            Outcome::Fine | Outcome::ImagePull | Outcome::Unknown => {}
        }
    }
}

/// Records an event about a container.
fn tell(step: &mut Step<'_>, pod: &Value, container: &Value, level: Level, reason: &str, message: &str) {
    let field = format!("spec.containers{{{}}}", container.str_at(&["name"]));
    step.happened(&Happening {
        about: pod,
        level,
        reason,
        message,
        component: "kubelet",
        host: pod.str_at(&["spec", "nodeName"]),
        field: &field,
    });
}

/// Ends a pod that is being deleted once its time is up.
fn stop(step: &mut Step<'_>, pod: &Value) {
    let tells = !pod.str_at(&["status", "podIP"]).is_empty() && !step.is_in("stop");
    if step.lasts("stop", step.options.stop_delay) {
        if tells {
            for container in pod.list_at(&["spec", "containers"]) {
                let message = format!("Stopping container {}", container.str_at(&["name"]));
                tell(step, pod, container, Level::Normal, "Killing", &message);
            }
        }
        return;
    }
    let ended = matches!(pod.str_at(&["status", "phase"]), "Succeeded" | "Failed");
    if !ended && metadata::finalizers(pod).next().is_some() {
        // It stays for a while, so it must not look as if it ran.
        step.change_status(|pod| status::killed(pod, &step.now_text()));
    }
    let options = DeleteOptions {
        grace: Some(0),
        ..DeleteOptions::default()
    };
    step.delete(Kind::Pod, step.key, &options);
}

/// Lets go of a pod that waits to be counted by a job that is gone.
fn release_from_job(step: &Step<'_>, pod: &Value) {
    if metadata::finalizers(pod).all(|name| name != TRACKING) {
        return;
    }
    let object = step.find(Kind::Pod, step.key);
    let owner = object.as_deref().and_then(controller);
    let job = owner.and_then(|owner| {
        let job = step.find(Kind::Job, &Key::new(step.key.namespace(), &owner.name))?;
        (job.meta.uid == owner.uid).then_some(job)
    });
    if job.is_none() {
        step.change(Kind::Pod, step.key, |pod| {
            metadata::retain_finalizers(pod, |name| name != TRACKING);
        });
    }
}

/// An address that follows from the pod's name where it is free, so that it is mostly the same in every run.
fn address(step: &Step<'_>, pod: &Value) -> String {
    if super::step::flag(pod, &["spec", "hostNetwork"]) {
        return super::node::ADDRESS.to_owned();
    }
    let old = pod.str_at(&["status", "podIP"]);
    if !old.is_empty() {
        return old.to_owned();
    }
    let hash = super::hash::fnv(step.key.text().as_bytes());
    let place = |number: u32| {
        let number = number % (1 << 18);
        format!(
            "10.{}.{}.{}",
            244 + (number >> 16),
            (number >> 8) & 255,
            1 + (number & 255) % 254
        )
    };
    let mut places = (0..1000).map(|distance| place(hash.wrapping_add(distance)));
    let free = places.find(|address| !step.index.has_address(address));
    free.unwrap_or_else(|| place(hash))
}

/// The generation of the pod that its status is about.
fn generation(pod: &Value) -> i64 {
    number(pod, &["metadata", "generation"])
}
