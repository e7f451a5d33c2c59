//! What operations have made that did not come to a good end: it is in the inventory, so that whatever comes next prunes it.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use engine::plan::{OnFailure, Ownership, Strategy};
use engine::unit::{
    Failure, MemoryStore, OneCluster, Operation, Phase, ReconciliationSettings, Status, SyncUnit,
    SyncUnitStore,
};
use futures::future::BoxFuture;
use model::{Value, value};
use parking_lot::Mutex;

use super::gate::Gate;
use super::{Bed, argo, config_map, outcomes, slow, waiting};

fn names(status: &Status) -> Vec<String> {
    let entries = status.inventory.entries.iter();
    entries.map(|entry| entry.id.0.name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operation_had_made_when_it_was_killed_is_pruned_if_the_next_revision_does_not_have_it() {
    let mut bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    let status = bed.waits("shop").await;
    assert_eq!(names(&status), ["a", "b"]);
    bed.sources.set("shop", "v2", [config_map("c", "1")]);
    bed.restart().await;
    let status = bed.applied("shop", "v2").await;
    assert_eq!(names(&status), ["c"]);
    for name in ["a", "b"] {
        assert!(bed.get("", "ConfigMap", name).await.is_none(), "{name}");
    }
    bed.finish().await;
}

/// Keeps every status that was written.
#[derive(Clone)]
struct Recorder {
    units: MemoryStore,
    written: Arc<Mutex<Vec<Status>>>,
}

impl SyncUnitStore for Recorder {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        self.units.list()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        self.units.get(id)
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        self.written.lock().push(status.clone());
        self.units.set_status(id, status)
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        self.units.set_operation(id, from, to)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_about_to_be_made_is_stored_before_it_is_and_with_no_other_write() {
    let bed = Bed::start().await;
    bed.running.end().await;
    // What is there already and has no mark may be somebody else's before it was written.
    let flux = Strategy::flux("flux", &bed.space);
    let marked = (flux, vec!["made-flux", "theirs-flux"]);
    for (strategy, first) in [marked, (Strategy::helm(), vec!["made-helm"])] {
        let id = if strategy == Strategy::helm() {
            "helm"
        } else {
            "flux"
        };
        let names = ["made", "theirs"].map(|name| format!("{name}-{id}"));
        bed.by_hand("", config_map(&names[1], "mine")).await;
        bed.sources
            .set(id, "v1", names.iter().map(|name| config_map(name, "1")));
        let mut unit = bed.unit(id);
        unit.policy.strategy = strategy;
        assert_eq!(
            inventories(&bed, unit).await[..2],
            [first, names.iter().map(String::as_str).collect()]
        );
    }
    bed.finish().await;
}

/// What the inventory is each time that it is stored, until the first operation has ended.
async fn inventories(bed: &Bed, unit: SyncUnit) -> Vec<Vec<String>> {
    let recorder = Recorder {
        units: MemoryStore::new([unit]),
        written: Arc::default(),
    };
    let clusters = OneCluster::new(bed.test.client());
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(settings, clusters, bed.sources.clone(), recorder.clone());
    let (tell, told) = tokio::sync::oneshot::channel();
    let tell = Mutex::new(Some(tell));
    let _completed = engine.on_sync_completed(move |_, _| {
        if let Some(tell) = tell.lock().take() {
            tell.send(()).unwrap();
        }
    });
    engine.run(1, 1, async { told.await.unwrap() }).await.unwrap();
    recorder.written.lock().iter().map(names).collect()
}

/// An object that the server refuses.
fn refused() -> Value {
    value!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "refused" },
        "spec": { "type": "NoSuchType", "ports": [{ "port": 80 }] },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operation_that_failed_has_made_is_in_the_inventory() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    // Without a dry run the server refuses one of them when another is written already.
    unit.policy.options.trust_new = true;
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1"), refused()]);
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(status.errors[0].contains("refused"), "{:?}", status.errors);
    assert!(bed.get("", "ConfigMap", "a").await.is_some());
    assert!(names(&status).contains(&"a".to_owned()), "{:?}", names(&status));
    bed.sync("shop", "v2", [config_map("b", "1")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(names(&status), ["b"]);
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_operation_that_failed_has_deleted_is_not_in_the_inventory() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.strategy.on_failure = OnFailure::GoOn;
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("b", "2"), refused()]);
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    assert!(!names(&status).contains(&"a".to_owned()), "{:?}", names(&status));
    assert!(names(&status).contains(&"b".to_owned()), "{:?}", names(&status));
    bed.finish().await;
}

/// Their stage never came, so that they were not taken over: they are somebody else's still.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_there_before_and_was_not_applied_after_a_wait_that_failed_is_not_pruned_later() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.strategy.ownership = Ownership::Inventory;
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.by_hand("", config_map("theirs", "1")).await;
    let theirs = argo(config_map("theirs", "2"), "sync-wave", "1");
    bed.sync("shop", "v1", [slow("first"), theirs]);
    bed.waits("shop").await;
    bed.outcome("first", "failed").await;
    let status = bed.phase("shop", Phase::Failed).await;
    assert_eq!(names(&status), ["first"]);
    bed.sync("shop", "v2", [config_map("other", "1")]);
    bed.applied("shop", "v2").await;
    assert_eq!(bed.key("theirs").await.as_deref(), Some("1"));
    assert!(bed.key("first").await.is_none());
    bed.finish().await;
}

/// That it could not be looked at does not mean that it is not there.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_unit_has_and_could_not_be_looked_at_stays_in_its_inventory() {
    let (gate, test) = (Gate::new(), testkit::Cluster::start().await);
    let client = gate.client(test.client());
    let bed = Bed::reached(test, client, outcomes()).await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let last = |key: &str| argo(config_map("last", key), "sync-wave", "1");
    bed.sync("shop", "v1", [last("1")]);
    bed.applied("shop", "v1").await;
    gate.refuse(|line| line.starts_with("PATCH ") && line.contains("/configmaps/last"));
    bed.sync("shop", "v2", [slow("first"), last("2")]);
    bed.waits("shop").await;
    bed.outcome("first", "failed").await;
    let status = bed.phase("shop", Phase::Failed).await;
    assert_eq!(names(&status), ["last", "first"]);
    gate.open();
    bed.sync("shop", "v3", [config_map("other", "1")]);
    bed.applied("shop", "v3").await;
    assert!(bed.key("last").await.is_none());
    bed.finish().await;
}

/// Nothing of it was sent: it is somebody else's still.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_there_before_and_the_server_refuses_before_its_stage_is_not_pruned_later() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    let mut unit = bed.argo("shop");
    unit.policy.strategy.ownership = Ownership::Inventory;
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.by_hand("", config_map("theirs", "1")).await;
    gate.refuse(|line| line.starts_with("PUT "));
    let theirs = argo(config_map("theirs", "2"), "sync-options", "Replace=true");
    bed.sync("shop", "v1", [config_map("ours", "1"), theirs]);
    let status = bed.phase("shop", Phase::Failed).await;
    assert!(names(&status).is_empty(), "{:?}", names(&status));
    gate.open();
    bed.sync("shop", "v2", [config_map("ours", "1")]);
    bed.applied("shop", "v2").await;
    assert_eq!(bed.key("theirs").await.as_deref(), Some("1"));
    bed.finish().await;
}
