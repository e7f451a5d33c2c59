//! Units whose operation has failed or was terminated: it is not tried again before a while, and meanwhile what it had applied is looked
//! after, without hooks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::unit::{Phase, Status};
use model::Value;

use super::{Bed, argo, config_map, count_ended, hook, slow, soon};

/// What is retried after an hour fails in its second wave, and the third was not begun.
fn objects(first: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut objects: Vec<Value> = first.into_iter().collect();
    objects.extend([
        config_map("web", "1"),
        argo(slow("last"), "sync-wave", "1"),
        argo(config_map("never", "1"), "sync-wave", "2"),
    ]);
    objects
}

async fn fails(bed: &Bed) {
    bed.seen("ConfigMap", "last", |live| live.is_some()).await;
    bed.outcome("last", "failed").await;
    bed.phase("shop", Phase::Failed).await;
}

/// A unit that has failed, with these hooks, and is not tried again by itself.
async fn failed(bed: &Bed, hooks: impl IntoIterator<Item = Value>) {
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", objects(hooks));
    fails(bed).await;
}

fn migration(policy: &str) -> Value {
    hook(config_map("migrate", "1"), "PreSync", policy)
}

async fn web_is_right(bed: &Bed) {
    bed.seen("ConfigMap", "web", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_after_a_failure_runs_no_hooks_and_is_told_in_the_status() {
    let bed = Bed::with_outcomes().await;
    failed(&bed, [migration("BeforeHookCreation")]).await;
    let uid = bed.uid("migrate").await;
    for times in 1..=2 {
        bed.by_hand("", config_map("web", "by hand")).await;
        web_is_right(&bed).await;
        let told = bed.until("shop", |status| {
            let told = status.corrected.first();
            told.is_some_and(|told| told.key.name == "web" && told.times == times)
        });
        let status = told.await;
        assert_eq!(status.corrected.len(), 1);
        assert!(!status.errors.is_empty(), "it still has failed");
    }
    assert_eq!(bed.uid("migrate").await, uid, "the hook was run again for drift");
    // The next operation begins a new account.
    bed.outcome("last", "done").await;
    bed.sync("shop", "v2", [config_map("web", "2")]);
    let status = bed.applied("shop", "v2").await;
    assert!(status.corrected.is_empty());
    bed.finish().await;
}

/// The same while an operation waits.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_right_while_an_operation_waits_is_told_in_the_status() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    bed.sync("shop", "v1", objects([]));
    bed.seen("ConfigMap", "last", |live| live.is_some()).await;
    bed.waits("shop").await;
    bed.by_hand("", config_map("web", "by hand")).await;
    web_is_right(&bed).await;
    let is_told = |status: &Status| status.corrected.iter().any(|told| told.key.name == "web");
    let status = bed.until("shop", is_told).await;
    assert_eq!(status.operation.unwrap().phase, Phase::Running);
    bed.outcome("last", "done").await;
    let status = bed.applied("shop", "v1").await;
    assert!(is_told(&status), "it is known until the next operation begins");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_deleted_after_a_failure_comes_back() {
    let bed = Bed::with_outcomes().await;
    failed(&bed, []).await;
    bed.delete("web").await;
    web_is_right(&bed).await;
    bed.finish().await;
}

/// Whatever the hook's policy is, drift of an object behind it does not run it again.
#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_and_drift_of_an_object_are_no_loop() {
    for policy in ["BeforeHookCreation", "BeforeHookCreation,HookFailed"] {
        let bed = Bed::paused().await;
        failed(&bed, [migration(policy)]).await;
        let ended = count_ended(&bed.engine);
        let uid = bed.uid("migrate").await;
        for _ in 0..3 {
            bed.by_hand("", config_map("web", "by hand")).await;
            web_is_right(&bed).await;
        }
        soon(600, async || false).await;
        assert_eq!(ended.load(Ordering::SeqCst), 0, "{policy}: it was tried again");
        assert_eq!(bed.uid("migrate").await, uid, "{policy}: the hook was run again");
        bed.finish().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_terminated_is_not_begun_again_by_drift() {
    let bed = Bed::paused().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", objects([]));
    bed.seen("ConfigMap", "last", |live| live.is_some()).await;
    bed.waits("shop").await;
    bed.engine.terminate("shop");
    bed.phase("shop", Phase::Terminated).await;
    bed.by_hand("", config_map("web", "by hand")).await;
    web_is_right(&bed).await;
    let again = soon(600, async || {
        let last = bed.units.unit("shop").unwrap().status.operation.unwrap();
        last.phase == Phase::Running
    });
    assert!(!again.await, "the whole operation has begun again");
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_has_failed_costs_no_requests_while_nothing_changes() {
    let bed = Bed::paused().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    unit.policy.interval = Duration::from_secs(1);
    bed.units.put(unit);
    // The hook is gone, and missing all the same.
    bed.sync("shop", "v1", objects([migration("HookFailed")]));
    fails(&bed).await;
    soon(10, async || false).await;
    let (before, looks) = (bed.engine.requests("").unwrap(), bed.engine.looks());
    soon(60, async || false).await;
    assert!(bed.engine.looks() > looks + 30, "it was looked at");
    assert_eq!(bed.engine.requests("").unwrap(), before);
    bed.finish().await;
}

/// Whoever may refuse an operation may refuse this.
#[tokio::test(start_paused = true)]
async fn what_a_callback_takes_out_of_plans_is_not_put_right_after_a_failure() {
    let bed = Bed::paused().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("frozen", "1"), config_map("web", "0")]);
    bed.applied("shop", "v1").await;
    let _callback = bed.engine.on_before_sync(|_, mut plan| {
        for stage in &mut plan.stages {
            stage.steps.retain(|step| step.key.name != "frozen");
        }
        Ok(plan)
    });
    bed.sync("shop", "v2", objects([config_map("frozen", "1")]));
    fails(&bed).await;
    bed.by_hand("", config_map("frozen", "by hand")).await;
    let written = soon(600, async || bed.key("frozen").await.as_deref() == Some("1")).await;
    assert!(
        !written,
        "it is written although a callback lets nothing be done to it"
    );
    bed.finish().await;
}
