//! An engine on a cluster, and what a test does to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::cluster::{Apply, Cluster, Delete, Resource};
use engine::plan::Strategy;
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Operation, Phase, Policy,
    ReconciliationSettings, Source, Status, SyncUnit,
};
use futures::future::BoxFuture;
use model::manifest::Origin;
use model::{Manifest, Value, value};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::fixtures::{config_map, is_waiting, outcomes};
use super::{LIMIT, gate};

/// What units are made of, by the unit's id.
#[derive(Clone, Default)]
pub(crate) struct Sources(
    pub(crate) Arc<Mutex<BTreeMap<String, Revision>>>,
    Arc<Mutex<BTreeMap<String, Origin>>>,
    /// How often nothing that was kept might be used.
    pub(crate) Arc<AtomicUsize>,
);

/// A revision and its objects.
type Revision = (String, Vec<Value>);

impl Sources {
    pub(crate) fn set(&self, unit: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        let objects = objects.into_iter().collect();
        self.0
            .lock()
            .insert(unit.to_owned(), (revision.to_owned(), objects));
    }

    /// The manifests of a unit are read here from now on.
    pub(crate) fn from(&self, unit: &str, origin: Origin) {
        self.1.lock().insert(unit.to_owned(), origin);
    }
}

impl ManifestGenerator for Sources {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        _: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        self.2.fetch_add(usize::from(fresh), Ordering::Relaxed);
        Box::pin(async {
            let sources = self.0.lock();
            let (revision, objects) = sources
                .get(&unit.id)
                .ok_or_else(|| Failure::new("there is no source"))?;
            let origin = self.1.lock().get(&unit.id).cloned();
            let manifests = objects
                .iter()
                .map(|object| Manifest::unnamed(object.clone(), origin.clone()));
            Ok(Generated {
                manifests: manifests.collect::<Result<_, _>>()?,
                revision: revision.clone(),
            })
        })
    }
}

/// An engine on a cluster, in a namespace of its own.
pub(crate) struct Bed {
    pub(crate) test: testkit::Cluster,
    /// What the engine reaches the cluster by.
    pub(crate) client: kube::Client,
    pub(crate) cluster: Cluster,
    pub(crate) space: String,
    pub(crate) sources: Sources,
    pub(crate) units: MemoryStore,
    pub(crate) settings: ReconciliationSettings,
    pub(crate) engine: Engine,
    /// Moves each time something has happened to a unit.
    pub(crate) events: watch::Receiver<u64>,
    pub(crate) running: Running,
}

impl Bed {
    pub(crate) async fn start() -> Bed {
        Bed::on(testkit::Cluster::start().await).await
    }

    pub(crate) async fn on(test: testkit::Cluster) -> Bed {
        Bed::with(test, ReconciliationSettings::default()).await
    }

    /// One in which config maps can take their time, and fail: see [`Outcomes`].
    pub(crate) async fn with_outcomes() -> Bed {
        Bed::with(testkit::Cluster::start().await, outcomes()).await
    }

    /// The same on the embedded server, for a paused clock: hours take no time there.
    pub(crate) async fn paused() -> Bed {
        Bed::with(
            testkit::Cluster::embedded(apiserver::Server::builder()),
            outcomes(),
        )
        .await
    }

    /// One whose engine reaches the cluster through this gate.
    pub(in crate::engine) async fn through(gate: &gate::Gate) -> Bed {
        let test = testkit::Cluster::start().await;
        let client = gate.client(test.client());
        Bed::reached(test, client, ReconciliationSettings::default()).await
    }

    pub(crate) async fn with(test: testkit::Cluster, settings: ReconciliationSettings) -> Bed {
        let client = test.client();
        Bed::reached(test, client, settings).await
    }

    pub(crate) async fn reached(
        test: testkit::Cluster,
        client: kube::Client,
        settings: ReconciliationSettings,
    ) -> Bed {
        let space = test.namespace("engine").await;
        let cluster = Cluster::with_agent(test.client(), "tests");
        let (sources, units) = (Sources::default(), MemoryStore::default());
        let (engine, events, running) = run(&client, &settings, &sources, &units);
        Bed {
            test,
            client,
            cluster,
            space,
            sources,
            units,
            settings,
            engine,
            events,
            running,
        }
    }

    /// The embedded server, on a bed that has one.
    pub(crate) fn server(&self) -> &apiserver::Server {
        self.test.server().unwrap()
    }

    /// Ends the engine and removes what the test made.
    pub(crate) async fn finish(self) {
        self.running.end().await;
        self.test.finish().await;
    }

    /// Ends the engine where it is, as a crash would, and starts another with the same store.
    pub(crate) async fn restart(&mut self) {
        self.running.end().await;
        (self.engine, self.events, self.running) =
            run(&self.client, &self.settings, &self.sources, &self.units);
    }

