//! Several clusters: one cache for each endpoint and identity, and none when nobody is in it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use engine::Engine;
use engine::cluster::Verb;
use engine::unit::{
    Access, ClusterEvent, CredentialsStore, Failure, MemoryStore, ReconciliationSettings, SyncState,
};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use tokio::sync::broadcast;

use super::{Bed, Running, Sources, config_map};

/// Clusters by name, which may change.
#[derive(Clone)]
pub(crate) struct Names {
    clusters: Arc<Mutex<BTreeMap<String, Access>>>,
    events: broadcast::Sender<ClusterEvent>,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names {
            clusters: Arc::default(),
            events: broadcast::Sender::new(16),
        }
    }

    /// The name leads here from now on. What is returned lives for as long as somebody can send requests that way.
    pub(crate) fn set(&self, name: &str, endpoint: &str, identity: &str, client: kube::Client) -> Weak<()> {
        self.vouched(name, endpoint, (identity, ""), client)
    }

    /// The same, by the word of somebody.
    pub(crate) fn vouched(
        &self,
        name: &str,
        endpoint: &str,
        (identity, vouched_by): (&str, &str),
        client: kube::Client,
    ) -> Weak<()> {
        let alive = Arc::new(());
        let held = Arc::downgrade(&alive);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (client, alive) = (client.clone(), Arc::clone(&alive));
            async move {
                let answer = client.send(request).await;
                drop(alive);
                answer
            }
        });
        let access = Access {
            endpoint: endpoint.to_owned(),
            identity: identity.to_owned(),
            vouched_by: vouched_by.to_owned(),
            client: kube::Client::new(service, "default"),
        };
        self.clusters.lock().insert(name.to_owned(), access);
        // Nobody listens before the engine runs.
        let _ = self.events.send(ClusterEvent::Changed(name.to_owned()));
        held
    }

    pub(crate) fn remove(&self, name: &str) {
        self.clusters.lock().remove(name);
        let _ = self.events.send(ClusterEvent::Removed(name.to_owned()));
    }
}

impl CredentialsStore for Names {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async move {
            let found = self.clusters.lock().get(name).cloned();
            found.ok_or_else(|| Failure::new(format!("there is no cluster {name:?}")))
        })
    }

    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        let events = self.events.subscribe();
        let next = async |mut events: broadcast::Receiver<_>| {
            let event = events.recv().await.ok()?;
            Some((event, events))
        };
        futures::stream::unfold(events, next).boxed()
    }
}

/// An engine for units in the clusters of these names.
pub(crate) fn run(names: &Names, sources: &Sources, units: &MemoryStore) -> (Engine, Running) {
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(settings, names.clone(), sources.clone(), units.clone());
    let running = Running::start(&engine, 2);
    (engine, running)
}

pub(crate) async fn synced(units: &MemoryStore, unit: &str, revision: &str) {
    let every = testkit::settled::Every(Duration::from_millis(10));
    let settled = testkit::settled(super::LIMIT, every, async || {
        let status = units.unit(unit).unwrap().status;
        let is = status.revision == revision && status.sync == SyncState::Synced;
        if is { Ok(()) } else { Err(format!("{status:?}")) }
    });
    settled.await.unwrap_or_else(|error| panic!("{unit}: {error}"));
}

