//! The whole engine on the embedded and on a real cluster: units in, objects in the cluster out.

mod answers;
mod apply;
mod approval;
mod callbacks;
mod clusters;
mod deletion;
mod drift;
mod ending;
mod faults;
mod force;
mod gate;
mod given_up;
mod health;
mod hearing;
mod hooks;
mod kills;
mod left_behind;
mod moving;
mod new_objects;
mod once_wrong;
mod operations;
mod panics;
mod prune;
mod requests;

mod restless;

mod selective;
mod settings;
mod shared;
mod stale;
mod status;
mod superseded;
mod sync_options;
mod twice_wrong;
mod waves;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::cache::Assess;
use engine::cluster::{Apply, Cluster, Resource};
use engine::plan::{GroupKind, Options, Strategy};
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Operation, Phase, Policy,
    ReconciliationSettings, ResourceOverride, Source, Status, SyncUnit,
};
use futures::future::BoxFuture;
use jiff::Timestamp;
use model::health::State;
use model::manifest::Origin;
use model::{Health, Manifest, Value, value};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Everything has to be there by then, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// What units are made of, by the unit's id.
#[derive(Clone, Default)]
struct Sources(
    Arc<Mutex<BTreeMap<String, Revision>>>,
    Arc<Mutex<BTreeMap<String, Origin>>>,
    /// How often nothing that was kept might be used.
    Arc<AtomicUsize>,
);

/// A revision and its objects.
type Revision = (String, Vec<Value>);

impl Sources {
    fn set(&self, unit: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        let objects = objects.into_iter().collect();
        self.0
            .lock()
            .insert(unit.to_owned(), (revision.to_owned(), objects));
    }

    /// The manifests of a unit are read here from now on.
    fn from(&self, unit: &str, origin: Origin) {
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
struct Bed {
    test: testkit::Cluster,
    /// What the engine reaches the cluster by.
    client: kube::Client,
    cluster: Cluster,
    space: String,
    sources: Sources,
    units: MemoryStore,
    settings: ReconciliationSettings,
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
        Bed::with(test, ReconciliationSettings::default()).await
    }

    /// One in which config maps can take their time, and fail: see [`Outcomes`].
    async fn with_outcomes() -> Bed {
        Bed::with(testkit::Cluster::start().await, outcomes()).await
    }

    /// One whose engine reaches the cluster through this gate.
    async fn through(gate: &gate::Gate) -> Bed {
        let test = testkit::Cluster::start().await;
        let client = gate.client(test.client());
        Bed::reached(test, client, ReconciliationSettings::default()).await
    }

    async fn with(test: testkit::Cluster, settings: ReconciliationSettings) -> Bed {
        let client = test.client();
        Bed::reached(test, client, settings).await
    }

    async fn reached(test: testkit::Cluster, client: kube::Client, settings: ReconciliationSettings) -> Bed {
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
        (self.engine, self.events, self.running) =
            run(&self.client, &self.settings, &self.sources, &self.units);
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

    /// A unit as Argo CD would look after it, with hooks and waves.
    fn argo(&self, id: &str) -> SyncUnit {
        let mut unit = self.unit(id);
        unit.policy.strategy = Strategy::argo(id);
        unit
    }

    /// Somebody asks for an operation.
    fn ask(&self, unit: &str, operation: Operation) {
        let mut asked = self.units.unit(unit).unwrap();
        asked.operation = Some(operation);
        self.units.put(asked);
        self.engine.refresh(unit);
    }

    /// Waits until the operation of a unit is in this phase.
    async fn phase(&self, unit: &str, phase: Phase) -> Status {
        let is = |status: &Status| {
            status
                .operation
                .as_ref()
                .is_some_and(|state| state.phase == phase)
        };
        self.until(unit, is).await
    }

    /// Waits until the operation of a unit waits for something.
    async fn waits(&self, unit: &str) -> Status {
        let waits = |status: &Status| {
            let state = status.operation.as_ref();
            state.is_some_and(|state| {
                state.phase == Phase::Running && state.message.starts_with("waiting for")
            })
        };
        self.until(unit, waits).await
    }

    /// What becomes of a config map that takes its time: `done` or `failed`.
    async fn outcome(&self, name: &str, outcome: &str) {
        let mut object = config_map(name, "");
        object.set_at(&["data"], value!({ "outcome": outcome }));
        self.by_hand("", object).await;
    }

    /// The identity of a config map, which a new one of the same name does not have.
    async fn uid(&self, name: &str) -> Option<String> {
        let live = self.get("", "ConfigMap", name).await?;
        Some(live.str_at(&["metadata", "uid"]).to_owned())
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
    client: &kube::Client,
    settings: &ReconciliationSettings,
    sources: &Sources,
    units: &MemoryStore,
) -> (Engine, watch::Receiver<u64>, AbortHandle) {
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
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    (engine, events, running.abort_handle())
}

/// Config maps with `slow: "yes"` are in progress until somebody writes an `outcome` into them.
struct Outcomes;

impl Assess for Outcomes {
    fn assess(&self, object: &Value, _: Timestamp) -> Option<Health> {
        let state = match object.str_at(&["data", "outcome"]) {
            "done" => State::Healthy,
            "failed" => State::Degraded,
            "held" => State::Suspended,
            _ if object.str_at(&["data", "slow"]) == "yes" => State::Progressing,
            _ => State::Healthy,
        };
        Some(Health::new(state))
    }
}

fn outcomes() -> ReconciliationSettings {
    let config_maps = GroupKind {
        group: "".into(),
        kind: "ConfigMap".into(),
    };
    let special = ResourceOverride {
        health: Some(Arc::new(Outcomes)),
        ..ResourceOverride::default()
    };
    ReconciliationSettings {
        overrides: BTreeMap::from([(config_maps, special)]),
        ..ReconciliationSettings::default()
    }
}

/// A config map that takes its time.
fn slow(name: &str) -> Value {
    let mut object = config_map(name, "1");
    object.set_at(&["data", "slow"], "yes");
    object
}

/// The object with an annotation of Argo CD.
fn argo(mut object: Value, annotation: &str, value: &str) -> Value {
    let annotation = format!("argocd.argoproj.io/{annotation}");
    object.set_at(&["metadata", "annotations", &annotation], value);
    object
}

/// The names of the objects that an operation has worked on, in the order in which that was done.
fn worked_on(status: &Status) -> Vec<String> {
    let results = &status.operation.as_ref().unwrap().progress.results;
    let changed = results.iter().filter(|result| result.outcome.changed());
    changed.map(|result| result.key.name.to_string()).collect()
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
