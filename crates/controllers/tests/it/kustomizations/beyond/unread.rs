//! `sluice.dev/skip-unread`

use serde_json::json;

use super::super::bed::{Setting, config_map};

/// A commit that changes nothing that is read moves the revisions on, and that is all: no build, no run, no history.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_changes_nothing_that_is_read_is_recorded_without_a_run() {
    let setting = Setting::with(&[
        ("app/one.yaml", &config_map("one", "${v}")),
        ("other/two.yaml", &config_map("two", "1")),
    ])
    .await;
    let vars = serde_json::from_value(json!({"metadata": {"name": "vars"}, "data": {"v": "x"}})).unwrap();
    let maps = setting.config_maps();
    maps.create(&Default::default(), &vars).await.unwrap();
    let from = json!({"substituteFrom": [{"kind": "ConfigMap", "name": "vars"}]});
    setting
        .create_asking(
            "app",
            json!({"sluice.dev/skip-unread": "enabled"}),
            json!({"path": "./app", "postBuild": from}),
        )
        .await;
    let before = setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    // A build would see this: nobody is told of a ConfigMap without the label.
    let patch = kube::api::Patch::Merge(json!({"data": {"v": "y"}}));
    maps.patch("vars", &Default::default(), &patch).await.unwrap();

    let unread = setting
        .commit(&[("other/two.yaml", &config_map("two", "2"))])
        .await;
    let object = setting.applied("app", &unread).await;
    let status = object.status.unwrap();
    assert_eq!(status.last_attempted_revision.as_deref(), Some(unread.as_str()));
    assert_eq!(json!(status.history), json!(before.status.unwrap().history));
    setting.value("one", Some("x")).await;
    let told = format!("Revision {unread} changes no file that is read: nothing is to be done");
    let event = setting
        .bed
        .until_event(|event| event.message.as_deref() == Some(&told))
        .await;
    assert_eq!(event.reason.as_deref(), Some("ReconciliationSucceeded"));

    // A run that somebody asks for is made as ever, and what is read is applied.
    let read = setting
        .commit(&[("app/one.yaml", &config_map("one", "${v} again"))])
        .await;
    let object = setting.applied("app", &read).await;
    assert_eq!(object.status.unwrap().history.len(), 2);
    setting.value("one", Some("y again")).await;
}

/// Without the annotation each commit is applied, as with Flux; a file more counts where a whole folder is built.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_in_a_folder_that_is_built_as_a_whole_is_applied() {
    let setting = Setting::with(&[("app/one.yaml", &config_map("one", "1"))]).await;
    let path = json!({"path": "./app"});
    setting
        .create_asking("app", json!({"sluice.dev/skip-unread": "enabled"}), path)
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    let unread = setting.commit(&[("README.md", "hello")]).await;
    setting.applied("app", &unread).await;
    // What somebody changes is still put right, and told as of the newest revision.
    let patch = kube::api::Patch::Merge(json!({"data": {"a": "by hand"}}));
    let maps = setting.config_maps();
    maps.patch("one", &Default::default(), &patch).await.unwrap();
    setting.value("one", Some("1")).await;
    setting.applied("app", &unread).await;
    let more = setting.commit(&[("app/two.yaml", &config_map("two", "1"))]).await;
    setting.applied("app", &more).await;
    setting.value("two", Some("1")).await;
}

/// What depends on a Kustomization of the same source waits for it to have the same revision, and goes on when that is recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_depends_on_it_goes_on_when_a_revision_is_recorded() {
    let setting = Setting::with(&[
        ("a/one.yaml", &config_map("one", "1")),
        ("b/two.yaml", &config_map("two", "1")),
    ])
    .await;
    let skips = || json!({"sluice.dev/skip-unread": "enabled"});
    setting
        .create_asking("first", skips(), json!({"path": "./a"}))
        .await;
    setting
        .create_asking(
            "second",
            skips(),
            json!({"path": "./b", "dependsOn": [{"name": "first"}]}),
        )
        .await;
    setting
        .bed
        .ready("second", "True", "ReconciliationSucceeded")
        .await;
    let revision = setting.commit(&[("b/two.yaml", &config_map("two", "2"))]).await;
    setting.applied("first", &revision).await;
    setting.applied("second", &revision).await;
    setting.value("two", Some("2")).await;
}