async fn is_gone(held: &Weak<()>) {
    let every = testkit::settled::Every(Duration::from_millis(10));
    let settled = testkit::settled(super::LIMIT, every, async || match held.strong_count() {
        0 => Ok(()),
        count => Err(format!("{count} still hold it")),
    });
    settled.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_the_same_cluster_and_identity_share_a_cache_and_others_do_not() {
    let bed = Bed::start().await;
    let names = Names::new();
    for (name, identity) in [("one", "ada"), ("two", "ada"), ("three", "eve")] {
        names.set(name, "https://one.example", identity, bed.test.client());
    }
    let (sources, units) = (Sources::default(), MemoryStore::default());
    for name in ["one", "two", "three"] {
        let mut unit = bed.unit(name);
        unit.destination.cluster = name.to_owned();
        units.put(unit);
        sources.set(name, "v1", [config_map(name, "1")]);
    }
    let (engine, running) = run(&names, &sources, &units);
    for name in ["one", "two", "three"] {
        synced(&units, name, "v1").await;
    }
    let watches = |name: &str| engine.requests(name).unwrap().of(Verb::Watch);
    // One for config maps, and one for definitions.
    assert!(watches("one") <= 2 && watches("three") <= 2);
    assert_eq!(engine.requests("one"), engine.requests("two"));
    // Drift is seen under each name.
    bed.by_hand("", config_map("two", "by hand")).await;
    bed.seen("ConfigMap", "two", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    running.end().await;
    bed.finish().await;
}

/// argo-cd#14410: the watches of the old address go on for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_reached_in_another_way_or_left_leaves_nothing_behind() {
    let bed = Bed::start().await;
    let names = Names::new();
    let old = names.set("one", "https://old.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    units.put(unit);
    sources.set("shop", "v1", [config_map("a", "1")]);
    let (engine, running) = run(&names, &sources, &units);
    synced(&units, "shop", "v1").await;
    let new = names.set("one", "https://new.example", "ada", bed.test.client());
    is_gone(&old).await;
    sources.set("shop", "v2", [config_map("a", "2")]);
    engine.refresh("shop");
    synced(&units, "shop", "v2").await;
    assert!(new.strong_count() > 0);
    names.remove("one");
    is_gone(&new).await;
    engine.refresh("shop");
    let every = testkit::settled::Every(Duration::from_millis(10));
    let told = testkit::settled(super::LIMIT, every, async || {
        let errors = units.unit("shop").unwrap().status.errors;
        if errors == ["there is no cluster \"one\""] {
            Ok(())
        } else {
            Err(format!("{errors:?}"))
        }
    });
    told.await.unwrap();
    assert!(engine.requests("one").is_none());
    running.end().await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_objects_of_a_unit_that_moves_are_looked_after_where_it_is_now() {
    let bed = Bed::start().await;
    let names = Names::new();
    for name in ["old", "new"] {
        names.set(name, &format!("https://{name}.example"), "ada", bed.test.client());
    }
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "old".to_owned();
    units.put(unit);
    sources.set("shop", "v1", [config_map("a", "1")]);
    let (engine, running) = run(&names, &sources, &units);
    synced(&units, "shop", "v1").await;
    let mut unit = units.unit("shop").unwrap();
    unit.destination.cluster = "new".to_owned();
    units.put(unit);
    engine.refresh("shop");
    let every = testkit::settled::Every(Duration::from_millis(10));
    let moved = testkit::settled(super::LIMIT, every, async || match engine.requests("new") {
        Some(counts) if counts.of(Verb::Watch) > 0 => Ok(()),
        counts => Err(format!("{counts:?}")),
    });
    moved.await.unwrap();
    for change in ["by hand", "by hand again"] {
        bed.by_hand("", config_map("a", change)).await;
        bed.seen("ConfigMap", "a", |live| {
            live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
        })
        .await;
    }
    running.end().await;
    bed.finish().await;
}

/// What a unit has is known from what is stored of it, before anybody has looked at it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_unit_has_is_not_deleted_by_another_though_its_cluster_cannot_be_reached_by_its_name() {
    let bed = Bed::start().await;
    let names = Names::new();
    let (sources, units) = (Sources::default(), MemoryStore::default());
    for name in ["one", "two"] {
        names.set(name, "https://one.example", "ada", bed.test.client());
        let mut unit = bed.unit(name);
        unit.policy.strategy = engine::plan::Strategy::helm();
        unit.destination.cluster = name.to_owned();
        units.put(unit);
        sources.set(name, "v1", [config_map("x", "1"), config_map(name, "1")]);
    }
    let (_, running) = run(&names, &sources, &units);
    for name in ["one", "two"] {
        synced(&units, name, "v1").await;
    }
    let uid = bed.uid("x").await;
    running.end().await;
    names.remove("two");
    sources.set("one", "v2", [config_map("one", "1")]);
    let (_, running) = run(&names, &sources, &units);
    synced(&units, "one", "v2").await;
    assert_eq!(bed.uid("x").await, uid);
    assert_eq!(units.unit("one").unwrap().status.inventory.entries.len(), 1);
    running.end().await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_let_go_when_its_last_unit_is_gone() {
    let bed = Bed::start().await;
    let names = Names::new();
    let held = names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    for id in ["a", "b"] {
        let mut unit = bed.unit(id);
        unit.destination.cluster = "one".to_owned();
        units.put(unit);
        sources.set(id, "v1", [config_map(id, "1")]);
    }
    let (engine, running) = run(&names, &sources, &units);
    for id in ["a", "b"] {
        synced(&units, id, "v1").await;
    }
    names.clusters.lock().clear();
    for id in ["a", "b"] {
        assert!(held.strong_count() > 0);
        units.remove(id);
        engine.refresh(id);
    }
    is_gone(&held).await;
    assert!(
        bed.get("", "ConfigMap", "a").await.is_some(),
        "what it applied stays"
    );
    running.end().await;
    bed.finish().await;
}

/// What has the same name in the cluster that a unit gets into is not what it had in the other one.
#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_gets_into_another_cluster_deletes_nothing_there_that_it_had_elsewhere() {
    let bed = Bed::start().await;
    let names = Names::new();
    for name in ["old", "new"] {
        names.set(name, &format!("https://{name}.example"), "ada", bed.test.client());
    }
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.policy.strategy = engine::plan::Strategy::helm();
    unit.destination.cluster = "old".to_owned();
    units.put(unit);
    sources.set("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    let (engine, running) = run(&names, &sources, &units);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let _told = engine.on_unit_event(move |_, event| {
        if event.kind == engine::UnitEventKind::Moved {
            tell.lock().push(event.message.clone());
        }
    });
    synced(&units, "shop", "v1").await;
    sources.set("shop", "v2", [config_map("a", "2")]);
    let mut unit = units.unit("shop").unwrap();
    unit.destination.cluster = "new".to_owned();
    units.put(unit);
    engine.refresh("shop");
    synced(&units, "shop", "v2").await;
    bed.seen("ConfigMap", "b", |live| live.is_some()).await;
    let told = told.lock().clone();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("2 objects stay in the cluster \"old\""),
        "{told:?}"
    );
    // There it prunes what it has made there.
    sources.set("shop", "v3", [config_map("c", "1")]);
    engine.refresh("shop");
    synced(&units, "shop", "v3").await;
    bed.seen("ConfigMap", "a", |live| live.is_none()).await;
    running.end().await;
    bed.finish().await;
}

