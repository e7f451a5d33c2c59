//! A source that describes something else each time, although nobody has changed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::unit::{Failure, Generated, ManifestGenerator, OneCluster, ReconciliationSettings, SyncUnit};
use futures::future::BoxFuture;
use model::{Manifest, Value};

use super::{Bed, config_map, slow, waiting};

/// A template with a number in it that grows each time.
#[derive(Clone)]
struct Counter {
    object: fn(&str) -> Value,
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
            Ok(Generated {
                manifests: vec![Manifest::new((self.object)(&number), None)?],
                revision: "v1".to_owned(),
            })
        })
    }
}

/// How many operations begin in ten minutes.
async fn operations(object: fn(&str) -> Value, waits: bool) -> usize {
    let bed = Bed::with(
        testkit::Cluster::embedded(apiserver::Server::builder()),
        super::outcomes(),
    )
    .await;
    bed.running.abort();
    let counter = Counter {
        object,
        built: Arc::default(),
    };
    let mut unit = bed.unit("shop");
    if waits {
        unit.policy.options = waiting(3600);
    }
    unit.policy.interval = Duration::from_secs(5);
    bed.units.put(unit);
    let clusters = OneCluster::new(bed.test.client());
    let settings: ReconciliationSettings = super::outcomes();
    let engine = Engine::new(settings, clusters, counter, bed.units.clone());
    let begun: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&begun);
    engine
        .on_unit_event(move |_, event| {
            if event.kind == engine::UnitEventKind::Started {
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .forever();
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    tokio::time::sleep(Duration::from_secs(600)).await;
    running.abort();
    bed.finish().await;
    begun.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn what_is_built_otherwise_each_time_is_applied_with_growing_pauses() {
    let begun = operations(|number| config_map("a", number), false).await;
    // At once twice, then after 2, 8, 26, 80, 242 and 542 seconds.
    assert!((6..=10).contains(&begun), "{begun} operations in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn what_is_built_otherwise_each_time_ends_an_operation_that_waits_with_growing_pauses() {
    let begun = operations(
        |number| {
            let mut object = slow("a");
            object.set_at(&["data", "number"], number);
            object
        },
        true,
    )
    .await;
    assert!((3..=10).contains(&begun), "{begun} operations in ten minutes");
}
