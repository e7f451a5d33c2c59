//! A Kustomization whose build becomes empty: `sluice.dev/prune-empty`, and `--default-prune-budget`.

use controllers::kustomizations::{PruneBudget, Settings};
use serde_json::json;

use super::super::bed::{Setting, config_map};
use super::ready_message;

/// A build that has no objects.
const NOTHING: &str = "namePrefix: nobody-\nresources: []\n";

async fn two(settings: Settings) -> Setting {
    let list = "resources: [a.yaml, b.yaml]\n";
    let (a, b) = (config_map("a", "1"), config_map("b", "1"));
    let files = [("kustomization.yaml", list), ("a.yaml", &a), ("b.yaml", &b)];
    Setting::with_settings(&files, settings).await
}

/// As with Flux, which is also what `allow` says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_build_prunes_everything_unless_it_is_denied() {
    for annotations in [json!({}), json!({"sluice.dev/prune-empty": "allow"})] {
        let setting = two(Settings::default()).await;
        setting.create_asking("app", annotations, json!({})).await;
        setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
        let revision = setting.commit(&[("kustomization.yaml", NOTHING)]).await;
        setting.applied("app", &revision).await;
        setting.value("a", None).await;
        setting.value("b", None).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_empty_build_changes_nothing() {
    let setting = two(Settings::default()).await;
    let deny = json!({"sluice.dev/prune-empty": "deny"});
    setting.create_asking("app", deny.clone(), json!({})).await;
    setting
        .create_asking("gone", deny, json!({"namePrefix": "gone-"}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.bed.ready("gone", "True", "ReconciliationSucceeded").await;
    setting.commit(&[("kustomization.yaml", NOTHING)]).await;
    let object = setting.bed.ready("app", "False", "ReconciliationFailed").await;
    let message = ready_message(&object);
    assert!(
        message.contains(
            "the build is empty and all 2 objects would be pruned: if this is meant, set the annotation sluice.dev/prune-empty: allow"
        ),
        "{message}"
    );
    setting.value("a", Some("1")).await;
    setting.value("b", Some("1")).await;
    // What is deleted itself is not guarded.
    setting.bed.delete("gone").await;
    setting.value("gone-a", None).await;
    // Whoever means it takes the guard away.
    setting
        .ask("app", json!({"sluice.dev/prune-empty": "allow"}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.value("a", None).await;
}

/// `--default-prune-budget`: an object without a budget of its own has this one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_default_budget_holds_back_what_an_empty_build_would_prune() {
    let settings = Settings {
        default_prune_budget: Some(PruneBudget::parse("50%").unwrap()),
        ..Settings::default()
    };
    let setting = two(settings).await;
    setting.create("app", json!({})).await;
    let own = json!({"sluice.dev/prune-budget": "100%"});
    setting
        .create_asking("own", own, json!({"namePrefix": "own-"}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.bed.ready("own", "True", "ReconciliationSucceeded").await;
    let revision = setting.commit(&[("kustomization.yaml", NOTHING)]).await;
    let object = setting.bed.ready("app", "False", "PruneBudgetExceeded").await;
    let message = ready_message(&object);
    assert!(
        message.starts_with("2 of 2 objects would be pruned, but the budget allows 1: "),
        "{message}"
    );
    setting.value("a", Some("1")).await;
    setting.value("b", Some("1")).await;
    setting.applied("own", &revision).await;
    setting.value("own-a", None).await;
}
