//! Code of whoever embeds the engine that panics or never answers: it is told of, what it was about is tried again, and nothing
//! else is held up.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use engine::cache::Assess;
use engine::unit::{
    Access, ClusterEvent, CredentialsStore, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster,
    Operation, ReconciliationSettings, Status, SyncState, SyncUnit, SyncUnitStore,
};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use jiff::Timestamp;
use model::health::State;
use model::{Health, Value};
use parking_lot::Mutex;

use super::{Bed, LIMIT, Sources, config_map};

/// Something that panics or never answers each time when it is about to do one of these.
#[derive(Clone)]
struct Careless<T> {
    inner: T,
    trouble: Arc<Mutex<Option<Ahead>>>,
}

/// What goes wrong, in what way, and how often it still does.
type Ahead = (&'static str, Trouble, u32);

#[derive(Clone, Copy, PartialEq)]
enum Trouble {
    Panics,
    Hangs,
}

impl<T> Careless<T> {
    fn new(inner: T) -> Self {
        Careless {
            inner,
            trouble: Arc::default(),
        }
    }

    fn will(&self, trouble: Trouble, method: &'static str, times: u32) {
        *self.trouble.lock() = Some((method, trouble, times));
    }

    /// How much trouble is left.
    fn left(&self) -> u32 {
        self.trouble.lock().map_or(0, |(.., left)| left)
    }

    async fn about_to(&self, method: &str) {
        let trouble = match &mut *self.trouble.lock() {
            Some((of, trouble, left)) if *of == method && *left > 0 => {
                *left -= 1;
                *trouble
            }
            _ => return,
        };
        match trouble {
            Trouble::Panics => panic!("out of luck"),
            Trouble::Hangs => std::future::pending().await,
        }
    }
}

impl SyncUnitStore for Careless<MemoryStore> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async {
            self.about_to("list").await;
            self.inner.list().await
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async move {
            self.about_to("get").await;
            self.inner.get(id).await
        })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            self.about_to("set_status").await;
            self.inner.set_status(id, status).await
        })
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async move {
            self.about_to("set_operation").await;
            self.inner.set_operation(id, from, to).await
        })
    }
}

impl ManifestGenerator for Careless<Sources> {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        revision: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async move {
            self.about_to("generate").await;
            self.inner.generate(unit, revision, fresh).await
        })
    }
}

impl CredentialsStore for Careless<OneCluster> {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async move {
            self.about_to("get_cluster").await;
            self.inner.get_cluster(name).await
        })
    }

    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        let careless = self.clone();
        Box::pin(futures::stream::once(async move {
            careless.about_to("watch_clusters").await;
            std::future::pending().await
        }))
    }
}

/// An engine whose surroundings are careless, on the cluster of a bed.
struct Scene {
    bed: Bed,
    units: Careless<MemoryStore>,
    sources: Careless<Sources>,
    clusters: Careless<OneCluster>,
    engine: Engine,
    told: Arc<Mutex<Vec<String>>>,
}

impl Scene {
    async fn start() -> Scene {
        Scene::on(Bed::start().await).await
    }

    /// One whose time passes when nobody has anything to do.
    async fn paused() -> Scene {
        Scene::on(Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await).await
    }