/// An operation that waits in a cluster which is taken away has no deadline there any more: it ends.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_waits_in_a_cluster_that_goes_has_ended_and_begins_anew_when_it_is_back() {
    let bed = Bed::start().await;
    let names = Names::new();
    names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.options = super::waiting(3600);
    units.put(unit);
    sources.set("shop", "v1", [never_bound()]);
    let (engine, running) = run(&names, &sources, &units);
    let every = || testkit::settled::Every(Duration::from_millis(10));
    let phase = |phase: engine::unit::Phase| {
        let units = &units;
        testkit::settled(super::LIMIT, every(), async move || {
            let status = units.unit("shop").unwrap().status;
            let now = status
                .operation
                .as_ref()
                .map(|state| (state.phase, state.message.clone()));
            let is = now.as_ref().is_some_and(|(now, message)| {
                *now == phase && (phase.is_final() || message.starts_with("waiting for"))
            });
            if is {
                Ok(status)
            } else {
                Err(format!("{status:#?}"))
            }
        })
    };
    phase(engine::unit::Phase::Running).await.unwrap();
    names.remove("one");
    let status = phase(engine::unit::Phase::Superseded).await.unwrap();
    let last = status.operation.unwrap();
    assert_eq!(
        last.message,
        "its cluster is reached in another way by now, or not at all"
    );
    assert_eq!(
        status.inventory.entries.len(),
        1,
        "what it has made is not forgotten"
    );
    let told = testkit::settled(super::LIMIT, every(), async || {
        let errors = units.unit("shop").unwrap().status.errors;
        if errors == ["there is no cluster \"one\""] {
            Ok(())
        } else {
            Err(format!("{errors:?}"))
        }
    });
    told.await.unwrap();
    names.set("one", "https://one.example", "ada", bed.test.client());
    engine.refresh("shop");
    phase(engine::unit::Phase::Running).await.unwrap();
    // The same if the unit is to be in a cluster that there is not.
    let mut unit = units.unit("shop").unwrap();
    unit.destination.cluster = "none".to_owned();
    units.put(unit);
    engine.refresh("shop");
    phase(engine::unit::Phase::Superseded).await.unwrap();
    running.end().await;
    bed.finish().await;
}

/// Nobody has taken it up, as the cluster is not there.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_a_process_has_left_is_terminated_although_its_cluster_is_gone() {
    let bed = Bed::start().await;
    let names = Names::new();
    names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.options = super::waiting(3600);
    units.put(unit);
    sources.set("shop", "v1", [never_bound()]);
    let (_, running) = run(&names, &sources, &units);
    let every = || testkit::settled::Every(Duration::from_millis(10));
    let until = |what: &'static str, wanted: fn(&engine::unit::Status) -> bool| {
        let units = &units;
        testkit::settled(super::LIMIT, every(), async move || {
            let status = units.unit("shop").unwrap().status;
            if wanted(&status) {
                Ok(())
            } else {
                Err(format!("{what}: {status:#?}"))
            }
        })
    };
    until("waits", |status| {
        let last = status.operation.as_ref();
        last.is_some_and(|last| last.message.starts_with("waiting for"))
    })
    .await
    .unwrap();
    running.end().await;
    names.remove("one");
    let (engine, running) = run(&names, &sources, &units);
    until("fails", |status| !status.errors.is_empty()).await.unwrap();
    engine.terminate("shop");
    until("terminated", |status| {
        let last = status.operation.as_ref();
        last.is_some_and(|last| last.phase == engine::unit::Phase::Terminated)
    })
    .await
    .unwrap();
    running.end().await;
    bed.finish().await;
}

/// Something that never becomes ready.
pub(crate) fn never_bound() -> model::Value {
    model::value!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": "never" },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
            "resources": { "requests": { "storage": "1Gi" } },
        },
    })
}
