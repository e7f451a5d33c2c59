//! Nothing is deleted before it is known what all other units want: when a plan is made, when an operation goes on after it has waited,
//! and after a restart.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use engine::Engine;
use engine::plan::{Ownership, Strategy};
use engine::unit::{Failure, Generated, ManifestGenerator, OneCluster, Status, SyncState, SyncUnit};
use futures::future::BoxFuture;
use model::value;
use parking_lot::Mutex;

use super::{Bed, Running, Sources, argo, config_map, hook, is_waiting, slow};

/// A unit that waits for its objects before it prunes what it does not want any more. Nothing in the cluster says whose they are.
fn patient(bed: &Bed, id: &str) -> SyncUnit {
    let mut unit = bed.argo(id);
    unit.policy.strategy.ownership = Ownership::Inventory;
    unit.policy.options.argo.prune_last = true;
    unit
}

/// A unit whose inventory alone says what it has.
fn unmarked(bed: &Bed, id: &str) -> SyncUnit {
    let mut unit = bed.unit(id);
    unit.policy.strategy = Strategy::helm();
    unit
}

fn has(status: &Status, name: &str) -> bool {
    let mut entries = status.inventory.entries.iter();
    entries.any(|entry| entry.id.0.name == name)
}

/// One unit gives an object away and waits for something else before it would prune it; the other does not want it yet.
async fn gives_and_waits(bed: &Bed) -> String {
    bed.units.put(patient(bed, "giver"));
    bed.units.put(unmarked(bed, "taker"));
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    bed.sync("taker", "v1", [config_map("taker", "1")]);
    bed.applied("giver", "v1").await;
    bed.applied("taker", "v1").await;
    let uid = bed.uid("x").await.unwrap();
    let last = argo(config_map("last", "1"), "sync-wave", "1");
    bed.sync("giver", "v2", [config_map("giver", "1"), slow("slow"), last]);
    bed.waits("giver").await;
    uid
}

