//! Requests: each is answered once, whatever the store does, and what comes in meanwhile is not lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::unit::{
    Failure, MemoryStore, OneCluster, Operation, Phase, ReconciliationSettings, Status, SyncUnit,
    SyncUnitStore,
};
use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::{Bed, LIMIT, Running, by, config_map, hook, soon};

type Action = Box<dyn FnOnce() + Send>;

/// A store that fails, and in which something happens just before a request is taken away.
#[derive(Clone)]
struct Moody {
    units: MemoryStore,
    keeps_requests: Arc<AtomicBool>,
    keeps_statuses: Arc<AtomicBool>,
    /// Takes no status of an operation that has ended well.
    keeps_ends: Arc<AtomicBool>,
    /// How many of those it has not taken.
    ends: Arc<AtomicUsize>,
    meanwhile: Arc<Mutex<Option<Action>>>,
}

impl Moody {
    fn new(units: MemoryStore) -> Moody {
        Moody {
            units,
            keeps_requests: Arc::default(),
            keeps_statuses: Arc::default(),
            keeps_ends: Arc::default(),
            ends: Arc::default(),
            meanwhile: Arc::default(),
        }
    }
}

impl SyncUnitStore for Moody {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        self.units.list()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        self.units.get(id)
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        let last = status.operation.as_ref();
        let is_end = last.is_some_and(|last| last.phase == Phase::Succeeded);
        let keeps = self.keeps_ends.load(Ordering::SeqCst) && is_end;
        self.ends.fetch_add(usize::from(keeps), Ordering::SeqCst);
        match keeps || self.keeps_statuses.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(Failure::new("the store is full")) }),
            false => self.units.set_status(id, status),
        }
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        if let Some(action) = self.meanwhile.lock().take() {
            action();
        }
        match self.keeps_requests.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(Failure::new("the store is read-only")) }),
            false => self.units.set_operation(id, from, to),
        }
    }
}

/// An engine with a moody store, how many operations have ended, and a bed whose own engine does not run.
struct Scene {
    bed: Bed,
    store: Moody,
    engine: Engine,
    ended: Arc<AtomicUsize>,
}

impl Scene {
    async fn start() -> Scene {
        let mut bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
        bed.running.end().await;
        let store = Moody::new(bed.units.clone());
        let clusters = OneCluster::new(bed.test.client());
        let settings = ReconciliationSettings::default();
        let engine = Engine::new(settings, clusters, bed.sources.clone(), store.clone());
        let ended: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&ended);
        engine
            .on_sync_completed(move |_, _| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .forever();
        bed.running = Running::start(&engine, 2);
        Scene {
            bed,
            store,
            engine,
            ended,
        }
    }

    fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    async fn until(&self, what: &str, wanted: impl Fn(&SyncUnit) -> bool) {
        let every = testkit::settled::Every(Duration::from_millis(10));
        let settled = testkit::settled(LIMIT, every, async || {
            let unit = self.bed.units.unit("shop").unwrap();
            if wanted(&unit) {
                Ok(())
            } else {
                Err(format!("{what}: {unit:#?}"))
            }
        });
        settled.await.unwrap();
    }

    fn ask(&self, operation: Operation) {
        self.bed.ask("shop", operation);
        self.engine.refresh("shop");
    }

    fn sync(&self, revision: &str) {
        self.bed.sync("shop", revision, [config_map("a", revision)]);
        self.engine.refresh("shop");
    }
}

fn last_request(unit: &SyncUnit) -> &str {
    let last = unit.status.operation.as_ref();
    let request = last.and_then(|last| last.request.as_ref());
    request.map_or("", |request| &request.by)
}

