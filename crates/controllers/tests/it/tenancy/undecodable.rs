//! One object that no controller can read holds up none of the others of its kind.

use api::helm::HelmReleaseSpec;
use api::kustomize::KustomizationSpec;
use api::source::{BucketSpec, GitRepositorySpec, HelmRepositorySpec};
use api::{Object, ReconcileStatus, Spec};
use controllers::kit::Reconcile;
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories, Shared};
use kube::Api;
use kube::api::PostParams;
use kube::core::{ApiResource, DynamicObject, Request};
use serde_json::{Value, json};
use testkit::cluster::object_settled;
use testkit::git;
use testkit::settled::Every;

use crate::helm_releases::bed::{CONFIG, Setting as HelmSetting};
use crate::kustomizations::bed::{Setting, config_map};
use crate::sources::bed::{Bed, condition};

/// A time that the schema takes and that is longer than a duration can be.
pub(super) const TOO_LONG: &str = "3000000h";

const INTERVAL: &str = "spec.interval: ";

pub(super) fn untyped<S: Spec>(bed: &Bed<S>) -> Api<DynamicObject> {
    let resource = ApiResource::erase::<Object<S>>(&());
    Api::namespaced_with(bed.cluster.client(), &bed.namespace, &resource)
}

async fn create<S: Spec>(bed: &Bed<S>, name: &str, spec: Value) {
    let object = json!({
        "apiVersion": S::NAMES.api_version(), "kind": S::NAMES.kind, "metadata": {"name": name}, "spec": spec,
    });
    let object = serde_json::from_value(object).unwrap();
    untyped(bed)
        .create(&PostParams::default(), &object)
        .await
        .unwrap();
}

