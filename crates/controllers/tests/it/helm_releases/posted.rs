//! What those are told who are notified.

use serde_json::{Value, json};

use super::bed::{CONFIG, Setting};
use super::hands::judged;
use crate::sources::events::Hook;

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// HS3: that a release waits for others is posted, and each failure is; that nothing more is tried is in the status alone.
#[tokio::test]
async fn waiting_for_others_is_posted_and_giving_up_is_not_told() {
    let mut setting = Setting::with(&FILES).await;
    let hook = Hook::start(202);
    setting.bed.kill();
    setting.bed.post_to = Some(hook.server.url());
    setting.start();
    setting
        .create("web", judged(json!({"values": {"a": "bad"}})))
        .await;
    setting.stalled("web", "RetriesExceeded").await;
    setting
        .create("waits", json!({"dependsOn": [{"name": "nobody"}]}))
        .await;
    let is = |reason: &'static str| move |post: &Value| post["reason"] == reason;
    let posted = hook.until_posted(is("DependencyNotReady")).await;
    assert_eq!(posted["severity"], "info");
    assert_eq!(posted["involvedObject"]["name"], "waits");
    let failed = hook.until_posted(is("InstallFailed")).await;
    assert_eq!(failed["severity"], "error");
    let all = hook.posted(0).await;
    assert_eq!(all.iter().find(|post| is("RetriesExceeded")(post)), None);
}
