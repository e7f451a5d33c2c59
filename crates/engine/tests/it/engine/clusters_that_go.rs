//! Clusters that go and come back in the middle of something: nothing is written to one that is gone, and what was asked for is not forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::unit::{
    Access, ClusterEvent, CredentialsStore, Failure, Generated, ManifestGenerator, Phase,
    ReconciliationSettings, SyncUnit,
};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::clusters::{self, Names, never_bound};
use super::{Bed, Sources, by, config_map, is_waiting, soon, waiting};

const ENDPOINT: &str = "https://one.example";

/// A bed whose own engine does not run, with a name for its cluster.
async fn named(bed: Bed) -> (Bed, Names) {
    bed.running.abort();
    let names = Names::new();
    names.set("one", ENDPOINT, "ada", bed.test.client());
    (bed, names)
}

/// A unit in the cluster of that name.
fn unit(bed: &Bed) -> SyncUnit {
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.options = waiting(3600);
    unit
}

/// A generator that can be told to wait until it may go on.
#[derive(Clone, Default)]
struct Slowly {
    sources: Sources,
    begun: Arc<AtomicUsize>,
    waits: Arc<AtomicBool>,
    goes_on: Arc<Notify>,
}

impl ManifestGenerator for Slowly {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        revision: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async move {
            self.begun.fetch_add(1, Ordering::SeqCst);
            if self.waits.load(Ordering::SeqCst) {
                self.goes_on.notified().await;
            }
            self.sources.generate(unit, revision, fresh).await
        })
    }
}

impl Slowly {
    /// An engine that builds so.
    fn run(&self, bed: &Bed, names: &Names) -> (Engine, AbortHandle) {
        let settings = ReconciliationSettings::default();
        let engine = Engine::new(settings, names.clone(), self.clone(), bed.units.clone());
        let running = engine.clone();
        let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
        (engine, running.abort_handle())
    }

    /// Waits until it builds once more than so often.
    async fn builds(&self, before: usize) {
        assert!(soon(60, async || self.begun.load(Ordering::SeqCst) > before).await);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_to_a_cluster_that_was_removed_while_the_first_source_was_built() {
    let (bed, names) = named(Bed::paused().await).await;
    let held = names.set("one", ENDPOINT, "ada", bed.test.client());
    bed.units.put(unit(&bed));
    let slowly = Slowly::default();
    slowly.waits.store(true, Ordering::SeqCst);
    slowly.sources.set("shop", "v1", [config_map("a", "1")]);
    let (_engine, running) = slowly.run(&bed, &names);
    slowly.builds(0).await;
    names.remove("one");
    slowly.goes_on.notify_one();
    let written = soon(60, async || bed.key("a").await.is_some()).await;
    assert!(!written);
    assert_eq!(held.strong_count(), 0, "the cluster is still held");
    running.abort();
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_to_a_cluster_that_was_removed_while_a_newer_source_was_built() {
    let (bed, names) = named(Bed::paused().await).await;
    let held = names.set("one", ENDPOINT, "ada", bed.test.client());
    bed.units.put(unit(&bed));
    let slowly = Slowly::default();
    slowly.sources.set("shop", "v1", [config_map("a", "1")]);
    let (engine, running) = slowly.run(&bed, &names);
    clusters::synced(&bed.units, "shop", "v1").await;
    // Whatever is looked at since has ended.
    soon(60, async || false).await;
    slowly.waits.store(true, Ordering::SeqCst);
    slowly.sources.set("shop", "v2", [config_map("a", "2")]);
    let before = slowly.begun.load(Ordering::SeqCst);
    engine.refresh("shop");
    slowly.builds(before).await;
    names.remove("one");
    slowly.goes_on.notify_one();
    let written = soon(60, async || bed.key("a").await.as_deref() == Some("2")).await;
    assert!(!written);
    assert_eq!(held.strong_count(), 0, "the cluster is still held");
    running.abort();
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_go_on_at_once_when_their_cluster_is_back() {
    let (bed, names) = named(Bed::start().await).await;
    let mut unit = unit(&bed);
    unit.policy.retry = Duration::from_secs(3600);
    unit.policy.interval = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sources.set("shop", "v1", [config_map("a", "1")]);
    let (_engine, running) = clusters::run(&names, &bed.sources, &bed.units);
    clusters::synced(&bed.units, "shop", "v1").await;
    names.remove("one");
    let has_errors = || !bed.units.unit("shop").unwrap().status.errors.is_empty();
    assert!(soon(60, async || has_errors()).await);
    names.set("one", ENDPOINT, "ada", bed.test.client());
    assert!(soon(60, async || !has_errors()).await);
    running.abort();
    bed.finish().await;
}

/// A request that waits in its cluster, which goes then.
async fn stranded(bed: &Bed, names: &Names) -> (Engine, AbortHandle) {
    let mut unit = unit(bed);
    unit.policy.automatic = false;
    unit.operation = Some(by("ada"));
    bed.units.put(unit);
    bed.sources.set("shop", "v1", [never_bound()]);
    let (engine, running) = clusters::run(names, &bed.sources, &bed.units);
    assert!(soon(60, async || waits(bed)).await);
    names.remove("one");
    assert!(soon(60, async || !waits(bed)).await);
    (engine, running)
}

fn waits(bed: &Bed) -> bool {
    is_waiting(&bed.units.unit("shop").unwrap().status)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_outlives_a_cluster_that_goes_and_comes_back() {
    let (bed, names) = named(Bed::start().await).await;
    let (engine, running) = stranded(&bed, &names).await;
    names.set("one", ENDPOINT, "ada", bed.test.client());
    engine.refresh("shop");
    assert!(soon(60, async || waits(&bed)).await);
    running.abort();
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_terminated_while_its_cluster_is_gone_does_not_begin_anew() {
    let (bed, names) = named(Bed::paused().await).await;
    let (engine, running) = stranded(&bed, &names).await;
    engine.terminate("shop");
    assert!(soon(60, async || !bed.is_asked("shop")).await);
    names.set("one", ENDPOINT, "ada", bed.test.client());
    engine.refresh("shop");
    assert!(!soon(600, async || waits(&bed)).await, "it has begun again");
    let last = bed.units.unit("shop").unwrap().status.operation.unwrap();
    assert_eq!((last.phase, last.request), (Phase::Terminated, Some(by("ada"))));
    running.abort();
    bed.finish().await;
}

/// A store that takes its time, while other clusters come and go.
struct Busy(kube::Client);

impl CredentialsStore for Busy {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(400)).await;
            Ok(Access {
                endpoint: format!("https://{name}.example"),
                identity: "ada".to_owned(),
                client: self.0.clone(),
            })
        })
    }

    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        let next = async |()| {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Some((ClusterEvent::Changed("another".to_owned()), ()))
        };
        futures::stream::unfold((), next).boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_reached_while_others_come_and_go() {
    let (bed, _) = named(Bed::paused().await).await;
    bed.units.put(unit(&bed));
    bed.sources.set("shop", "v1", [config_map("a", "1")]);
    let engine = Engine::new(
        ReconciliationSettings::default(),
        Busy(bed.client.clone()),
        bed.sources.clone(),
        bed.units.clone(),
    );
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    clusters::synced(&bed.units, "shop", "v1").await;
    running.abort();
    bed.finish().await;
}