/// Waits until an object that cannot be decoded because of this field says so.
pub(super) async fn stalled<S: Spec>(bed: &Bed<S>, name: &str, field: &str) {
    let limit = std::time::Duration::from_secs(30);
    let settled = object_settled(untyped(bed), name, limit, |object| {
        let data = object.map(|object| object.data.clone()).unwrap_or_default();
        let conditions = data["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let of = |kind: &str| conditions.iter().find(|one| one["type"] == kind).cloned();
        let is = |kind: &str, status: &str| {
            of(kind).is_some_and(|one| {
                let message = one["message"].as_str().unwrap_or_default();
                one["status"] == status && one["reason"] == "InvalidSpec" && message.contains(field)
            })
        };
        match is("Stalled", "True") && is("Ready", "False") {
            true => Ok(()),
            false => Err(data["status"].to_string()),
        }
    });
    settled.await.unwrap();
}

/// The list of the kind failed as a whole, so that nobody's objects were worked on.
#[tokio::test]
async fn sources_beside_an_unreadable_one_are_fetched() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    let spec = |interval: &str| json!({"url": server.clone_url("app"), "interval": interval, "ref": {"branch": "main"}});
    create(&bed, "bad", spec(TOO_LONG)).await;
    bed.create("good", spec("1h")).await;
    bed.run(GitRepositories::new);
    bed.ready("good", "True", "Succeeded").await;
    stalled(&bed, "bad", INTERVAL).await;
    // What is corrected is worked on like any other, and what gets bad meanwhile is not.
    let patch = |interval: &str| kube::api::Patch::Merge(json!({"spec": {"interval": interval}}));
    let untyped = untyped(&bed);
    untyped
        .patch("bad", &Default::default(), &patch("1h"))
        .await
        .unwrap();
    let object = bed.ready("bad", "True", "Succeeded").await;
    assert!(condition(&object, "Stalled").is_none());
    untyped
        .patch("good", &Default::default(), &patch(TOO_LONG))
        .await
        .unwrap();
    stalled(&bed, "good", INTERVAL).await;
    bed.until_event(|event| {
        event.involved_object.name.as_deref() == Some("good")
            && event.type_.as_deref() == Some("Warning")
            && event.reason.as_deref() == Some("InvalidSpec")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_beside_unreadable_ones_are_applied() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let source = json!({"kind": "GitRepository", "name": "app"});
    let spec = json!({"interval": TOO_LONG, "prune": true, "sourceRef": source});
    create::<KustomizationSpec>(&setting.bed, "bad", spec).await;
    // A source that cannot be read is none of the good one's.
    let sources = ApiResource::erase::<Object<GitRepositorySpec>>(&());
    let sources: Api<DynamicObject> =
        Api::namespaced_with(setting.bed.cluster.client(), &setting.bed.namespace, &sources);
    let other = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": {"name": "other"},
        "spec": {"url": "https://git.example/other", "interval": TOO_LONG},
    });
    let other = serde_json::from_value(other).unwrap();
    sources.create(&PostParams::default(), &other).await.unwrap();
    stalled(&setting.bed, "bad", INTERVAL).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("1")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_beside_an_unreadable_one_are_made() {
    let setting = HelmSetting::with(&[("app/templates/config.yaml", CONFIG)]).await;
    let chart = json!({"spec": {"chart": "app", "sourceRef": {"kind": "GitRepository", "name": "charts"}}});
    let spec = json!({"interval": TOO_LONG, "chart": chart});
    create::<HelmReleaseSpec>(&setting.bed, "bad", spec).await;
    stalled(&setting.bed, "bad", INTERVAL).await;
    setting.create("web", json!({"values": {"a": "1"}})).await;
    setting.deployed("web", 1).await;
}

/// Has a controller work on an object beside one that cannot be decoded.
async fn worked_on_beside<S, R>(controller: impl FnOnce(Shared) -> R, spec: Value)
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
    R: Reconcile<Spec = S>,
{
    let mut bed = Bed::<S>::start().await;
    // The kinds that charts are made of.
    bed.serve::<GitRepositorySpec>().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    let spec = |interval: &str| {
        let mut spec = spec.clone();
        spec["interval"] = json!(interval);
        spec
    };
    create(&bed, "bad", spec(TOO_LONG)).await;
    bed.create("good", spec("1h")).await;
    bed.run(controller);
    stalled(&bed, "bad", INTERVAL).await;
    // There is no server: the controller has tried to reach it, or to find the source.
    bed.until("good", |object| {
        condition(object, "Ready").is_some_and(|ready| ready.status.to_string() == "False")
    })
    .await;
}

#[tokio::test]
async fn buckets_beside_an_unreadable_one_are_fetched() {
    let spec = json!({"endpoint": "127.0.0.1:1", "bucketName": "manifests", "insecure": true});
    worked_on_beside(Buckets::new, spec).await;
}

#[tokio::test]
async fn oci_repositories_beside_an_unreadable_one_are_fetched() {
    let spec = json!({"url": "oci://127.0.0.1:1/app", "insecure": true});
    worked_on_beside(OciRepositories::new, spec).await;
}

#[tokio::test]
async fn helm_repositories_beside_an_unreadable_one_are_fetched() {
    worked_on_beside(HelmRepositories::new, json!({"url": "http://127.0.0.1:1"})).await;
}

#[tokio::test]
async fn helm_charts_beside_an_unreadable_one_are_made() {
    let source = json!({"kind": "HelmRepository", "name": "none"});
    worked_on_beside(HelmCharts::new, json!({"chart": "app", "sourceRef": source})).await;
}

/// Whoever may write statuses can write one that no controller can read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_beside_one_with_an_unreadable_status_are_applied() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("bad", json!({})).await;
    setting.bed.ready("bad", "True", "ReconciliationSucceeded").await;
    let history = |duration: &str| {
        json!([{
            "digest": "sha256:0", "firstReconciled": "2026-01-02T03:04:05Z", "lastReconciled": "2026-01-02T03:04:05Z",
            "lastReconciledDuration": duration, "lastReconciledStatus": "ReconciliationSucceeded", "totalReconciliations": 1,
        }])
    };
    let write = async |duration: &str| {
        let patch = kube::api::Patch::Merge(json!({"status": {"history": history(duration)}}));
        let (api, by) = (untyped(&setting.bed), Default::default());
        api.patch_status("bad", &by, &patch).await.unwrap();
    };
    write(TOO_LONG).await;
    stalled(&setting.bed, "bad", "status.history[0].lastReconciledDuration: ").await;
    let revision = setting.commit(&[("one.yaml", &config_map("one", "2"))]).await;
    setting.create("good", json!({})).await;
    setting.applied("good", &revision).await;
    // What is corrected is worked on again.
    write("1s").await;
    let object = setting.applied("bad", &revision).await;
    assert!(condition(&object, "Stalled").is_none());
}

