//! Objects of a kind that may be read by name but not listed, or that cannot be watched: no watch tells of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use engine::cache::Assess;
use engine::plan::GroupKind;
use engine::sync::Outcome;
use engine::unit::{Phase, ReconciliationSettings, ResourceOverride, Status};
use http_body_util::BodyExt;
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value, value};
use tokio::time::Instant;

use super::{Bed, argo, config_map, hook, is_waiting, outcomes, slow, soon, waiting, worked_on};

const GROUP: &str = "rbac.authorization.k8s.io";

/// An engine that may do everything with config maps and jobs but list them.
async fn bed() -> Bed {
    bed_with(testkit::Cluster::start().await, outcomes()).await
}

async fn bed_with(test: testkit::Cluster, settings: ReconciliationSettings) -> Bed {
    let user = test.name("deployer");
    let client = test.client_as(&user, &["system:authenticated"]);
    let bed = Bed::reached(test, client, settings).await;
    bed.by_hand(
        GROUP,
        value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": { "name": "deployer" },
            "rules": [{
                "apiGroups": ["", "batch"], "resources": ["configmaps", "jobs"],
                "verbs": ["get", "create", "update", "patch", "delete"],
            }],
        }),
    )
    .await;
    bed.by_hand(
        GROUP,
        value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": { "name": "deployer" },
            "roleRef": { "apiGroup": GROUP, "kind": "Role", "name": "deployer" },
            "subjects": [{ "apiGroup": GROUP, "kind": "User", "name": (user.as_str()) }],
        }),
    )
    .await;
    bed
}

/// A unit waits for an object until that is done.
async fn is_waited_for(bed: &Bed) {
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a")]);
    bed.waits("shop").await;
    bed.outcome("a", "done").await;
    bed.applied("shop", "v1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_read_but_not_listed_is_waited_for_all_the_same() {
    let bed = bed().await;
    is_waited_for(&bed).await;
    bed.sync("shop", "v2", [slow("b")]);
    bed.waits("shop").await;
    bed.outcome("b", "failed").await;
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(status.errors[0].contains("ConfigMap/"), "{:?}", status.errors);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_that_may_not_be_listed_are_made_anew() {
    let bed = bed().await;
    bed.units.put(bed.argo("shop"));
    let objects = |revision: &str| {
        let first = hook(config_map("before", revision), "PreSync", "BeforeHookCreation");
        let last = argo(config_map("last", revision), "sync-wave", "1");
        [first, config_map("web", revision), last]
    };
    for revision in ["v1", "v2"] {
        bed.sync("shop", revision, objects(revision));
        bed.applied("shop", revision).await;
        assert_eq!(bed.key("before").await.as_deref(), Some(revision));
        assert_eq!(bed.key("last").await.as_deref(), Some(revision));
    }
    bed.finish().await;
}

/// Jobs run until somebody labels them as done.
struct Labelled;

impl Assess for Labelled {
    fn assess(&self, object: &Value, _: Timestamp) -> Option<Health> {
        let is_done = object.str_at(&["metadata", "labels", "outcome"]) == "done";
        Some(Health::new(if is_done {
            State::Healthy
        } else {
            State::Progressing
        }))
    }
}

/// A hook that removes itself some time after it has ended.
fn job(outcome: &str) -> Value {
    let job = value!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "before", "labels": { "outcome": outcome } },
        "spec": {
            "suspend": true, "ttlSecondsAfterFinished": 3600,
            "template": { "spec": { "restartPolicy": "Never", "containers": [{ "name": "a", "image": "a" }] } },
        },
    });
    hook(job, "PreSync", "BeforeHookCreation")
}

/// That the one before is gone was said a moment ago, and is not said of the new one.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_may_not_be_listed_is_waited_for_although_the_one_before_it_is_gone() {
    let jobs = GroupKind {
        group: "batch".into(),
        kind: "Job".into(),
    };
    let special = ResourceOverride {
        health: Some(Arc::new(Labelled)),
        ..ResourceOverride::default()
    };
    let settings = ReconciliationSettings {
        overrides: BTreeMap::from([(jobs, special)]),
        ..ReconciliationSettings::default()
    };
    let bed = bed_with(testkit::Cluster::start().await, settings).await;
    bed.units.put(bed.argo("shop"));
    for revision in ["v1", "v2"] {
        bed.sync("shop", revision, [job("none"), config_map("web", revision)]);
        let runs = |status: &Status| {
            is_waiting(status) && worked_on(status).last().is_some_and(|name| name == "before")
        };
        let is_made = |status: &Status| {
            let results = &status.operation.as_ref().unwrap().progress.results;
            results
                .last()
                .is_some_and(|result| result.outcome == Outcome::Created)
        };
        let status = bed
            .until("shop", |status| {
                status.revision == revision || (runs(status) && is_made(status))
            })
            .await;
        assert_ne!(status.revision, revision, "the hook was not waited for");
        bed.by_hand("batch", job("done")).await;
        bed.applied("shop", revision).await;
    }
    bed.finish().await;
}

/// Each question would take a minute, and nobody sees meanwhile what has come up.
#[tokio::test(start_paused = true)]
async fn an_operation_that_asks_a_server_that_does_not_answer_is_terminated_soon() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let bed = bed_with(test, outcomes()).await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a")]);
    bed.waits("shop").await;
    let hangs = Rule::new(Fault::Delay(Duration::from_secs(3600)));
    let hangs = hangs
        .verb("get")
        .resource("", "configmaps")
        .client("sluice-engine");
    let faults = bed.server().faults();
    let hangs = faults.add(hangs);
    assert!(soon(20, async || faults.fired(hangs) > 0).await);
    let since = Instant::now();
    bed.engine.terminate("shop");
    bed.phase("shop", Phase::Terminated).await;
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    bed.finish().await;
}

/// A client of a server that has no watches of config maps.
fn without_watches(inner: kube::Client) -> kube::Client {
    let namespace = inner.default_namespace().to_owned();
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let (inner, is_core) = (inner.clone(), request.uri().path() == "/api");
        async move {
            let (mut head, body) = inner.send(request).await?.into_parts();
            if !is_core {
                return Ok::<_, tower::BoxError>(http::Response::from_parts(head, body));
            }
            let text = body.collect().await?.to_bytes();
            let text = String::from_utf8(text.to_vec())?.replace("\"watch\"", "\"stare\"");
            head.headers.remove(http::header::CONTENT_LENGTH);
            Ok(http::Response::from_parts(
                head,
                kube::client::Body::from(text.into_bytes()),
            ))
        }
    });
    kube::Client::new(service, namespace)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_watched_is_waited_for_all_the_same() {
    let test = testkit::Cluster::start().await;
    let client = without_watches(test.client());
    let bed = Bed::reached(test, client, outcomes()).await;
    is_waited_for(&bed).await;
    bed.finish().await;
}
