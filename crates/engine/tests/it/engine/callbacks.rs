//! What the engine tells, and what may be changed before it is done.

use std::sync::Arc;

use engine::unit::Phase;
use parking_lot::Mutex;

use super::{Bed, config_map};

type Told = Arc<Mutex<Vec<String>>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_can_be_changed_before_it_is_carried_out() {
    let bed = Bed::start().await;
    let quota = bed.engine.on_before_sync(|_, mut plan| {
        for stage in &mut plan.stages {
            stage.steps.retain(|step| step.key.name != "too-much");
        }
        plan.inventory
            .entries
            .retain(|entry| entry.id.0.name != "too-much");
        Ok(plan)
    });
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("too-much", "1")]);
    let status = bed.applied("shop", "v1").await;
    assert_eq!(status.inventory.entries.len(), 1);
    assert!(bed.get("", "ConfigMap", "too-much").await.is_none());
    drop(quota);
    bed.engine.refresh("shop");
    bed.seen("ConfigMap", "too-much", |live| live.is_some()).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_objects_operations_and_caches_is_told_until_the_subscription_ends() {
    let bed = Bed::start().await;
    let told = Told::default();
    let ours = bed.space.clone();
    let log = |what: &'static str| {
        let told = Arc::clone(&told);
        move |name: &str| told.lock().push(format!("{what} {name}"))
    };
    let (updated, removed) = (log("updated"), log("removed"));
    let (ready, completed) = (log("ready"), log("completed"));
    let space = ours.clone();
    let updated = bed.engine.on_resource_updated(move |_, entry| {
        if entry.namespace() == space {
            updated(entry.name());
        }
    });
    let space = ours.clone();
    let _removed = bed.engine.on_resource_removed(move |_, key| {
        if key.namespace == space {
            removed(&key.name);
        }
    });
    let _ready = bed.engine.on_cluster_cache_initialized(ready);
    let _completed = bed.engine.on_sync_completed(move |unit, state| {
        assert_eq!(state.phase, Phase::Succeeded);
        completed(unit);
    });
    let is_told = async |wanted: &str| {
        let every = testkit::settled::Every(std::time::Duration::from_millis(10));
        let settled = testkit::settled(super::LIMIT, every, async || {
            let told = told.lock().clone();
            if told.iter().any(|line| line == wanted) {
                Ok(())
            } else {
                Err(format!("{told:?}"))
            }
        });
        settled.await.unwrap_or_else(|error| panic!("{wanted}: {error}"));
    };
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    for line in ["ready ", "updated a", "updated b", "completed shop"] {
        is_told(line).await;
    }
    drop(updated);
    told.lock().clear();
    bed.sync("shop", "v2", [config_map("b", "2")]);
    is_told("removed a").await;
    is_told("completed shop").await;
    let told = told.lock().clone();
    assert!(!told.iter().any(|line| line.starts_with("updated")), "{told:?}");
    assert!(!told.iter().any(|line| line.starts_with("ready")), "{told:?}");
    bed.finish().await;
}

/// A callback that calls the engine does not stop it, as it would under a lock.
#[tokio::test(flavor = "multi_thread")]
async fn callbacks_may_call_the_engine() {
    let bed = Bed::start().await;
    let engine = bed.engine.clone();
    let _again = bed.engine.on_resource_updated(move |cluster, _| {
        engine.refresh("shop");
        engine.terminate("nobody");
        drop(engine.on_unit_event(|_, _| {}));
        engine.requests(cluster);
    });
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("a", "2")]);
    bed.applied("shop", "v2").await;
    bed.finish().await;
}
