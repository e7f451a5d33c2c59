//! What does not go well: everything else goes on, and nothing is pruned.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use controllers::kustomizations::Settings;
use serde_json::json;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// `dependsOn`: the second is applied when the first is ready, and is told what it waits for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_depends_on_another_is_applied_after_it() {
    // Nobody waits for the next try: what it waits for wakes it.
    let settings = Settings {
        requeue_dependency: Duration::from_secs(3600),
        ..Settings::default()
    };
    let files = [
        ("a/one.yaml", config_map("one", "1")),
        ("b/two.yaml", config_map("two", "1")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let setting = Setting::with_settings(&files, settings).await;
    setting
        .create("second", json!({"path": "./b", "dependsOn": [{"name": "first"}]}))
        .await;
    let object = setting.bed.ready("second", "False", "DependencyNotReady").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.ends_with("first' not found: kustomizations.kustomize.toolkit.fluxcd.io \"first\" not found"),
        "{message}"
    );
    setting.create("first", json!({"path": "./a"})).await;
    setting
        .bed
        .ready("second", "True", "ReconciliationSucceeded")
        .await;
    setting.value("two", Some("1")).await;
}

/// `dependsOn`: labels say which objects are worked on, not which sources and objects these may name. One of another shard is asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_knows_all_sources_and_asks_for_kustomizations_of_others() {
    let settings = Settings {
        requeue_dependency: Duration::from_secs(1),
        ..Settings::default()
    };
    let one = config_map("one", "1");
    let setting = Setting::of_shard(&[("one.yaml", &one)], settings, Some("shard=one")).await;
    setting.create("first", json!({})).await;
    setting
        .create("second", json!({"dependsOn": [{"name": "first"}]}))
        .await;
    let labels = json!({"metadata": {"labels": {"shard": "one"}}});
    setting.bed.patch("second", labels).await;
    let object = setting.bed.ready("second", "False", "DependencyNotReady").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.ends_with("/first' is not ready"), "{message}");
    let source = setting.bed.other::<api::source::GitRepositorySpec>();
    let source = source.get("app").await.unwrap().status.unwrap();
    let at = source.artifact.unwrap().revision.to_string();
    let ready = json!({"status": {"observedGeneration": 1, "lastAppliedRevision": at, "conditions": [{
        "type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }]}});
    let patch = kube::api::Patch::Merge(ready);
    let patched = setting
        .bed
        .api
        .patch_status("first", &Default::default(), &patch)
        .await;
    patched.unwrap();
    setting
        .bed
        .ready("second", "True", "ReconciliationSucceeded")
        .await;
    setting.value("one", Some("1")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_build_is_told_and_what_was_applied_stays() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting
        .commit(&[("kustomization.yaml", "resources: [nowhere.yaml]\n")])
        .await;
    let object = setting.bed.ready("app", "False", "BuildFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("nowhere.yaml"), "{message}");
    setting.value("one", Some("1")).await;
    setting
        .commit(&[("kustomization.yaml", "resources: [one.yaml]\n")])
        .await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    // What could not be built was never applied, and what can be was not refused.
    let history = object.status.unwrap().history;
    let ended: Vec<&str> = history
        .iter()
        .map(|entry| entry.last_reconciled_status.as_str())
        .collect();
    assert!(
        ended.iter().all(|ended| *ended == "ReconciliationSucceeded"),
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sources_and_paths_that_are_not_there_are_told() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let elsewhere = json!({"sourceRef": {"kind": "GitRepository", "name": "nowhere"}});
    setting.create("no-source", elsewhere).await;
    setting.create("no-path", json!({"path": "./nowhere"})).await;
    for (name, message) in [
        (
            "no-source",
            "gitrepositories.source.toolkit.fluxcd.io \"nowhere\" not found",
        ),
        ("no-path", "kustomization path not found"),
    ] {
        let is_told = |object: &api::kustomize::Kustomization| {
            let ready = condition(object, "Ready");
            ready.is_some_and(|ready| ready.reason == "ArtifactFailed" && ready.message.contains(message))
        };
        setting.bed.until(name, is_told).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_kind_and_a_refused_object_are_told_with_their_names() {
    let unknown = "apiVersion: nobody.test/v1\nkind: Nothing\nmetadata:\n  name: it\n";
    let setting = Setting::with(&[
        ("a/one.yaml", unknown),
        ("b/one.yaml", &config_map("One_Two", "1")),
    ])
    .await;
    setting.create("unknown", json!({"path": "./a"})).await;
    setting.create("refused", json!({"path": "./b"})).await;
    for (name, message) in [("unknown", "Nothing"), ("refused", "One_Two")] {
        let object = setting.bed.ready(name, "False", "ReconciliationFailed").await;
        let found = condition(&object, "Ready").unwrap().message;
        assert!(found.contains(message), "{found}");
    }
}

/// How a run ended is written whatever becomes of the first attempts, with all that belongs to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_could_not_be_written_is_written_later() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let Some(server) = setting.bed.cluster.server() else {
        // Nobody can have a real server refuse exactly these.
        return;
    };
    setting.create("app", json!({})).await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let refused = Rule::new(Fault::Unavailable)
        .verb("patch")
        .resource("kustomize.toolkit.fluxcd.io", "kustomizations")
        .subresource("status");
    // What is said at the beginning is not said again; the end is.
    let refused = server.faults().add(refused.times(3));
    let next = setting.commit(&[("one.yaml", &config_map("one", "2"))]).await;
    let object = setting.applied("app", &next).await;
    assert_eq!(server.faults().fired(refused), 3);
    let history = &object.status.unwrap().history;
    assert_eq!(history[0].metadata["revision"], next);
    setting.value("one", Some("2")).await;
}
