//! What Kustomizations can ask for beyond Flux, by annotations.

mod budget;
mod empty;
mod observe;
mod pin;
mod unread;
mod ways;

use super::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// What `Ready` says of a Kustomization.
fn ready_message(object: &api::kustomize::Kustomization) -> String {
    condition(object, "Ready")
        .map(|ready| ready.message)
        .unwrap_or_default()
}

/// An annotation that nobody knows stalls its object, and nothing is applied: what was meant may be to do less.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_annotation_that_nobody_knows_is_told_and_nothing_is_applied() {
    let setting = Setting::with(&[("one.yaml", &config_map("one", "1"))]).await;
    let asks = serde_json::json!({"sluice.dev/obsrve": "enabled"});
    setting.create_asking("app", asks, serde_json::json!({})).await;
    let object = setting.bed.ready("app", "False", "InvalidAnnotation").await;
    assert!(ready_message(&object).contains("annotation sluice.dev/obsrve: there is none of this name"));
    assert!(condition(&object, "Stalled").is_some());
    setting.value("one", None).await;
    // Its correction is seen without anything else.
    setting
        .ask("app", serde_json::json!({"sluice.dev/obsrve": null}))
        .await;
    setting.bed.ready("app", "True", "ReconciliationSucceeded").await;
    setting.value("one", Some("1")).await;
}