    async fn on(bed: Bed) -> Scene {
        let (units, sources) = (
            Careless::new(bed.units.clone()),
            Careless::new(bed.sources.clone()),
        );
        let clusters = Careless::new(OneCluster::new(bed.test.client()));
        bed.running.end().await;
        let settings = ReconciliationSettings::default();
        let engine = Engine::new(settings, clusters.clone(), sources.clone(), units.clone());
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&told);
        engine
            .on_unit_event(move |_, event| heard.lock().push(event.message.clone()))
            .forever();
        Scene {
            bed,
            units,
            sources,
            clusters,
            engine,
            told,
        }
    }

    /// Lets one worker of each kind begin.
    fn run(&self) {
        let engine = self.engine.clone();
        tokio::spawn(async move { engine.run(1, 1, std::future::pending()).await });
    }

    fn sync(&self, unit: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        self.bed.sync(unit, revision, objects);
        self.engine.refresh(unit);
    }

    async fn until(&self, unit: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        let every = testkit::settled::Every(Duration::from_millis(20));
        let settled = testkit::settled(LIMIT * 10, every, async || {
            let status = self.bed.units.unit(unit).map(|unit| unit.status);
            let status = status.unwrap_or_default();
            match wanted(&status) {
                true => Ok(status),
                false => Err(format!("{status:#?}")),
            }
        });
        settled.await.unwrap_or_else(|error| panic!("{unit}: {error}"))
    }

    async fn applied(&self, unit: &str, revision: &str) {
        self.until(unit, |status| {
            let ended = status.operation.as_ref().is_none_or(|last| last.phase.is_final());
            status.revision == revision && ended
        })
        .await;
    }

    async fn is_told(&self, wanted: &str) {
        let every = testkit::settled::Every(Duration::from_millis(20));
        let settled = testkit::settled(LIMIT, every, async || {
            let told = self.told.lock().clone();
            match told.iter().any(|message| message == wanted) {
                true => Ok(()),
                false => Err(format!("{told:?}")),
            }
        });
        settled.await.unwrap_or_else(|error| panic!("{wanted}: {error}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generator_that_panics_is_told_and_tried_again() {
    let scene = Scene::start().await;
    scene.sources.will(Trouble::Panics, "generate", u32::MAX);
    scene.run();
    scene.sync("shop", "v1", [config_map("a", "1")]);
    let status = scene.until("shop", |status| !status.errors.is_empty()).await;
    assert_eq!(status.errors, ["the manifest generator panicked: out of luck"]);
    assert_eq!(status.sync, SyncState::Unknown);
    scene
        .is_told("the manifest generator panicked: out of luck")
        .await;
    scene.sources.will(Trouble::Panics, "generate", 0);
    scene.applied("shop", "v1").await;
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_generator_that_never_answers_fails_when_its_time_is_up_and_holds_up_no_other_unit_for_longer() {
    let scene = Scene::paused().await;
    let mut unit = scene.bed.unit("stuck");
    unit.policy.generate_within = Duration::from_secs(90);
    unit.policy.retry = Duration::from_secs(3600);
    scene.bed.units.put(unit);
    scene.sources.will(Trouble::Hangs, "generate", 1);
    scene.run();
    scene.sync("stuck", "v1", [config_map("a", "1")]);
    while scene.sources.left() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // There is one worker.
    scene.sync("other", "v1", [config_map("b", "1")]);
    scene.applied("other", "v1").await;
    let status = scene.until("stuck", |status| !status.errors.is_empty()).await;
    assert_eq!(
        status.errors,
        ["the manifest generator gave no answer within 90s"]
    );
    scene.engine.refresh("stuck");
    scene.applied("stuck", "v1").await;
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_newer_source_ends_a_generator_that_never_answers() {
    let scene = Scene::paused().await;
    let mut unit = scene.bed.unit("shop");
    unit.policy.generate_within = Duration::from_secs(24 * 3600);
    unit.source.revision = "old".to_owned();
    scene.bed.units.put(unit.clone());
    scene.sources.will(Trouble::Hangs, "generate", 1);
    scene.run();
    scene.sync("shop", "v1", [config_map("a", "1")]);
    while scene.sources.left() > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    unit.source.revision = "new".to_owned();
    scene.bed.units.put(unit);
    scene.engine.refresh("shop");
    // This waits for ten minutes at most.
    scene.applied("shop", "v1").await;
    scene.bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_panics_ends_no_worker_and_leaves_no_operation_behind() {
    let scene = Scene::start().await;
    scene.units.will(Trouble::Panics, "list", 1);
    scene.run();
    let told = |method: &str| format!("{method} of the unit store panicked: out of luck");
    scene.is_told(&told("list")).await;
    for (method, times) in [
        ("get", 1),
        ("get", 3),
        ("set_status", 1),
        ("set_status", 2),
        ("set_status", 3),
    ] {
        scene.units.will(Trouble::Panics, method, times);
        let revision = format!("{method}-{times}");
        scene.sync("shop", &revision, [config_map("a", &revision)]);
        scene.applied("shop", &revision).await;
        scene.is_told(&told(method)).await;
        assert_eq!(scene.units.left(), 0, "{revision}");
        let live = scene.bed.get("", "ConfigMap", "a").await.unwrap();
        assert_eq!(live.str_at(&["data", "key"]), revision);
    }
    // An operation that was asked for is taken back once it is done, though not at the first attempt.
    scene.units.will(Trouble::Panics, "set_operation", 1);
    scene.bed.ask("shop", Operation::default());
    scene.engine.refresh("shop");
    scene.is_told(&told("set_operation")).await;
    let every = testkit::settled::Every(Duration::from_millis(20));
    let answered = testkit::settled(LIMIT, every, async || {
        match scene.bed.units.unit("shop").unwrap().operation {
            None => Ok(()),
            Some(operation) => Err(format!("{operation:?}")),
        }
    });
    answered.await.unwrap();
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_is_asked_again() {
    let scene = Scene::paused().await;
    scene.run();
    for method in ["get", "set_status"] {
        scene.units.will(Trouble::Hangs, method, 1);
        scene.sync("shop", method, [config_map("a", method)]);
        scene.applied("shop", method).await;
        let told = format!("{method} of the unit store gave no answer within 60s");
        scene.is_told(&told).await;
    }
    scene.bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credentials_store_that_panics_is_told_and_asked_again() {
    let scene = Scene::start().await;
    scene.clusters.will(Trouble::Panics, "watch_clusters", 1);
    scene.run();
    scene
        .is_told("watch_clusters of the credentials store panicked: out of luck")
        .await;
    scene.clusters.will(Trouble::Panics, "get_cluster", 1);
    scene.sync("shop", "v1", [config_map("a", "1")]);
    let status = scene.until("shop", |status| !status.errors.is_empty()).await;
    assert_eq!(
        status.errors,
        ["get_cluster of the credentials store panicked: out of luck"]
    );
    scene.applied("shop", "v1").await;
    scene.bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn callbacks_that_panic_are_told_of_and_end_nothing() {
    let scene = Scene::start().await;
    let engine = &scene.engine;
    let _told = [
        engine.on_unit_event(|_, _| panic!("out of luck")),
        engine.on_sync_completed(|_, _| panic!("out of luck")),
        engine.on_cluster_cache_initialized(|_| panic!("out of luck")),
        engine.on_resource_updated(|_, _| panic!("out of luck")),
        engine.on_resource_removed(|_, _| panic!("out of luck")),
    ];
    scene.run();
    let told = |callback: &str| format!("a callback of {callback} panicked: out of luck");
    scene.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    scene.applied("shop", "v1").await;
    // What happens to objects is still seen.
    scene.bed.by_hand("", config_map("a", "by hand")).await;
    let is = |live: Option<&Value>| live.is_some_and(|live| live.str_at(&["data", "key"]) == "1");
    scene.bed.seen("ConfigMap", "a", is).await;
    scene.sync("shop", "v2", [config_map("a", "1")]);
    scene.applied("shop", "v2").await;
    for callback in [
        "on_sync_completed",
        "on_cluster_cache_initialized",
        "on_resource_updated",
        "on_resource_removed",
    ] {
        scene.is_told(&told(callback)).await;
    }
    let veto = engine.on_before_sync(|_, _| panic!("out of luck"));
    scene.sync("shop", "v3", [config_map("a", "3")]);
    let status = scene.until("shop", |status| !status.errors.is_empty()).await;
    assert_eq!(
        status.errors,
        ["vetoed, as a callback of on_before_sync panicked: out of luck"]
    );
    assert_eq!(status.sync, SyncState::OutOfSync);
    drop(veto);
    scene.applied("shop", "v3").await;
    scene.bed.finish().await;
}

/// Cannot tell how anything is doing.
struct Hopeless;

impl Assess for Hopeless {
    fn assess(&self, object: &Value, _: Timestamp) -> Option<Health> {
        match object.str_at(&["data", "key"]) {
            "1" => panic!("out of luck"),
            _ => None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_health_that_panic_leave_it_unknown_and_the_watch_goes_on() {
    let mut settings = super::outcomes();
    for special in settings.overrides.values_mut() {
        special.health = Some(Arc::new(Hopeless));
    }
    let bed = Bed::with(testkit::Cluster::start().await, settings).await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    let unknown = |status: &Status| {
        let health = status.health.as_ref();
        health.is_some_and(|health| health.state == State::Unknown && health.message.contains("out of luck"))
    };
    bed.until("shop", unknown).await;
    bed.sync("shop", "v2", [config_map("a", "2")]);
    bed.applied("shop", "v2").await;
    let healthy = |status: &Status| {
        let health = status.health.as_ref();
        health.is_some_and(|health| health.state == State::Healthy)
    };
    bed.until("shop", healthy).await;
    bed.finish().await;
}