    /// A unit of this test's namespace, as Flux would look after it.
    pub(crate) fn unit(&self, id: &str) -> SyncUnit {
        let policy = Policy {
            strategy: Strategy::flux(id, &self.space),
            retry: Duration::from_secs(1),
            ..Policy::default()
        };
        SyncUnit {
            id: id.to_owned(),
            tenant: String::new(),
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

    /// A unit as Argo CD would look after it, with hooks and waves.
    pub(crate) fn argo(&self, id: &str) -> SyncUnit {
        let mut unit = self.unit(id);
        unit.policy.strategy = Strategy::argo(id);
        unit
    }

    /// Somebody asks for an operation.
    pub(crate) fn ask(&self, unit: &str, operation: Operation) {
        let mut asked = self.units.unit(unit).unwrap();
        asked.operation = Some(operation);
        self.units.put(asked);
        self.engine.refresh(unit);
    }

    /// Waits until the operation of a unit is in this phase.
    pub(crate) async fn phase(&self, unit: &str, phase: Phase) -> Status {
        let is = |status: &Status| {
            status
                .operation
                .as_ref()
                .is_some_and(|state| state.phase == phase)
        };
        self.until(unit, is).await
    }

    /// Waits until the operation of a unit waits for something.
    pub(crate) async fn waits(&self, unit: &str) -> Status {
        self.until(unit, is_waiting).await
    }

    /// What becomes of a config map that takes its time: `done` or `failed`.
    pub(crate) async fn outcome(&self, name: &str, outcome: &str) {
        let mut object = config_map(name, "");
        object.set_at(&["data"], value!({ "outcome": outcome }));
        self.by_hand("", object).await;
    }

    /// The identity of a config map, which a new one of the same name does not have.
    pub(crate) async fn uid(&self, name: &str) -> Option<String> {
        let live = self.get("", "ConfigMap", name).await?;
        Some(live.str_at(&["metadata", "uid"]).to_owned())
    }

    /// The key of a config map, if it is there.
    pub(crate) async fn key(&self, name: &str) -> Option<String> {
        let live = self.get("", "ConfigMap", name).await?;
        Some(live.str_at(&["data", "key"]).to_owned())
    }

    /// Somebody deletes a config map, which need not be there.
    pub(crate) async fn delete(&self, name: &str) {
        let config_maps = self.resource("", "ConfigMap").await;
        let options = Delete::default();
        // That it is gone already is as good.
        drop(
            self.cluster
                .delete(&config_maps, &self.space, name, &options)
                .await,
        );
    }

    /// Whether somebody still asks for something.
    pub(crate) fn is_asked(&self, unit: &str) -> bool {
        self.units.unit(unit).unwrap().operation.is_some()
    }

    /// The source of a unit is this from now on.
    pub(crate) fn sync(&self, unit: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        self.sources.set(unit, revision, objects);
        if self.units.unit(unit).is_none() {
            self.units.put(self.unit(unit));
        }
        self.engine.refresh(unit);
    }

    /// Waits until a unit's status is as wanted.
    pub(crate) async fn until(&self, unit: &str, wanted: impl Fn(&Status) -> bool) -> Status {
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
    pub(crate) async fn applied(&self, unit: &str, revision: &str) -> Status {
        self.until(unit, |status| status.revision == revision).await
    }

    pub(crate) async fn resource(&self, group: &str, kind: &str) -> Resource {
        self.cluster.resource(group, "v1", kind).await.unwrap()
    }

    pub(crate) async fn get(&self, group: &str, kind: &str, name: &str) -> Option<Value> {
        let resource = self.resource(group, kind).await;
        self.cluster.get(&resource, &self.space, name).await.unwrap()
    }

    /// Somebody else writes an object of this test.
    pub(crate) async fn by_hand(&self, group: &str, object: Value) -> Value {
        let resource = self.resource(group, object.str_at(&["kind"])).await;
        let mut object = object;
        object.set_at(&["metadata", "namespace"], self.space.as_str());
        self.cluster
            .apply(&resource, &object, &Apply::by("hand"))
            .await
            .unwrap()
    }

    /// Waits until an object in the cluster is as wanted.
    pub(crate) async fn seen(&self, kind: &str, name: &str, wanted: impl Fn(Option<&Value>) -> bool) {
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
    client: &kube::Client,
    settings: &ReconciliationSettings,
    sources: &Sources,
    units: &MemoryStore,
) -> (Engine, watch::Receiver<u64>, Running) {
    let engine = Engine::new(
        settings.clone(),
        OneCluster::new(client.clone()),
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
    let running = Running::start(&engine, 2);
    (engine, events, running)
}

/// An engine that runs, until it is ended.
pub(crate) struct Running(Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>);

impl Running {
    /// Starts an engine that works on so many units at once.
    pub(crate) fn start(engine: &Engine, at_once: usize) -> Self {
        let engine = engine.clone();
        let (until, ended) = oneshot::channel();
        let task = tokio::spawn(async move {
            let until = async {
                if ended.await.is_err() {
                    // Nobody is left to end it.
                    std::future::pending::<()>().await;
                }
            };
            engine.run(at_once, at_once, until).await.unwrap();
        });
        Running(Mutex::new(Some((until, task))))
    }

    /// Ends it where it is, as a crash would, and waits until nothing of it is at work any more: what it wrote after that would be
    /// taken for what the next one has written.
    pub(crate) async fn end(&self) {
        let running = self.0.lock().take();
        if let Some((until, task)) = running {
            let _ = until.send(());
            task.await.unwrap();
        }
    }
}