#[tokio::test(start_paused = true)]
async fn a_request_that_comes_in_while_another_is_answered_is_carried_out_too() {
    let scene = Scene::start().await;
    scene.sync("v1");
    scene.until("v1", |unit| unit.status.revision == "v1").await;
    let units = scene.bed.units.clone();
    *scene.store.meanwhile.lock() = Some(Box::new(move || {
        let mut unit = units.unit("shop").unwrap();
        unit.operation = Some(by("eve"));
        units.put(unit);
    }));
    scene.ask(by("ada"));
    let both = |unit: &SyncUnit| unit.operation.is_none() && last_request(unit) == "eve";
    scene.until("both are answered", both).await;
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_taken_away_is_carried_out_once() {
    let scene = Scene::start().await;
    scene.sync("v1");
    scene.until("v1", |unit| unit.status.revision == "v1").await;
    scene.store.keeps_requests.store(true, Ordering::SeqCst);
    let before = scene.ended();
    scene.ask(by("ada"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(scene.ended() - before, 1);
    assert!(scene.bed.units.unit("shop").unwrap().operation.is_some());
    // The unit is looked after all the same.
    scene.sync("v2");
    scene.until("v2", |unit| unit.status.revision == "v2").await;
    scene.store.keeps_requests.store(false, Ordering::SeqCst);
    scene
        .until("it is taken away", |unit| unit.operation.is_none())
        .await;
    let before = scene.ended();
    scene.ask(by("ada"));
    scene.until("the next one", |unit| unit.operation.is_none()).await;
    assert_eq!(scene.ended() - before, 1, "the same again is another request");
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_that_is_vetoed_is_answered_with_the_veto() {
    let scene = Scene::start().await;
    scene.sync("v1");
    scene.until("v1", |unit| unit.status.revision == "v1").await;
    let _veto = scene.engine.on_before_sync(|_, _| Err(Failure::new("frozen")));
    let dry = Operation {
        dry_run: true,
        ..Operation::default()
    };
    scene.bed.sources.set("shop", "v2", [config_map("a", "2")]);
    scene.ask(dry);
    scene.until("answered", |unit| unit.operation.is_none()).await;
    let last = scene.bed.units.unit("shop").unwrap().status.operation.unwrap();
    assert_eq!(last.phase, Phase::Failed);
    assert_eq!(last.message, "vetoed before the sync: frozen");
    assert_eq!(last.plan.counts().change, 1, "what would be done is told");
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_proposed_is_the_newest_also_while_a_request_is_vetoed() {
    let scene = Scene::start().await;
    let mut unit = scene.bed.unit("shop");
    unit.policy.automatic = false;
    scene.bed.units.put(unit);
    let proposed = |unit: &SyncUnit| unit.status.proposed.as_ref().map(|plan| plan.revision.clone());
    scene.sync("v1");
    scene
        .until("v1", |unit| proposed(unit).as_deref() == Some("v1"))
        .await;
    let _veto = scene.engine.on_before_sync(|_, _| Err(Failure::new("frozen")));
    scene.ask(Operation::default());
    scene.until("vetoed", |unit| !unit.status.errors.is_empty()).await;
    scene.sync("v2");
    scene
        .until("v2", |unit| proposed(unit).as_deref() == Some("v2"))
        .await;
    scene.bed.finish().await;
}

/// How often a unit is looked at in a minute.
async fn looks(scene: &Scene) -> u64 {
    let before = scene.engine.looks();
    tokio::time::sleep(Duration::from_secs(60)).await;
    scene.engine.looks() - before
}

#[tokio::test(start_paused = true)]
async fn a_store_that_takes_no_status_is_not_asked_without_a_pause() {
    let scene = Scene::start().await;
    let mut unit = scene.bed.unit("shop");
    unit.policy.strategy = engine::plan::Strategy::helm();
    scene.bed.units.put(unit);
    scene.sync("v1");
    scene.until("v1", |unit| unit.status.revision == "v1").await;
    let mut taker = scene.bed.unit("taker");
    taker.policy.strategy = engine::plan::Strategy::helm();
    scene.bed.units.put(taker);
    scene.bed.sources.set("taker", "v1", [config_map("a", "taken")]);
    scene.engine.refresh("taker");
    let every = testkit::settled::Every(Duration::from_millis(10));
    let taken = testkit::settled(LIMIT, every, async || {
        let status = scene.bed.units.unit("taker").unwrap().status;
        if status.revision == "v1" {
            Ok(())
        } else {
            Err(format!("{status:?}"))
        }
    });
    taken.await.unwrap();
    // What it has is another's by now, which it cannot say.
    scene.store.keeps_statuses.store(true, Ordering::SeqCst);
    scene.engine.refresh("shop");
    let looks = looks(&scene).await;
    assert!(looks < 150, "{looks} looks in a minute, with a retry each second");
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_take_the_end_of_an_operation_is_tried_again_with_growing_pauses() {
    let scene = Scene::start().await;
    scene.store.keeps_ends.store(true, Ordering::SeqCst);
    scene.bed.units.put(scene.bed.unit("shop"));
    scene.sync("v1");
    let ends = &scene.store.ends;
    assert!(soon(60, async || ends.load(Ordering::SeqCst) > 0).await);
    tokio::time::sleep(Duration::from_secs(300)).await;
    let tries = ends.load(Ordering::SeqCst);
    assert!((5..=15).contains(&tries), "{tries} tries in five minutes");
    scene.store.keeps_ends.store(false, Ordering::SeqCst);
    assert!(soon(60, async || scene.ended() == 1).await);
    scene.bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn an_interval_of_nothing_is_a_second() {
    let scene = Scene::start().await;
    let mut unit = scene.bed.unit("shop");
    unit.policy.interval = Duration::ZERO;
    unit.policy.retry = Duration::ZERO;
    scene.bed.units.put(unit);
    scene.sync("v1");
    scene.until("v1", |unit| unit.status.revision == "v1").await;
    let looks = looks(&scene).await;
    assert!((55..=70).contains(&looks), "{looks} looks in a minute");
    scene.bed.finish().await;
}

/// The process has ended between the status and the request.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_number_is_answered_once_also_over_a_crash() {
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let objects = [
        hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation"),
        config_map("web", "1"),
    ];
    bed.sync("shop", "v1", objects);
    bed.applied("shop", "v1").await;
    let asked = Operation {
        number: "1".into(),
        ..by("ada")
    };
    bed.ask("shop", asked.clone());
    assert!(soon(60, async || !bed.is_asked("shop")).await);
    bed.running.end().await;
    let uid = bed.uid("migrate").await;
    let mut unit = bed.units.unit("shop").unwrap();
    assert_eq!(last_request(&unit), "ada");
    // As it was before it was taken away.
    unit.operation = Some(asked);
    bed.units.put(unit);
    bed.restart().await;
    assert!(soon(60, async || !bed.is_asked("shop")).await);
    assert_eq!(bed.uid("migrate").await, uid, "the hook was run again");
    bed.finish().await;
}
