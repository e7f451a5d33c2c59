//! Objects, rules of health and waits that tests are made of.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::cache::Assess;
use engine::plan::{GroupKind, Options};
use engine::unit::{Operation, Phase, ReconciliationSettings, ResourceOverride, Status};
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value, value};

/// Config maps with `slow: "yes"` are in progress until somebody writes an `outcome` into them.
pub(crate) struct Outcomes;

impl Assess for Outcomes {
    fn assess(&self, object: &Value, _: Timestamp) -> Option<Health> {
        let state = match object.str_at(&["data", "outcome"]) {
            "done" => State::Healthy,
            "failed" => State::Degraded,
            "held" => State::Suspended,
            "unclear" => return Some(Health::because(State::Unknown, "nobody knows".to_owned())),
            _ if object.str_at(&["data", "slow"]) == "yes" => State::Progressing,
            _ => State::Healthy,
        };
        Some(Health::new(state))
    }
}

pub(crate) fn outcomes() -> ReconciliationSettings {
    let config_maps = GroupKind {
        group: "".into(),
        kind: "ConfigMap".into(),
    };
    let special = ResourceOverride {
        health: Some(Arc::new(Outcomes)),
        ..ResourceOverride::default()
    };
    ReconciliationSettings {
        overrides: BTreeMap::from([(config_maps, special)]),
        ..ReconciliationSettings::default()
    }
}

/// A config map that takes its time.
pub(crate) fn slow(name: &str) -> Value {
    let mut object = config_map(name, "1");
    object.set_at(&["data", "slow"], "yes");
    object
}

/// The object with an annotation of Argo CD.
pub(crate) fn argo(mut object: Value, annotation: &str, value: &str) -> Value {
    let annotation = format!("argocd.argoproj.io/{annotation}");
    object.set_at(&["metadata", "annotations", &annotation], value);
    object
}

/// The names of the objects that an operation has worked on, in the order in which that was done.
pub(crate) fn worked_on(status: &Status) -> Vec<String> {
    let results = &status.operation.as_ref().unwrap().progress.results;
    let changed = results.iter().filter(|result| result.outcome.changed());
    changed.map(|result| result.key.name.to_string()).collect()
}

pub(crate) fn config_map(name: &str, key: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name },
        "data": { "key": key },
    })
}

/// Waits for health at the end of each run, for so long.
pub(crate) fn waiting(seconds: u64) -> Options {
    Options {
        wait: Some(engine::plan::Health {
            seconds,
            fail_fast: true,
            ..engine::plan::Health::default()
        }),
        ..Options::default()
    }
}

/// The object as a hook of Argo CD.
pub(crate) fn hook(object: Value, phase: &str, policy: &str) -> Value {
    argo(argo(object, "hook", phase), "hook-delete-policy", policy)
}

/// The definition of a kind of this group, which takes all fields.
pub(crate) fn definition(group: &str) -> Value {
    value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": (format!("widgets.{group}")) },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            }],
        },
    })
}

/// An object of the kind that is so defined.
pub(crate) fn widget(group: &str) -> Value {
    value!({ "apiVersion": (format!("{group}/v1")), "kind": "Widget", "metadata": { "name": "w" } })
}

/// A service that no server takes.
pub(crate) fn refused_service() -> Value {
    value!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "x" },
        "spec": { "ports": [{ "port": 99999 }] },
    })
}

/// The request of somebody.
pub(crate) fn by(who: &str) -> Operation {
    Operation {
        by: who.to_owned(),
        ..Operation::default()
    }
}

/// Whether something comes true within so many seconds. What must not come true is asked of a paused clock, which takes no time.
pub(crate) async fn soon(seconds: u64, is: impl AsyncFn() -> bool) -> bool {
    let every = testkit::settled::Every(Duration::from_millis(50));
    let limit = Duration::from_secs(seconds);
    let settled = testkit::settled(limit, every, async || match is().await {
        true => Ok(()),
        false => Err("not yet"),
    });
    settled.await.is_ok()
}

/// Counts the operations that end from now on.
pub(crate) fn count_ended(engine: &Engine) -> Arc<AtomicUsize> {
    let ended: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&ended);
    let counting = engine.on_sync_completed(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    counting.forever();
    ended
}

/// Whether the last operation is under way and waits.
pub(crate) fn is_waiting(status: &Status) -> bool {
    let state = status.operation.as_ref();
    state.is_some_and(|state| state.phase == Phase::Running && state.message.starts_with("waiting for"))
}
