//! A source that describes something else each time, although nobody has changed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::unit::{Failure, Generated, ManifestGenerator, OneCluster, Operation, SyncUnit};
use engine::{Engine, UnitEventKind};
use futures::future::BoxFuture;
use model::{Manifest, Value};
use tokio::time::Instant;

use super::{Bed, Running, by, config_map, hook, outcomes, slow, soon, waiting};

/// A template with a number in it that grows each time.
#[derive(Clone)]
struct Counter {
    objects: fn(&str) -> Vec<Value>,
    built: Arc<AtomicUsize>,
}

impl ManifestGenerator for Counter {
    fn generate<'a>(
        &'a self,
        _: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            let number = self.built.fetch_add(1, Ordering::SeqCst).to_string();
            let objects = (self.objects)(&number).into_iter();
            let manifests = objects.map(|object| Manifest::new(object, None));
            Ok(Generated {
                manifests: manifests.collect::<Result<_, _>>()?,
                revision: "v1".to_owned(),
            })
        })
    }
}

/// An engine that counts how many operations begin, for units of such a source.
struct Scene {
    bed: Bed,
    engine: Engine,
    begun: Arc<AtomicUsize>,
    running: Running,
}

impl Scene {
    async fn start(objects: fn(&str) -> Vec<Value>, unit: impl FnOnce(&Bed) -> SyncUnit) -> Scene {
        let bed = Bed::paused().await;
        bed.running.end().await;
        bed.units.put(unit(&bed));
        let counter = Counter {
            objects,
            built: Arc::default(),
        };
        let clusters = OneCluster::new(bed.test.client());
        let engine = Engine::new(outcomes(), clusters, counter, bed.units.clone());
        let begun: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&begun);
        let counting = engine.on_unit_event(move |_, event| {
            count.fetch_add(
                usize::from(event.kind == UnitEventKind::Started),
                Ordering::SeqCst,
            );
        });
        counting.forever();
        let running = Running::start(&engine, 2);
        Scene {
            bed,
            engine,
            begun,
            running,
        }
    }

    /// How many operations begin in ten minutes.
    async fn begun(self) -> usize {
        tokio::time::sleep(Duration::from_secs(600)).await;
        self.running.end().await;
        self.bed.finish().await;
        self.begun.load(Ordering::SeqCst)
    }
}

/// A unit that is looked at every so many seconds.
fn looked_at_every(seconds: u64, mut unit: SyncUnit) -> SyncUnit {
    unit.policy.interval = Duration::from_secs(seconds);
    unit
}

fn slow_number(number: &str) -> Vec<Value> {
    let mut object = slow("a");
    object.set_at(&["data", "number"], number);
    vec![object]
}

#[tokio::test(start_paused = true)]
async fn what_is_built_otherwise_each_time_is_applied_with_growing_pauses() {
    let unit = |bed: &Bed| looked_at_every(5, bed.unit("shop"));
    let scene = Scene::start(|number| vec![config_map("a", number)], unit).await;
    let begun = scene.begun().await;
    // At once twice, then after 2, 8, 26, 80, 242 and 542 seconds.
    assert!((6..=10).contains(&begun), "{begun} operations in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn what_is_built_otherwise_each_time_ends_an_operation_that_waits_with_growing_pauses() {
    let unit = |bed: &Bed| {
        let mut unit = looked_at_every(5, bed.unit("shop"));
        unit.policy.options = waiting(3600);
        unit
    };
    let begun = Scene::start(slow_number, unit).await.begun().await;
    assert!((3..=10).contains(&begun), "{begun} operations in ten minutes");
}

/// Its hook takes two minutes, and it is looked at every minute.
#[tokio::test(start_paused = true)]
async fn a_unit_whose_source_is_restless_can_be_deleted() {
    let objects = |number: &str| {
        let bye = hook(slow("bye"), "PreDelete", "BeforeHookCreation");
        vec![config_map("web", number), bye]
    };
    let unit = |bed: &Bed| looked_at_every(60, bed.argo("shop"));
    let Scene { bed, engine, .. } = Scene::start(objects, unit).await;
    bed.seen("ConfigMap", "web", |live| live.is_some()).await;
    let mut unit = bed.units.unit("shop").unwrap();
    unit.operation = Some(Operation {
        delete: true,
        ..Operation::default()
    });
    bed.units.put(unit);
    engine.refresh("shop");
    bed.seen("ConfigMap", "bye", |live| live.is_some()).await;
    let (uid, begun) = (bed.uid("bye").await, Instant::now());
    soon(120, async || false).await;
    assert!(begun.elapsed() >= Duration::from_secs(120));
    assert_eq!(bed.uid("bye").await, uid, "the hook was begun again");
    bed.outcome("bye", "done").await;
    assert!(soon(60, async || bed.key("web").await.is_none()).await);
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_is_carried_out_although_the_source_is_restless() {
    let unit = |bed: &Bed| {
        let mut unit = looked_at_every(60, bed.unit("shop"));
        unit.policy.automatic = false;
        unit.policy.options = waiting(600);
        unit.operation = Some(by("ada"));
        unit
    };
    let Scene { bed, .. } = Scene::start(slow_number, unit).await;
    bed.seen("ConfigMap", "a", |live| live.is_some()).await;
    soon(90, async || false).await;
    bed.outcome("a", "done").await;
    let is_applied = async || bed.units.unit("shop").unwrap().status.revision == "v1";
    assert!(soon(120, is_applied).await);
    bed.finish().await;
}
