//! `sluice.dev/prune-budget` and `sluice.dev/prune-confirmed`

use serde_json::json;

use super::super::bed::{Setting, config_map};
use super::ready_message;

/// A prune over the budget waits, the rest of the revision does not; the name that confirms it is in the message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prune_over_the_budget_waits_until_it_is_confirmed() {
    let files = ["a", "b", "c", "d"].map(|name| (format!("{name}.yaml"), config_map(name, "1")));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let setting = Setting::with(&files).await;
    setting
        .create_asking("app", json!({"sluice.dev/prune-budget": "1, 50%"}), json!({}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;

    // One may go.
    let repository = setting.server.repository("app");
    let commit = repository.change("main").delete("a.yaml").commit();
    setting.fetch().await;
    setting.applied("app", &format!("main@sha1:{commit}")).await;
    setting.value("a", None).await;

    let two = config_map("d", "2");
    let commit = repository
        .change("main")
        .delete("b.yaml")
        .delete("c.yaml")
        .file("d.yaml", two)
        .commit();
    setting.fetch().await;
    let object = setting.bed.ready("app", "False", "PruneBudgetExceeded").await;
    let (message, space) = (ready_message(&object), &setting.bed.namespace);
    let start = format!(
        "2 of 3 objects would be pruned, but the budget allows 1: ConfigMap/{space}/b, ConfigMap/{space}/c; if this is meant, "
    );
    assert!(message.starts_with(&start), "{message}");
    setting.value("d", Some("2")).await;
    setting.value("b", Some("1")).await;
    setting.value("c", Some("1")).await;
    let status = object.status.unwrap();
    assert_eq!(status.inventory.unwrap().entries.len(), 3);
    setting
        .bed
        .until_event(|event| {
            event.reason.as_deref() == Some("PruneBudgetExceeded")
                && event.type_.as_deref() == Some("Warning")
        })
        .await;

    // Another name confirms nothing; a run that somebody asks for changes nothing about that.
    setting
        .ask("app", json!({"sluice.dev/prune-confirmed": "000000000000"}))
        .await;
    setting.bed.requested("app", "now").await;
    setting.value("b", Some("1")).await;
    let name = message.rsplit('"').nth(1).unwrap();
    setting
        .ask("app", json!({"sluice.dev/prune-confirmed": name}))
        .await;
    setting.applied("app", &format!("main@sha1:{commit}")).await;
    setting.value("b", None).await;
    setting.value("c", None).await;
}

/// What would be pruned over the budget and is wanted again is not held any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_back_is_not_waited_for() {
    let setting = Setting::with(&[
        ("a.yaml", &config_map("a", "1")),
        ("b.yaml", &config_map("b", "1")),
    ])
    .await;
    setting
        .create_asking("app", json!({"sluice.dev/prune-budget": "0"}), json!({}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting
        .server
        .repository("app")
        .change("main")
        .delete("a.yaml")
        .commit();
    setting.fetch().await;
    setting.bed.ready("app", "False", "PruneBudgetExceeded").await;
    let back = setting.commit(&[("a.yaml", &config_map("a", "2"))]).await;
    setting.applied("app", &back).await;
    setting.value("a", Some("2")).await;
    // Who deletes the whole Kustomization means it.
    setting.bed.delete("app").await;
    setting.value("a", None).await;
}