/// The object was given away, and is the same one.
async fn moved(bed: &Bed, uid: &str) {
    bed.applied("giver", "v2").await;
    bed.until("giver", |status| !has(status, "x")).await;
    bed.until("taker", |status| has(status, "x")).await;
    assert_eq!(bed.uid("x").await.as_deref(), Some(uid));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_unit_wants_since_an_operation_waits_is_not_deleted() {
    let bed = Bed::with_outcomes().await;
    let uid = gives_and_waits(&bed).await;
    // Nobody tells the engine of it.
    bed.sources
        .set("taker", "v2", [config_map("taker", "1"), config_map("x", "1")]);
    bed.outcome("slow", "done").await;
    moved(&bed, &uid).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_goes_on_after_a_restart_hears_others_before_it_deletes() {
    let mut bed = Bed::with_outcomes().await;
    let uid = gives_and_waits(&bed).await;
    // The source of the other one cannot be read for a while.
    let broken = bed.sources.0.lock().remove("taker").unwrap();
    assert_eq!(broken.0, "v1");
    bed.restart().await;
    bed.until("taker", |status| !status.errors.is_empty()).await;
    bed.outcome("slow", "done").await;
    bed.until("giver", |status| {
        let operation = status.operation.as_ref().unwrap();
        operation.message.starts_with("waiting for other units")
    })
    .await;
    assert_eq!(bed.uid("x").await.as_ref(), Some(&uid));
    bed.sync("taker", "v2", [config_map("taker", "1"), config_map("x", "1")]);
    moved(&bed, &uid).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_the_engine_was_not_told_of_is_heard_too() {
    let bed = Bed::start().await;
    bed.units.put(unmarked(&bed, "giver"));
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    bed.applied("giver", "v1").await;
    let uid = bed.uid("x").await.unwrap();
    bed.sources.set("taker", "v1", [config_map("x", "1")]);
    bed.units.put(unmarked(&bed, "taker"));
    bed.sync("giver", "v2", [config_map("giver", "1")]);
    moved(&bed, &uid).await;
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_look_that_fails_is_not_heard() {
    let bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    bed.units.put(unmarked(&bed, "giver"));
    bed.units.put(unmarked(&bed, "taker"));
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    bed.applied("giver", "v1").await;
    let uid = bed.uid("x").await.unwrap();
    bed.engine.refresh("taker");
    bed.until("taker", |status| !status.errors.is_empty()).await;
    bed.sync("giver", "v2", [config_map("giver", "1")]);
    // It is tried again after a second, and waited for.
    let looks = bed.engine.looks();
    let every = testkit::settled::Every(std::time::Duration::from_millis(100));
    let looked = testkit::settled(super::LIMIT, every, async || match bed.engine.looks() {
        now if now > looks + 5 => Ok(()),
        now => Err(now),
    });
    looked.await.unwrap();
    assert_eq!(bed.uid("x").await.as_ref(), Some(&uid));
    bed.sync("taker", "v2", [config_map("x", "1")]);
    moved(&bed, &uid).await;
    bed.finish().await;
}

/// A conflict passes: the server has not said that the unit may not have the object.
#[tokio::test(start_paused = true)]
async fn a_unit_whose_dry_run_conflicts_is_waited_for() {
    let bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    bed.units.put(unmarked(&bed, "giver"));
    bed.units.put(unmarked(&bed, "taker"));
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    bed.sync("taker", "v1", [config_map("taker", "1")]);
    bed.applied("giver", "v1").await;
    bed.applied("taker", "v1").await;
    let uid = bed.uid("x").await.unwrap();
    let conflict = Rule::new(Fault::Conflict).verb("patch").name("x").times(5);
    let conflict = bed.server().faults().add(conflict);
    bed.sync("taker", "v2", [config_map("taker", "1"), config_map("x", "2")]);
    bed.sync("giver", "v2", [config_map("giver", "1")]);
    moved(&bed, &uid).await;
    assert_eq!(bed.server().faults().fired(conflict), 5);
    bed.finish().await;
}

/// The server reads what is written only after it has let the unit write it.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_unit_may_write_stays_although_its_manifest_is_invalid() {
    let bed = Bed::start().await;
    bed.units.put(unmarked(&bed, "giver"));
    bed.units.put(unmarked(&bed, "taker"));
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    bed.applied("giver", "v1").await;
    let uid = bed.uid("x").await.unwrap();
    let mut invalid = config_map("x", "1");
    invalid.set_at(&["data", "not a key"], "1");
    bed.sync("taker", "v1", [invalid]);
    bed.until("taker", |status| !status.errors.is_empty()).await;
    bed.sync("giver", "v2", [config_map("giver", "1")]);
    bed.applied("giver", "v2").await;
    assert_eq!(bed.uid("x").await.as_ref(), Some(&uid));
    bed.sync("taker", "v2", [config_map("x", "2")]);
    moved(&bed, &uid).await;
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_unit_that_always_fails_keeps_nobody_from_deleting_for_long() {
    let bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    bed.units.put(unmarked(&bed, "shop"));
    bed.units.put(unmarked(&bed, "broken"));
    bed.engine.refresh("broken");
    for (revision, names) in [("v1", ["a", "b"]), ("v2", ["b", "c"]), ("v3", ["c", "d"])] {
        bed.sync("shop", revision, names.map(|name| config_map(name, "1")));
        bed.applied("shop", revision).await;
    }
    for gone in ["a", "b"] {
        assert!(bed.uid(gone).await.is_none(), "{gone}");
    }
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_unit_makes_does_not_wait_for_others_whose_sources_are_broken() {
    let bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    bed.units.put(unmarked(&bed, "shop"));
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    bed.units.put(unmarked(&bed, "broken"));
    bed.engine.refresh("broken");
    bed.until("broken", |status| !status.errors.is_empty()).await;
    let begun = tokio::time::Instant::now();
    bed.sync("shop", "v2", [config_map("b", "1"), config_map("c", "1")]);
    bed.until("shop", |status| {
        let operation = status.operation.as_ref();
        operation.is_some_and(|operation| operation.message.contains("other units"))
    })
    .await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(bed.uid("c").await.is_some() && bed.uid("a").await.is_some());
    bed.applied("shop", "v2").await;
    assert!(bed.uid("a").await.is_none());
    bed.finish().await;
}

/// The one that yields has the object in no inventory.
#[tokio::test(start_paused = true)]
async fn what_a_unit_leaves_to_another_is_not_deleted_after_a_restart_though_its_source_is_broken() {
    let mut bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    for (id, key) in [("yields", "1"), ("holds", "2")] {
        bed.units.put(unmarked(&bed, id));
        bed.sync(id, "v1", [config_map("x", key), config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    bed.until("yields", |status| {
        status.sync == SyncState::OutOfSync && !has(status, "x")
    })
    .await;
    let uid = bed.uid("x").await.unwrap();
    bed.sources.0.lock().remove("yields");
    bed.sources.set("holds", "v2", [config_map("holds", "2")]);
    bed.restart().await;
    bed.applied("holds", "v2").await;
    bed.until("yields", |status| !status.errors.is_empty()).await;
    assert_eq!(bed.uid("x").await.as_ref(), Some(&uid));
    bed.sync("yields", "v2", [config_map("x", "1"), config_map("yields", "1")]);
    bed.applied("yields", "v2").await;
    bed.until("holds", |status| !has(status, "x")).await;
    assert_eq!(bed.uid("x").await.as_ref(), Some(&uid));
    bed.finish().await;
}

/// What is in a namespace goes with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_another_unit_uses_since_an_operation_waits_is_not_pruned() {
    let bed = Bed::with_outcomes().await;
    let name = format!("{}-more", bed.space);
    let namespace =
        value!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": (name.as_str()) } });
    bed.units.put(bed.argo("giver"));
    bed.sync("giver", "v1", [namespace, config_map("giver", "1")]);
    bed.applied("giver", "v1").await;
    let before = hook(slow("before"), "PreSync", "HookSucceeded");
    bed.sync("giver", "v2", [before, config_map("giver", "2")]);
    bed.waits("giver").await;
    let mut inside = config_map("inside", "1");
    inside.set_at(&["metadata", "namespace"], name.as_str());
    bed.sync("taker", "v1", [inside, config_map("taker", "1")]);
    bed.applied("taker", "v1").await;
    bed.outcome("before", "done").await;
    bed.applied("giver", "v2").await;
    let namespaces = bed.resource("", "Namespace").await;
    let live = bed.cluster.get(&namespaces, "", &name).await.unwrap();
    assert!(live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_none()));
    bed.finish().await;
}

/// In a large fleet it takes longer until each had its turn than one that hangs is waited for.
#[tokio::test(start_paused = true)]
async fn a_unit_that_has_to_queue_for_long_is_heard_all_the_same() {
    let bed = Bed::paused().await;
    bed.running.end().await;
    let sources = Slow(bed.sources.clone(), Mutex::default());
    let access = OneCluster::new(bed.test.client());
    let engine = Engine::new(bed.settings.clone(), access, sources, bed.units.clone());
    let running = Running::start(&engine, 1);
    bed.units.put(patient(&bed, "giver"));
    bed.sources
        .set("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    engine.refresh("giver");
    reaches(&bed, "giver", |status| status.revision == "v1").await;
    let uid = bed.uid("x").await.unwrap();
    let last = argo(config_map("last", "1"), "sync-wave", "1");
    bed.sources
        .set("giver", "v2", [config_map("giver", "1"), slow("slow"), last]);
    engine.refresh("giver");
    reaches(&bed, "giver", is_waiting).await;
    // Nobody tells the engine of these, and each takes some seconds.
    for number in 0..40 {
        let id = format!("other-{number}");
        bed.units.put(unmarked(&bed, &id));
        bed.sources.set(&id, "v1", [config_map(&id, "1")]);
    }
    bed.outcome("slow", "done").await;
    reaches(&bed, "giver", |status| status.revision == "v2").await;
    assert_eq!(bed.uid("x").await, Some(uid));
    running.end().await;
    bed.finish().await;
}

/// Takes its time for each unit. Of those that it is asked for, a late one wants what is given away, whichever that is.
struct Slow(Sources, Mutex<Vec<String>>);

impl Slow {
    /// How many other units it was asked for before this one.
    fn place(&self, unit: &str) -> usize {
        let mut others = self.1.lock();
        let place = others.iter().position(|other| other == unit);
        place.unwrap_or_else(|| {
            others.push(unit.to_owned());
            others.len() - 1
        })
    }
}

impl ManifestGenerator for Slow {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        applied: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            if self.place(&unit.id) == 35 {
                self.0.set(&unit.id, "v1", [config_map("x", "1")]);
            }
            self.0.generate(unit, applied, fresh).await
        })
    }
}

/// Waits, on a paused clock, until a unit of an engine of its own is as wanted.
async fn reaches(bed: &Bed, unit: &str, wanted: impl Fn(&Status) -> bool) {
    let every = testkit::settled::Every(Duration::from_millis(500));
    let limit = Duration::from_secs(1200);
    let reached = testkit::settled(limit, every, async || {
        let status = bed.units.unit(unit).unwrap().status;
        match wanted(&status) {
            true => Ok(()),
            false => Err(format!("{status:?}")),
        }
    });
    reached.await.unwrap();
}
