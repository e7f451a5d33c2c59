//! Definitions of kinds: they stay while another unit has objects of their kinds, and objects are compared anew when they change.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::unit::Phase;
use model::{Value, value};

use super::{Bed, argo, config_map, count_ended, definition, hook, slow, soon, widget};

/// A group that no other test has.
fn group(bed: &Bed) -> String {
    format!("{}.example.com", bed.test.prefix())
}

async fn is_there(bed: &Bed, group: &str) -> bool {
    let definitions = bed
        .resource("apiextensions.k8s.io", "CustomResourceDefinition")
        .await;
    let name = format!("widgets.{group}");
    let live = bed.cluster.get(&definitions, "", &name).await.unwrap();
    live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_none())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_stays_while_another_unit_has_objects_of_its_kind_and_then_goes() {
    let bed = Bed::start().await;
    let group = &group(&bed);
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    bed.sync("def", "v2", [config_map("def", "2")]);
    bed.applied("def", "v2").await;
    assert!(is_there(&bed, group).await);
    bed.sync("app", "v2", [config_map("app", "2")]);
    bed.applied("app", "v2").await;
    let gone = soon(60, async || !is_there(&bed, group).await).await;
    assert!(gone, "nobody needs it any more, and it stays");
    bed.finish().await;
}

/// The operation waits between the plan and what it prunes.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_another_unit_uses_since_an_operation_waits_is_not_pruned() {
    let bed = Bed::with_outcomes().await;
    let group = &group(&bed);
    bed.units.put(bed.argo("def"));
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    let before = hook(slow("before"), "PreSync", "HookSucceeded");
    bed.sync("def", "v2", [before, config_map("def", "2")]);
    bed.waits("def").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    bed.outcome("before", "done").await;
    let status = bed.applied("def", "v2").await;
    assert!(is_there(&bed, group).await, "{:#?}", status.operation);
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_definition_of_which_another_unit_has_a_hook_is_not_tried_to_be_pruned_without_a_pause() {
    let bed = Bed::paused().await;
    let group = &group(&bed);
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.units.put(bed.argo("app"));
    let migrate = hook(widget(group), "PreSync", "BeforeHookCreation");
    bed.sync("app", "v1", [migrate, config_map("app", "1")]);
    bed.applied("app", "v1").await;
    let ended = count_ended(&bed.engine);
    bed.sync("def", "v2", [config_map("def", "2")]);
    bed.applied("def", "v2").await;
    soon(60, async || false).await;
    let ended = ended.load(Ordering::SeqCst);
    assert!(ended <= 3, "{ended} operations in a minute");
    bed.finish().await;
}

/// A widget with a size.
fn sized(group: &str, size: &str) -> Value {
    let mut object = widget(group);
    object.set_at(&["spec"], value!({ "size": size }));
    object
}

/// What a unit that has failed had applied is compared anew when its kind is defined otherwise, and looked after as before.
#[tokio::test(flavor = "multi_thread")]
async fn drift_of_a_unit_that_has_failed_is_put_right_also_after_a_definition_was_written() {
    let bed = Bed::with_outcomes().await;
    let group = &group(&bed);
    bed.sync("def", "v1", [definition(group)]);
    bed.applied("def", "v1").await;
    let mut unit = bed.argo("app");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let objects = [
        sized(group, "small"),
        config_map("web", "1"),
        argo(slow("last"), "sync-wave", "1"),
        argo(config_map("never", "1"), "sync-wave", "2"),
    ];
    bed.sync("app", "v1", objects);
    bed.seen("ConfigMap", "last", |live| live.is_some()).await;
    bed.outcome("last", "failed").await;
    bed.phase("app", Phase::Failed).await;
    let mut otherwise = definition(group);
    otherwise.set_at(&["metadata", "labels"], value!({ "defined": "otherwise" }));
    bed.sync("def", "v2", [otherwise]);
    bed.applied("def", "v2").await;
    bed.by_hand("", config_map("web", "by hand")).await;
    bed.by_hand(group, sized(group, "by hand")).await;
    let is_right = async || {
        let live = bed.get(group, "Widget", "w").await.unwrap();
        live.str_at(&["spec", "size"]) == "small" && bed.key("web").await.as_deref() == Some("1")
    };
    assert!(soon(60, is_right).await);
    bed.finish().await;
}