/// Maps in each other. A real API server accepts up to 10,000.
fn nested(depth: usize) -> Value {
    (1..depth).fold(json!({}), |inner, _| json!({ "a": inner }))
}

/// Sends an object that the client cannot read back.
async fn send<S: Spec>(bed: &Bed<S>, name: &str, spec: Value) {
    let object = json!({
        "apiVersion": S::NAMES.api_version(), "kind": S::NAMES.kind,
        "metadata": {"name": name, "namespace": bed.namespace}, "spec": spec,
    });
    let request = Request::new(untyped(bed).resource_url());
    let request = request.create(&PostParams::default(), object.to_string().into_bytes());
    bed.cluster.client().request_text(request.unwrap()).await.unwrap();
}

/// Waits until an object that the client cannot read says that it cannot be decoded because of this field.
async fn nested_too_deeply<S: Spec>(bed: &Bed<S>, name: &str, field: &str) {
    let client = bed.cluster.client();
    let (every, limit) = (
        Every(std::time::Duration::from_millis(50)),
        std::time::Duration::from_secs(30),
    );
    let settled = testkit::settled(limit, every, async || {
        let request = Request::new(untyped(bed).resource_url());
        let request = request.get(name, &Default::default()).unwrap();
        let text = client.request_text(request).await.unwrap();
        let object = model::json::parse(text.as_bytes()).unwrap();
        let status = object.get("status").cloned().unwrap_or_default();
        let status: Value = serde_json::from_str(&model::json::to_string(&status)).unwrap();
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let is = |kind: &str, status: &str| {
            conditions.iter().any(|one| {
                let message = one["message"].as_str().unwrap_or_default();
                one["type"] == kind
                    && one["status"] == status
                    && one["reason"] == "InvalidSpec"
                    && message.contains(field)
                    && message.contains("nested too deeply")
            })
        };
        match is("Stalled", "True") && is("Ready", "False") {
            true => Ok(()),
            false => Err(status.to_string()),
        }
    });
    settled.await.unwrap();
}

fn too_deep() -> Value {
    let chart = json!({"spec": {"chart": "app", "sourceRef": {"kind": "GitRepository", "name": "charts"}}});
    json!({"interval": "1h", "chart": chart, "values": nested(150)})
}

/// The list of all releases of the cluster failed because of one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_listed_beside_one_that_is_nested_too_deeply_are_made() {
    let mut setting = HelmSetting::with(&[("app/templates/config.yaml", CONFIG)]).await;
    setting.bed.kill();
    send(&setting.bed, "bad", too_deep()).await;
    setting.create("good", json!({"values": {"a": "1"}})).await;
    setting.start();
    setting.deployed("good", 1).await;
    nested_too_deeply(&setting.bed, "bad", "spec.values").await;
    // What is corrected is worked on like any other.
    let patch = json!({"spec": {"values": {"a": null}}});
    setting.bed.patch("bad", patch).await;
    let object = setting.deployed("bad", 1).await;
    assert!(condition(&object, "Stalled").is_none());
}

/// Nobody was told of the one that the watch brought.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_comes_nested_too_deeply_says_so() {
    let setting = HelmSetting::with(&[("app/templates/config.yaml", CONFIG)]).await;
    setting.create("before", json!({"values": {"a": "1"}})).await;
    setting.deployed("before", 1).await;
    send(&setting.bed, "bad", too_deep()).await;
    nested_too_deeply(&setting.bed, "bad", "spec.values").await;
    setting.create("after", json!({"values": {"a": "1"}})).await;
    setting.deployed("after", 1).await;
}
