//! What the engine tells, and what may be changed before it is done.

use std::sync::Arc;

use engine::plan::{Action, Strategy};
use engine::unit::{
    Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Operation, Phase, Status, SyncState,
    SyncUnit,
};
use engine::{Engine, Subscription};
use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::{Bed, Running, Sources, config_map, soon};

type Told = Arc<Mutex<Vec<String>>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_can_be_changed_before_it_is_carried_out() {
    let bed = Bed::start().await;
    let quota = bed.engine.on_before_sync(|_, mut plan| {
        for stage in &mut plan.stages {
            stage.steps.retain(|step| step.key.name != "too-much");
        }
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

/// Takes the steps of an object out of each plan.
fn without(bed: &Bed, name: &'static str) -> Subscription {
    bed.engine.on_before_sync(move |_, mut plan| {
        for stage in &mut plan.stages {
            stage.steps.retain(|step| step.key.name != name);
        }
        Ok(plan)
    })
}

fn names(status: &Status) -> Vec<String> {
    let entries = status.inventory.entries.iter();
    entries.map(|entry| entry.id.0.name.to_string()).collect()
}

/// A unit whose objects have no marks: its inventory alone says what is its own.
fn unmarked(bed: &Bed) {
    let mut unit = bed.unit("shop");
    unit.policy.strategy = Strategy::helm();
    unit.policy.retry = std::time::Duration::from_secs(3600);
    bed.units.put(unit);
}

/// How many operations of the unit for this revision have ended so far.
fn completed(bed: &Bed, revision: &'static str) -> Arc<Mutex<usize>> {
    let count: Arc<Mutex<usize>> = Arc::default();
    let counted = Arc::clone(&count);
    let counting = bed.engine.on_sync_completed(move |unit, state| {
        *counted.lock() += usize::from(unit == "shop" && state.plan.revision == revision);
    });
    counting.forever();
    count
}

/// Another unit goes through a few revisions, so that this one would have had its turn.
async fn others_have_a_turn(bed: &Bed) {
    for revision in ["v1", "v2", "v3"] {
        bed.sync("other", revision, [config_map("other", revision)]);
        bed.applied("other", revision).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_out_of_a_plan_is_not_the_units_and_is_not_pruned_later() {
    let bed = Bed::start().await;
    unmarked(&bed);
    bed.by_hand("", config_map("theirs", "mine")).await;
    let _without = without(&bed, "theirs");
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("theirs", "1")]);
    let status = bed.applied("shop", "v1").await;
    assert_eq!(names(&status), ["a"]);
    bed.sync("shop", "v2", [config_map("a", "2")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(names(&status), ["a"]);
    assert!(bed.get("", "ConfigMap", "theirs").await.is_some());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prune_that_was_taken_out_stays_in_the_inventory_and_is_not_begun_again_and_again() {
    let bed = Bed::start().await;
    unmarked(&bed);
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("old", "1")]);
    bed.applied("shop", "v1").await;
    let without = without(&bed, "old");
    let count = completed(&bed, "v2");
    bed.sync("shop", "v2", [config_map("a", "2")]);
    bed.applied("shop", "v2").await;
    let told = bed
        .until("shop", |status| {
            status.sync == SyncState::OutOfSync && status.health.is_some()
        })
        .await;
    assert_eq!(names(&told), ["a", "old"]);
    others_have_a_turn(&bed).await;
    assert_eq!(*count.lock(), 1);
    // What differs besides is put right all the same.
    bed.by_hand("", config_map("a", "by hand")).await;
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "2")
    })
    .await;
    assert!(bed.uid("old").await.is_some());
    drop(without);
    bed.engine.refresh("shop");
    let status = bed.until("shop", |status| names(status) == ["a"]).await;
    assert_eq!(status.revision, "v2");
    assert!(bed.uid("old").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_is_changed_waits_before_it_is_tried_again() {
    let bed = Bed::start().await;
    unmarked(&bed);
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("kept", "1")]);
    bed.applied("shop", "v1").await;
    let without = without(&bed, "kept");
    let count = completed(&bed, "");
    let delete = Operation {
        delete: true,
        ..Operation::default()
    };
    bed.ask("shop", delete);
    bed.until("shop", |status| names(status) == ["kept"]).await;
    others_have_a_turn(&bed).await;
    assert_eq!(*count.lock(), 1);
    drop(without);
    bed.engine.refresh("shop");
    bed.until("shop", |status| names(status).is_empty()).await;
    assert!(bed.uid("kept").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_out_is_not_waited_for_and_a_step_that_is_told_to_do_nothing_is_taken_out() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = super::waiting(3600);
    bed.units.put(unit);
    let _skipping = bed.engine.on_before_sync(|_, mut plan| {
        let steps = plan.stages.iter_mut().flat_map(|stage| &mut stage.steps);
        for step in steps.filter(|step| step.key.name == "too-much") {
            step.action = Action::Skip;
        }
        Ok(plan)
    });
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("too-much", "1")]);
    let status = bed.applied("shop", "v1").await;
    assert_eq!(names(&status), ["a"]);
    assert_eq!(status.sync, SyncState::OutOfSync);
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

/// While it generates, the last unit of the cluster is taken away, or moves.
struct Meanwhile(Sources, MemoryStore, bool);

impl ManifestGenerator for Meanwhile {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        applied: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        let Meanwhile(sources, units, moves) = self;
        if let Some(mut last) = units.unit("z-last").filter(|_| unit.id == "a-shop") {
            units.remove("z-last");
            last.destination.cluster = "elsewhere".to_owned();
            if *moves {
                units.put(last);
            }
        }
        sources.generate(unit, applied, fresh)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_known_also_if_the_last_unit_that_was_to_be_in_it_is_gone_or_elsewhere() {
    for moves in [false, true] {
        let bed = Bed::start().await;
        bed.running.end().await;
        for id in ["a-shop", "z-last"] {
            bed.units.put(bed.unit(id));
            bed.sources.set(id, "v1", [config_map(id, "1")]);
        }
        let sources = Meanwhile(bed.sources.clone(), bed.units.clone(), moves);
        let access = OneCluster::new(bed.test.client());
        let engine = Engine::new(bed.settings.clone(), access, sources, bed.units.clone());
        let ready: Arc<Mutex<Vec<String>>> = Arc::default();
        let tell = Arc::clone(&ready);
        let _told = engine.on_cluster_cache_initialized(move |cluster| tell.lock().push(cluster.to_owned()));
        let running = Running::start(&engine, 1);
        let is_told = async || ready.lock().iter().any(String::is_empty);
        assert!(soon(30, is_told).await, "{:?}", ready.lock());
        running.end().await;
        bed.finish().await;
    }
}
