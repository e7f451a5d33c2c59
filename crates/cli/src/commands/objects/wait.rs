//! Waits until a controller is done with an object.

use std::time::Duration;

use anyhow::bail;
use serde_json::Value;

use super::api::Objects;
use super::rows::condition;

/// How often is looked.
const LOOK: Duration = Duration::from_millis(250);

/// Waits until an object, of which `holds` says that it is looked at, is as it should be. Its last state.
pub(crate) async fn until_ready(
    objects: &Objects,
    name: &str,
    holds: impl Fn(&Value) -> bool,
) -> anyhow::Result<Value> {
    loop {
        let object = objects.get(name).await?;
        if holds(&object) {
            match state(&object) {
                State::Ready => return Ok(object),
                State::Working => {}
                State::Failed(message) => {
                    bail!("{} reconciliation failed: '{message}'", objects.kind.names.kind)
                }
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

enum State {
    Ready,
    Working,
    Failed(String),
}

/// By the conditions that all kinds have.
fn state(object: &Value) -> State {
    let generation = &object["metadata"]["generation"];
    let is_true = |kind: &str| condition(object, kind).is_some_and(|found| found["status"] == "True");
    let message = |kind: &str| {
        let found = condition(object, kind).and_then(|found| found["message"].as_str());
        found.unwrap_or_default().to_owned()
    };
    if is_true("Stalled") {
        return State::Failed(message("Stalled"));
    }
    let Some(ready) = condition(object, "Ready") else {
        return State::Working;
    };
    match ready["status"].as_str() {
        Some("True") if object["status"]["observedGeneration"] == *generation && !is_true("Reconciling") => {
            State::Ready
        }
        Some("False") => State::Failed(message("Ready")),
        _ => State::Working,
    }
}

/// What is told of an object that is ready.
pub(crate) fn told(object: &Value) -> String {
    let status = &object["status"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match object["kind"].as_str() {
        Some("GitRepository" | "OCIRepository" | "HelmRepository" | "HelmChart" | "Bucket") => {
            let revision = text(&status["artifact"]["revision"]).unwrap_or_default();
            format!("fetched revision {revision}")
        }
        Some("Kustomization") => {
            let revision = text(&status["lastAppliedRevision"]).unwrap_or_default();
            format!("applied revision {revision}")
        }
        Some("HelmRelease") => {
            let version = text(&status["history"][0]["chartVersion"]);
            let version = version.or_else(|| text(&status["lastAttemptedRevision"]));
            format!("applied revision {}", version.unwrap_or_default())
        }
        _ => {
            let ready = condition(object, "Ready").and_then(|ready| text(&ready["message"]));
            ready.unwrap_or_default()
        }
    }
}
