//! Hooks whose names objects or hooks of other units have.

use std::time::Duration;

use engine::unit::Phase;
use model::Value;

use super::{Bed, config_map, hook, slow, soon};

/// The hook of a unit, under a name that others have too.
fn migration(of: &str, policy: &str) -> Value {
    let mut object = slow("migrate");
    object.set_at(&["data", "key"], of);
    hook(object, "PreSync", policy)
}

/// Two units of one namespace have the same name for different things.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_neither_deletes_nor_overwrites_what_another_unit_has_for_good() {
    let bed = Bed::with_outcomes().await;
    bed.sync("owner", "v1", [config_map("shared", "precious")]);
    bed.applied("owner", "v1").await;
    let uid = bed.uid("shared").await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    for policy in ["BeforeHookCreation", "HookSucceeded"] {
        let objects = [
            hook(config_map("shared", "hook"), "PreSync", policy),
            config_map("web", "1"),
        ];
        bed.sync("shop", policy, objects);
        let failed = bed.until("shop", |status| {
            let last = status.operation.as_ref();
            status.attempted == policy && last.is_some_and(|last| last.phase == Phase::Failed)
        });
        let status = failed.await;
        assert!(
            status.errors[0].contains("an object of unit \"owner\" has the same name"),
            "{:?}",
            status.errors
        );
    }
    let live = bed.get("", "ConfigMap", "shared").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "precious");
    assert_eq!(bed.uid("shared").await, uid);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_two_units_may_have_the_same_name() {
    let bed = Bed::with_outcomes().await;
    for id in ["one", "two"] {
        bed.units.put(bed.argo(id));
        let migrate = hook(config_map("migrate", id), "PreSync", "BeforeHookCreation");
        bed.sync(id, "v1", [migrate, config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    bed.finish().await;
}

/// The hook of one is replaced by that of two while it runs.
#[tokio::test(start_paused = true)]
async fn an_operation_does_not_go_on_when_the_hook_of_another_unit_is_done() {
    let bed = Bed::paused().await;
    for id in ["one", "two"] {
        bed.units.put(bed.argo(id));
    }
    let objects = [migration("one", "BeforeHookCreation"), config_map("web-one", "1")];
    bed.sync("one", "v1", objects);
    bed.waits("one").await;
    let objects = [migration("two", "BeforeHookCreation"), config_map("web-two", "1")];
    bed.sync("two", "v1", objects);
    bed.phase("one", Phase::Failed).await;
    bed.units.remove("one");
    bed.engine.refresh("one");
    bed.waits("two").await;
    bed.seen("ConfigMap", "migrate", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "two")
    })
    .await;
    bed.outcome("migrate", "done").await;
    bed.applied("two", "v1").await;
    let went_on = soon(600, async || bed.key("web-one").await.is_some()).await;
    assert!(
        !went_on,
        "the hook of one was deleted while it ran, and one went on"
    );
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn who_has_lost_its_hook_does_not_delete_that_of_another_unit_which_runs() {
    let bed = Bed::paused().await;
    let mut one = bed.argo("one");
    one.policy.retry = Duration::from_secs(3600);
    bed.units.put(one);
    bed.units.put(bed.argo("two"));
    let policy = "BeforeHookCreation,HookFailed";
    bed.sync(
        "one",
        "v1",
        [migration("one", policy), config_map("web-one", "1")],
    );
    bed.waits("one").await;
    bed.sync(
        "two",
        "v1",
        [migration("two", policy), config_map("web-two", "1")],
    );
    bed.phase("one", Phase::Failed).await;
    bed.waits("two").await;
    let gone = soon(60, async || bed.key("migrate").await.as_deref() != Some("two")).await;
    assert!(!gone, "the hook of two was deleted");
    bed.outcome("migrate", "done").await;
    bed.applied("two", "v1").await;
    bed.finish().await;
}
