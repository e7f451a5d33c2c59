//! Waves on a cluster: what comes first, what is waited for, what is pruned last.

use engine::unit::Phase;
use model::Value;

use super::{Bed, argo, config_map, slow, waiting, worked_on};

fn in_wave(object: Value, wave: &str) -> Value {
    argo(object, "sync-wave", wave)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wave_begins_when_the_one_before_is_healthy() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let objects = [
        in_wave(config_map("last", "1"), "5"),
        in_wave(config_map("first", "1"), "-1"),
        slow("second"),
    ];
    bed.sync("shop", "v1", objects);
    bed.waits("shop").await;
    assert!(bed.get("", "ConfigMap", "first").await.is_some());
    assert!(bed.get("", "ConfigMap", "last").await.is_none());
    bed.outcome("second", "done").await;
    let status = bed.applied("shop", "v1").await;
    assert_eq!(worked_on(&status), ["first", "second", "last"]);
    bed.finish().await;
}

/// §1.7: the last wave is never waited for, so that a rollout that fails counts as a success.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_wave_is_waited_for_if_the_unit_asks_for_health() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.options = waiting(600);
    bed.units.put(unit);
    bed.sync(
        "shop",
        "v1",
        [config_map("first", "1"), in_wave(slow("last"), "1")],
    );
    let status = bed.waits("shop").await;
    assert_eq!(status.revision, "");
    bed.outcome("last", "done").await;
    bed.applied("shop", "v1").await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wave_that_takes_too_long_fails_and_the_next_one_does_not_begin() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.options.wave_seconds = 1;
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    bed.sync(
        "shop",
        "v1",
        [slow("first"), in_wave(config_map("last", "1"), "1")],
    );
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(
        status.errors[0].contains("first status: 'InProgress'"),
        "{:?}",
        status.errors
    );
    assert!(bed.get("", "ConfigMap", "last").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waves_are_pruned_from_the_last_and_what_asks_for_it_after_everything() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let objects = [
        in_wave(config_map("one", "1"), "1"),
        in_wave(config_map("two", "1"), "2"),
        argo(config_map("data", "1"), "sync-options", "PruneLast=true"),
        config_map("kept", "1"),
    ];
    bed.sync("shop", "v1", objects);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("kept", "2")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(worked_on(&status), ["two", "kept", "one", "data"]);
    bed.finish().await;
}
