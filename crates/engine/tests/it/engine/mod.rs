//! The whole engine on the embedded and on a real cluster: units in, objects in the cluster out.

mod drift;
mod faults;
mod operations;
mod prune;
mod requests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use engine::cluster::{Apply, Cluster, Resource};
use engine::plan::{Options, Strategy};
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Policy,
    ReconciliationSettings, Source, Status, SyncUnit,
};
use futures::future::BoxFuture;
use model::{Manifest, Value, value};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Everything has to be there by then, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// What units are made of, by the unit's id.
#[derive(Clone, Default)]
struct Sources(Arc<Mutex<BTreeMap<String, Revision>>>);

/// A revision and its objects.
type Revision = (String, Vec<Value>);

impl Sources {
    fn set(&self, unit: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        let objects = objects.into_iter().collect();
        self.0
            .lock()
            .insert(unit.to_owned(), (revision.to_owned(), objects));
    }
}

impl ManifestGenerator for Sources {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            let sources = self.0.lock();
            let (revision, objects) = sources
                .get(&unit.id)
                .ok_or_else(|| Failure::new("there is no source"))?;
            let manifests = objects.iter().map(|object| Manifest::new(object.clone(), None));
            Ok(Generated {
                manifests: manifests.collect::<Result<_, _>>()?,
                revision: revision.clone(),
            })
        })
    }
}

/// An engine on a cluster, in a namespace of its own.
struct Bed {
    test: testkit::Cluster,
    cluster: Cluster,
    space: String,
    sources: Sources,
    units: MemoryStore,
    engine: Engine,
    /// Moves each time something has happened to a unit.
    events: watch::Receiver<u64>,
    running: AbortHandle,
}

impl Bed {
    async fn start() -> Bed {
        Bed::on(testkit::Cluster::start().await).await
    }

    async fn on(test: testkit::Cluster) -> Bed {
        let space = test.namespace("engine").await;
        let cluster = Cluster::with_agent(test.client(), "tests");
        let (sources, units) = (Sources::default(), MemoryStore::default());
        let (engine, events, running) = run(&test, &sources, &units);
        Bed {
            test,
            cluster,
            space,
            sources,
            units,
            engine,
            events,
            running,
        }
    }

    /// The embedded server, on a bed that has one.
    fn server(&self) -> &apiserver::Server {
        self.test.server().unwrap()
    }

    /// Ends the engine and removes what the test made.
    async fn finish(self) {
        self.running.abort();
        self.test.finish().await;
    }

    /// Ends the engine where it is, as a crash would, and starts another with the same store.
    fn restart(&mut self) {
        self.running.abort();
        (self.engine, self.events, self.running) = run(&self.test, &self.sources, &self.units);
    }

    /// A unit of this test's namespace, as Flux would look after it.
    fn unit(&self, id: &str) -> SyncUnit {
        let policy = Policy {
            strategy: Strategy::flux(id, &self.space),
            retry: Duration::from_secs(1),
            ..Policy::default()
        };
        SyncUnit {
            id: id.to_owned(),
            status: Status::default(),
            source: Source::default(),
            destination: Destination {
                cluster: String::new(),
                namespace: self.space.clone(),
            },
            operation: None,
            policy,
        }
    }

    /// The source of a unit is this from now on.
    fn sync(&self, unit: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        self.sources.set(unit, revision, objects);
        if self.units.unit(unit).is_none() {
            self.units.put(self.unit(unit));
        }
        self.engine.refresh(unit);
    }

    /// Waits until a unit's status is as wanted.
    async fn until(&self, unit: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        let settled = testkit::settled(LIMIT, self.events.clone(), async || {
            let status = self.units.unit(unit).map(|unit| unit.status).unwrap_or_default();
            if wanted(&status) {
                Ok(status)
            } else {
                Err(format!("{status:#?}"))
            }
        });
        settled.await.unwrap_or_else(|error| panic!("{unit}: {error}"))
    }

    /// Waits until this revision is applied.
    async fn applied(&self, unit: &str, revision: &str) -> Status {
        self.until(unit, |status| status.revision == revision).await
    }

    async fn resource(&self, group: &str, kind: &str) -> Resource {
        self.cluster.resource(group, "v1", kind).await.unwrap()
    }

    async fn get(&self, group: &str, kind: &str, name: &str) -> Option<Value> {
        let resource = self.resource(group, kind).await;
        self.cluster.get(&resource, &self.space, name).await.unwrap()
    }

    /// Somebody else writes an object of this test.
    async fn by_hand(&self, group: &str, object: Value) -> Value {
        let resource = self.resource(group, object.str_at(&["kind"])).await;
        let mut object = object;
        object.set_at(&["metadata", "namespace"], self.space.as_str());
        self.cluster
            .apply(&resource, &object, &Apply::by("hand"))
            .await
            .unwrap()
    }

    /// Waits until an object in the cluster is as wanted.
    async fn seen(&self, kind: &str, name: &str, wanted: impl Fn(Option<&Value>) -> bool) {
        let every = testkit::settled::Every(Duration::from_millis(20));
        let settled = testkit::settled(LIMIT, every, async || {
            let live = self.get("", kind, name).await;
            if wanted(live.as_ref()) {
                Ok(())
            } else {
                Err(format!("{live:?}"))
            }
        });
        settled
            .await
            .unwrap_or_else(|error| panic!("{kind} {name}: {error}"));
    }
}

fn run(
    test: &testkit::Cluster,
    sources: &Sources,
    units: &MemoryStore,
) -> (Engine, watch::Receiver<u64>, AbortHandle) {
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(
        settings,
        OneCluster::new(test.client()),
        sources.clone(),
        units.clone(),
    );
    let (told, events) = watch::channel(0);
    let told = Arc::new(told);
    let tell = Arc::clone(&told);
    engine
        .on_unit_event(move |_, _| tell.send_modify(|count| *count += 1))
        .forever();
    engine
        .on_sync_completed(move |_, _| told.send_modify(|count| *count += 1))
        .forever();
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    (engine, events, running.abort_handle())
}

fn config_map(name: &str, key: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": name },
        "data": { "key": key },
    })
}

/// Waits for health at the end of each run, for so long.
fn waiting(seconds: u64) -> Options {
    Options {
        wait: Some(engine::plan::Health {
            seconds,
            fail_fast: true,
            ..engine::plan::Health::default()
        }),
        ..Options::default()
    }
}
