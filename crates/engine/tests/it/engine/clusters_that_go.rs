//! Clusters that go and come back in the middle of something: nothing is written to one that is gone, and what was asked for is not forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::unit::{
    Access, ClusterEvent, CredentialsStore, Failure, Generated, ManifestGenerator, MemoryStore, Phase,
    ReconciliationSettings, SyncUnit,
};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::clusters::{self, Names, never_bound};
use super::gate::Gate;
use super::{Bed, Running, Sources, by, config_map, is_waiting, soon, waiting};

const ENDPOINT: &str = "https://one.example";

/// A bed whose own engine does not run, with a name for its cluster.
async fn named(bed: Bed) -> (Bed, Names) {
    bed.running.end().await;
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
    fn run(&self, bed: &Bed, names: &Names) -> (Engine, Running) {
        let settings = ReconciliationSettings::default();
        let engine = Engine::new(settings, names.clone(), self.clone(), bed.units.clone());
        let running = Running::start(&engine, 2);
        (engine, running)
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
    running.end().await;
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
    running.end().await;
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
    running.end().await;
    bed.finish().await;
}

/// A request that waits in its cluster, which goes then.
async fn stranded(bed: &Bed, names: &Names) -> (Engine, Running) {
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
    running.end().await;
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
    running.end().await;
    bed.finish().await;
}

/// The process that has begun it is gone as well.
#[tokio::test(start_paused = true)]
async fn what_a_process_before_has_left_in_a_cluster_that_is_gone_does_not_begin_anew_when_it_is_terminated()
{
    let (bed, names) = named(Bed::paused().await).await;
    let mut unit = unit(&bed);
    unit.policy.automatic = false;
    unit.operation = Some(by("ada"));
    bed.units.put(unit);
    bed.sources.set("shop", "v1", [never_bound()]);
    let (_, running) = clusters::run(&names, &bed.sources, &bed.units);
    assert!(soon(60, async || waits(&bed)).await);
    running.end().await;
    names.remove("one");
    let (engine, running) = clusters::run(&names, &bed.sources, &bed.units);
    let has_errors = || !bed.units.unit("shop").unwrap().status.errors.is_empty();
    assert!(soon(60, async || has_errors()).await);
    engine.terminate("shop");
    assert!(
        soon(60, async || !bed.is_asked("shop")).await,
        "it is not answered"
    );
    names.set("one", ENDPOINT, "ada", bed.test.client());
    engine.refresh("shop");
    assert!(!soon(600, async || waits(&bed)).await, "it has begun again");
    let last = bed.units.unit("shop").unwrap().status.operation.unwrap();
    assert_eq!(last.phase, Phase::Terminated);
    running.end().await;
    bed.finish().await;
}

fn twenty(name: &str, key: &str) -> Vec<model::Value> {
    let objects = (0..20).map(|number| config_map(&format!("{name}-{number}"), key));
    objects.collect()
}

/// Two workers look after both.
#[tokio::test(start_paused = true)]
async fn a_cluster_that_does_not_answer_keeps_nobody_from_others() {
    let (bed, names) = named(Bed::paused().await).await;
    let gate = Gate::new();
    names.set(
        "two",
        "https://two.example",
        "ada",
        gate.client(bed.test.client()),
    );
    for number in 0..6 {
        let (id, cluster) = match number {
            0 => ("shop".to_owned(), "one"),
            _ => (format!("silent-{number}"), "two"),
        };
        let mut unit = bed.unit(&id);
        unit.destination.cluster = cluster.to_owned();
        bed.units.put(unit);
        bed.sources.set(&id, "v1", twenty(&id, "1"));
    }
    let (engine, running) = clusters::run(&names, &bed.sources, &bed.units);
    for number in 1..6 {
        clusters::synced(&bed.units, &format!("silent-{number}"), "v1").await;
    }
    clusters::synced(&bed.units, "shop", "v1").await;
    gate.fall_silent();
    // First the watches have to see it, then the units.
    for _ in 0..2 {
        soon(120, async || false).await;
        (1..6).for_each(|number| engine.refresh(&format!("silent-{number}")));
    }
    let has_errors = |number| {
        let unit = bed.units.unit(&format!("silent-{number}"));
        !unit.unwrap().status.errors.is_empty()
    };
    assert!(soon(120, async || (1..6).all(has_errors)).await);
    for revision in ["v2", "v3", "v4", "v5"] {
        bed.sources.set("shop", revision, twenty("shop", revision));
        engine.refresh("shop");
        let since = Instant::now();
        clusters::synced(&bed.units, "shop", revision).await;
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    }
    running.end().await;
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
                vouched_by: String::new(),
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
    let running = Running::start(&engine, 2);
    clusters::synced(&bed.units, "shop", "v1").await;
    running.end().await;
    bed.finish().await;
}

/// A token that is rotated is that of the same identity, and the old one is refused soon.
#[tokio::test(flavor = "multi_thread")]
async fn new_credentials_of_the_same_identity_are_used_although_others_still_hold_the_old_ones() {
    let (bed, names) = named(Bed::start().await).await;
    let (sources, units) = (Sources::default(), MemoryStore::default());
    for name in ["one", "two"] {
        names.set(name, ENDPOINT, "ada", bed.test.client());
        let mut unit = bed.unit(name);
        unit.destination.cluster = name.to_owned();
        units.put(unit);
        sources.set(name, "v1", [config_map(name, "1")]);
    }
    let (engine, running) = clusters::run(&names, &sources, &units);
    for name in ["one", "two"] {
        clusters::synced(&units, name, "v1").await;
    }
    let gate = Gate::new();
    names.set("one", ENDPOINT, "ada", gate.client(bed.test.client()));
    sources.set("one", "v2", [config_map("one", "2")]);
    engine.refresh("one");
    clusters::synced(&units, "one", "v2").await;
    assert!(!gate.seen().is_empty(), "they are not used");
    running.end().await;
    bed.finish().await;
}
