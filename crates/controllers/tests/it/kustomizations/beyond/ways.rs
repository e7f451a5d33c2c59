//! `sluice.dev/continue-on-error` and `sluice.dev/hooks`

use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use serde_json::json;

use super::super::bed::{Setting, config_map};
use super::ready_message;

const UNKNOWN: &str = "apiVersion: nobody.test/v1\nkind: Nothing\nmetadata:\n  name: it\n";

/// What is refused holds up no others, neither what is applied nor what is pruned, and all of it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_holds_up_no_others() {
    let setting = Setting::with(&[
        ("one.yaml", &config_map("one", "1")),
        ("two.yaml", &config_map("two", "1")),
    ])
    .await;
    let asks = json!({"sluice.dev/continue-on-error": "enabled"});
    setting.create_asking("app", asks, json!({})).await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let applied = object.status.unwrap().last_applied_revision;
    let change = setting.server.repository("app").change("main");
    change
        .delete("two.yaml")
        .file("one.yaml", config_map("one", "2"))
        .file("bad.yaml", config_map("Not_A_Name", "1"))
        .file("unknown.yaml", UNKNOWN)
        .commit();
    setting.fetch().await;
    let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
    let message = ready_message(&object);
    assert!(
        message.contains("Not_A_Name") && message.contains("Nothing/"),
        "{message}"
    );
    setting.value("one", Some("2")).await;
    setting.value("two", None).await;
    let status = object.status.unwrap();
    assert_eq!(status.last_applied_revision, applied);
    let entries = status.inventory.unwrap().entries;
    let names: Vec<&str> = entries.iter().map(|entry| &*entry.id.0.name).collect();
    assert!(names.contains(&"one") && !names.contains(&"two"), "{names:?}");
}

fn hooked(name: &str, annotations: &str) -> String {
    let wave = format!("metadata:\n  annotations:\n    {annotations}\n");
    config_map(name, "1").replace("metadata:\n", &wave)
}

/// Waves come one after the other, and hooks before and after: each is seen to wait for what is before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_and_waves_count_when_they_are_asked_for() {
    let before = hooked("before", "argocd.argoproj.io/hook: PreSync");
    let first = hooked("first", "argocd.argoproj.io/sync-wave: \"-1\"");
    // It is this test's to say how the job is getting on: a real cluster's own controller leaves it alone.
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: gate\n  annotations:\n    argocd.argoproj.io/hook: Sync\n    \
               argocd.argoproj.io/sync-wave: \"0\"\nspec:\n  managedBy: example.com/test\n  template:\n    spec:\n      restartPolicy: Never\n      \
               containers:\n      - name: main\n        image: example.com/none\n";
    let last = hooked("last", "argocd.argoproj.io/sync-wave: \"1\"");
    let setting = Setting::with(&[
        ("before.yaml", &before),
        ("first.yaml", &first),
        ("job.yaml", job),
        ("last.yaml", &last),
    ])
    .await;
    let asks = json!({"sluice.dev/hooks": "enabled"});
    setting.create_asking("app", asks, json!({})).await;
    setting.value("before", Some("1")).await;
    setting.value("first", Some("1")).await;
    let jobs: Api<Job> = Api::namespaced(setting.bed.cluster.client(), &setting.bed.namespace);
    let there = testkit::cluster::object_settled(jobs.clone(), "gate", testkit::DEADLINE, |job| {
        job.map(|_| ()).ok_or_else(|| "there is no job".to_owned())
    });
    there.await.unwrap();
    // The last wave waits for the job.
    setting.value("last", None).await;
    let done = json!({"status": {
        "conditions": [
            {"type": "SuccessCriteriaMet", "status": "True"},
            {"type": "Complete", "status": "True"},
        ],
        "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z", "succeeded": 1,
    }});
    let patch = kube::api::Patch::Merge(&done);
    jobs.patch_status("gate", &Default::default(), &patch)
        .await
        .unwrap();
    setting.value("last", Some("1")).await;
    let object = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let entries = object.status.unwrap().inventory.unwrap().entries.len();
    assert_eq!(entries, 2, "hooks are in no inventory");
}
