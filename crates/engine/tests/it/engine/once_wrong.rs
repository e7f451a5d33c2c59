//! What went wrong once: requests that were dropped, kinds and clusters that went in the middle of something, hooks and drift after failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::unit::{
    Failure, FileStore, Generated, ManifestGenerator, MemoryStore, OneCluster, Operation, Phase,
    ReconciliationSettings, Status, SyncUnit, SyncUnitStore,
};
use futures::future::BoxFuture;
use model::{Value, value};

use super::{Bed, Sources, argo, config_map, slow, waiting};

fn hook(object: Value, phase: &str, policy: &str) -> Value {
    argo(argo(object, "hook", phase), "hook-delete-policy", policy)
}

fn definition(group: &str) -> Value {
    value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": (format!("widgets.{group}")) },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            }],
        },
    })
}
fn widget(group: &str) -> Value {
    value!({ "apiVersion": (format!("{group}/v1")), "kind": "Widget", "metadata": { "name": "w" } })
}

async fn definition_there(bed: &Bed, group: &str) -> bool {
    let r = bed
        .resource("apiextensions.k8s.io", "CustomResourceDefinition")
        .await;
    let live = bed
        .cluster
        .get(&r, "", &format!("widgets.{group}"))
        .await
        .unwrap();
    live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_none())
}

async fn soon(seconds: u64, mut is: impl AsyncFnMut() -> bool) -> bool {
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
    while tokio::time::Instant::now() < end {
        if is().await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn crd_stays_and_then_goes() {
    let bed = Bed::start().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    bed.sync("def", "v2", [config_map("def", "2")]);
    bed.applied("def", "v2").await;
    assert!(definition_there(&bed, group).await, "CRD was pruned");
    bed.sync("app", "v2", [config_map("app", "2")]);
    bed.applied("app", "v2").await;
    let gone = soon(15, async || !definition_there(&bed, group).await).await;
    assert!(
        gone,
        "nobody needs the definition any more and it stays: {:#?}",
        bed.units.unit("def").unwrap().status.inventory
    );
    bed.finish().await;
}

/// The operation waits between plan and prune; another unit takes up the kind meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn crd_is_not_pruned_if_somebody_uses_it_since() {
    let bed = Bed::with_outcomes().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    bed.units.put(bed.argo("def"));
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync(
        "def",
        "v2",
        [
            hook(slow("before"), "PreSync", "HookSucceeded"),
            config_map("def", "2"),
        ],
    );
    bed.waits("def").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    bed.outcome("before", "done").await;
    let status = bed.applied("def", "v2").await;
    assert!(
        definition_there(&bed, group).await,
        "CRD was pruned: {:#?}",
        status.operation.unwrap().progress
    );
    bed.finish().await;
}

/// The same with a namespace.
#[tokio::test(flavor = "multi_thread")]
async fn namespace_is_not_pruned_if_somebody_uses_it_since() {
    let bed = Bed::with_outcomes().await;
    let name = format!("{}-more", bed.space);
    let namespace =
        value!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": (name.as_str()) } });
    bed.units.put(bed.argo("def"));
    bed.sync("def", "v1", [namespace, config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync(
        "def",
        "v2",
        [
            hook(slow("before"), "PreSync", "HookSucceeded"),
            config_map("def", "2"),
        ],
    );
    bed.waits("def").await;
    let mut inside = config_map("inside", "1");
    inside.set_at(&["metadata", "namespace"], name.as_str());
    bed.sync("app", "v1", [inside, config_map("app", "1")]);
    bed.applied("app", "v1").await;
    bed.outcome("before", "done").await;
    bed.applied("def", "v2").await;
    let namespaces = bed.resource("", "Namespace").await;
    let live = bed.cluster.get(&namespaces, "", &name).await.unwrap();
    assert!(
        live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_none()),
        "namespace pruned"
    );
    bed.finish().await;
}

/// A unit that is synced by hand: its request is under way when there is a newer revision.
#[tokio::test(flavor = "multi_thread")]
async fn request_of_manual_unit_survives_newer_revision() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    unit.policy.options = waiting(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask(
        "shop",
        Operation {
            by: "ada".into(),
            ..Operation::default()
        },
    );
    bed.waits("shop").await;
    bed.sync("shop", "v2", [config_map("a", "2"), config_map("b", "2")]);
    let done = soon(10, async || {
        bed.units.unit("shop").unwrap().status.revision == "v2"
    })
    .await;
    let unit = bed.units.unit("shop").unwrap();
    assert!(
        done,
        "request: {:?}, last: {:#?}",
        unit.operation,
        unit.status.operation.map(|o| (o.phase, o.message))
    );
    bed.finish().await;
}

/// The same when somebody deletes an object meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn request_of_manual_unit_survives_lost_object() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    unit.policy.options = waiting(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask(
        "shop",
        Operation {
            by: "ada".into(),
            ..Operation::default()
        },
    );
    bed.waits("shop").await;
    let cms = bed.resource("", "ConfigMap").await;
    bed.cluster
        .delete(&cms, &bed.space, "b", &engine::cluster::Delete::default())
        .await
        .unwrap();
    let back = soon(10, async || bed.get("", "ConfigMap", "b").await.is_some()).await;
    let unit = bed.units.unit("shop").unwrap();
    assert!(
        back,
        "request: {:?}, last: {:#?}",
        unit.operation,
        unit.status.operation.map(|o| (o.phase, o.message))
    );
    bed.finish().await;
}

/// A hook that fails the second time, and drift of an object behind it.
#[tokio::test(flavor = "multi_thread")]
async fn failing_hook_and_drift_is_no_loop() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    unit.policy.interval = Duration::from_secs(3600);
    bed.units.put(unit);
    let ended: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&ended);
    bed.engine
        .on_sync_completed(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .forever();
    let objects = [
        hook(slow("migrate"), "PreSync", "BeforeHookCreation,HookFailed"),
        config_map("web", "1"),
        argo(slow("y"), "sync-wave", "1"),
        argo(config_map("z", "1"), "sync-wave", "2"),
    ];
    bed.sync("shop", "v1", objects);
    bed.waits("shop").await;
    bed.outcome("migrate", "done").await;
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.outcome("y", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    // From now on the migration fails: it was run already.
    bed.by_hand("", config_map("web", "by hand")).await;
    let mut last = String::new();
    let mut runs = 0;
    soon(8, async || {
        if let Some(live) = bed.get("", "ConfigMap", "migrate").await {
            let uid = live.str_at(&["metadata", "uid"]).to_owned();
            if uid != last && live.str_at(&["data", "outcome"]).is_empty() {
                let mut object = config_map("migrate", "");
                object.set_at(&["data"], value!({ "outcome": "failed" }));
                object.set_at(&["metadata", "namespace"], bed.space.as_str());
                let r = bed.resource("", "ConfigMap").await;
                bed.cluster
                    .apply(&r, &object, &engine::cluster::Apply::by("hand"))
                    .await
                    .unwrap();
                last = uid;
                runs += 1;
            }
        }
        false
    })
    .await;
    let ended = ended.load(Ordering::SeqCst);
    assert!(
        ended <= 4,
        "{ended} operations, {runs} runs of the hook in 8 s although retry is an hour"
    );
    bed.finish().await;
}

/// A dry run of what is refused is told.
#[tokio::test(flavor = "multi_thread")]
async fn dry_run_of_what_is_refused_is_answered() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let wrong = value!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "x" }, "spec": { "ports": [{ "port": 99999 }] } });
    bed.sources.set("shop", "v2", [config_map("a", "1"), wrong]);
    bed.ask(
        "shop",
        Operation {
            dry_run: true,
            by: "ada".into(),
            ..Operation::default()
        },
    );
    let done = soon(6, async || bed.units.unit("shop").unwrap().operation.is_none()).await;
    let unit = bed.units.unit("shop").unwrap();
    assert!(
        done,
        "request: {:?} errors {:?} last: {:#?}",
        unit.operation,
        unit.status.errors,
        unit.status.operation.map(|o| (o.phase, o.message))
    );
    bed.finish().await;
}

/// A generator that takes its time.
#[derive(Clone)]
struct Slowly(Sources, Arc<AtomicUsize>);
impl ManifestGenerator for Slowly {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        r: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async move {
            self.1.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(3)).await;
            self.0.generate(unit, r, fresh).await
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_to_a_cluster_that_was_removed_while_the_source_was_built() {
    let bed = Bed::start().await;
    let names = super::clusters::Names::new();
    let held = names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.options = waiting(3600);
    units.put(unit);
    sources.set(
        "shop",
        "v1",
        [super::clusters::never_bound(), config_map("a", "1")],
    );
    let begun: Arc<AtomicUsize> = Arc::default();
    let engine = Engine::new(
        ReconciliationSettings::default(),
        names.clone(),
        Slowly(sources, begun.clone()),
        units.clone(),
    );
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    assert!(soon(20, async || begun.load(Ordering::SeqCst) > 0).await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    names.remove("one");
    let written = soon(6, async || bed.get("", "ConfigMap", "a").await.is_some()).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        !written && held.strong_count() == 0,
        "written {written}, cluster still held by {}",
        held.strong_count()
    );
    running.abort();
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn units_go_on_when_their_cluster_is_back() {
    let bed = Bed::start().await;
    let names = super::clusters::Names::new();
    names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.retry = Duration::from_secs(3600);
    unit.policy.interval = Duration::from_secs(3600);
    units.put(unit);
    sources.set("shop", "v1", [config_map("a", "1")]);
    let (_engine, running) = super::clusters::run(&names, &sources, &units);
    super::clusters::synced(&units, "shop", "v1").await;
    names.remove("one");
    assert!(soon(10, async || !units.unit("shop").unwrap().status.errors.is_empty()).await);
    names.set("one", "https://one.example", "ada", bed.test.client());
    let back = soon(10, async || units.unit("shop").unwrap().status.errors.is_empty()).await;
    assert!(back, "{:?}", units.unit("shop").unwrap().status.errors);
    running.abort();
    bed.finish().await;
}

#[tokio::test]
async fn file_store_put_keeps_what_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path(), [SyncUnit::new("shop")]).unwrap();
    let status = Status {
        revision: "v1".to_owned(),
        ..Status::default()
    };
    store.set_status("shop", status.clone()).await.unwrap();
    // The program changes the unit (another path), as the docs say.
    store.put(SyncUnit::new("shop")).unwrap();
    assert_eq!(store.get("shop").await.unwrap().unwrap().status, status);
}

/// A source that describes something else each time.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicUsize>);
impl ManifestGenerator for Clock {
    fn generate<'a>(
        &'a self,
        _: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            let number = self.0.fetch_add(1, Ordering::SeqCst).to_string();
            Ok(Generated {
                manifests: vec![
                    model::Manifest::new(config_map("web", &number), None)?,
                    model::Manifest::new(hook(slow("bye"), "PreDelete", "BeforeHookCreation"), None)?,
                ],
                revision: "v1".to_owned(),
            })
        })
    }
}

/// A unit with such a source is deleted: its hook takes two minutes, and it is looked at every minute.
#[tokio::test(start_paused = true)]
async fn deletion_of_restless_unit_ends() {
    let bed = Bed::with(
        testkit::Cluster::embedded(apiserver::Server::builder()),
        super::outcomes(),
    )
    .await;
    bed.running.abort();
    let mut unit = bed.argo("shop");
    unit.policy.interval = Duration::from_secs(60);
    bed.units.put(unit);
    let engine = Engine::new(
        super::outcomes(),
        OneCluster::new(bed.test.client()),
        Clock::default(),
        bed.units.clone(),
    );
    let ended: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&ended);
    engine
        .on_sync_completed(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .forever();
    let running = engine.clone();
    tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    bed.seen("ConfigMap", "web", |live| live.is_some()).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mut unit = bed.units.unit("shop").unwrap();
    unit.operation = Some(Operation {
        delete: true,
        ..Operation::default()
    });
    bed.units.put(unit);
    engine.refresh("shop");
    let before = ended.load(Ordering::SeqCst);
    // Each hook is done after two minutes.
    let (mut last, mut since, mut runs) = (String::new(), tokio::time::Instant::now(), 0);
    let gone = soon(3600, async || {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if let Some(live) = bed.get("", "ConfigMap", "bye").await {
            let uid = live.str_at(&["metadata", "uid"]).to_owned();
            if uid != last {
                last = uid;
                since = tokio::time::Instant::now();
                runs += 1;
            } else if since.elapsed() > Duration::from_secs(120)
                && live.str_at(&["data", "outcome"]).is_empty()
            {
                bed.outcome("bye", "done").await;
            }
        }
        bed.get("", "ConfigMap", "web").await.is_none()
    })
    .await;
    let ops = ended.load(Ordering::SeqCst) - before;
    assert!(
        gone,
        "after an hour it is not deleted: {ops} operations, the hook was begun {runs} times"
    );
    bed.finish().await;
}

/// A request on a unit with such a source, not automatic.
#[tokio::test(start_paused = true)]
async fn request_of_restless_unit_is_carried_out() {
    let bed = Bed::with(
        testkit::Cluster::embedded(apiserver::Server::builder()),
        super::outcomes(),
    )
    .await;
    bed.running.abort();
    let mut unit = bed.unit("shop");
    unit.policy.interval = Duration::from_secs(60);
    unit.policy.automatic = false;
    unit.policy.options = waiting(600);
    unit.operation = Some(Operation {
        by: "ada".into(),
        ..Operation::default()
    });
    bed.units.put(unit);
    struct G(AtomicUsize);
    impl ManifestGenerator for G {
        fn generate<'a>(
            &'a self,
            _: &'a SyncUnit,
            _: Option<&'a str>,
            _: bool,
        ) -> BoxFuture<'a, Result<Generated, Failure>> {
            Box::pin(async {
                let mut object = slow("web");
                object.set_at(
                    &["data", "key"],
                    self.0.fetch_add(1, Ordering::SeqCst).to_string().as_str(),
                );
                Ok(Generated {
                    manifests: vec![model::Manifest::new(object, None)?],
                    revision: "v1".to_owned(),
                })
            })
        }
    }
    let engine = Engine::new(
        super::outcomes(),
        OneCluster::new(bed.test.client()),
        G(AtomicUsize::new(0)),
        bed.units.clone(),
    );
    let running = engine.clone();
    tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    bed.seen("ConfigMap", "web", |live| live.is_some()).await;
    tokio::time::sleep(Duration::from_secs(90)).await;
    bed.outcome("web", "done").await;
    tokio::time::sleep(Duration::from_secs(90)).await;
    let unit = bed.units.unit("shop").unwrap();
    let last = unit
        .status
        .operation
        .as_ref()
        .map(|o| (o.phase, o.message.clone()));
    assert!(
        unit.status.revision == "v1",
        "request {:?}, last {last:?}",
        unit.operation
    );
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_new_is_written_to_a_cluster_that_was_removed_while_the_source_was_built() {
    let bed = Bed::start().await;
    let names = super::clusters::Names::new();
    let held = names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.options = waiting(3600);
    units.put(unit);
    sources.set("shop", "v1", [config_map("a", "1")]);
    let begun: Arc<AtomicUsize> = Arc::default();
    let engine = Engine::new(
        ReconciliationSettings::default(),
        names.clone(),
        Slowly(sources.clone(), begun.clone()),
        units.clone(),
    );
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    super::clusters::synced(&units, "shop", "v1").await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    sources.set("shop", "v2", [config_map("a", "2")]);
    let before = begun.load(Ordering::SeqCst);
    engine.refresh("shop");
    assert!(soon(20, async || begun.load(Ordering::SeqCst) > before).await);
    tokio::time::sleep(Duration::from_millis(500)).await;
    names.remove("one");
    let written = soon(6, async || {
        bed.get("", "ConfigMap", "a")
            .await
            .unwrap()
            .str_at(&["data", "key"])
            == "2"
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let unit = units.unit("shop").unwrap();
    let text = format!(
        "written {written}, held by {}, errors {:?}, last {:?}",
        held.strong_count(),
        unit.status.errors,
        unit.status.operation.map(|o| (o.phase, o.message))
    );
    assert!(!written && held.strong_count() == 0, "{text}");
    running.abort();
    bed.finish().await;
}

/// A request that was refused is carried out much later, for something else.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_not_carried_out_later() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    let wrong = value!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "x" }, "spec": { "ports": [{ "port": 99999 }] } });
    bed.sync("shop", "v1", [config_map("a", "1"), wrong]);
    bed.ask(
        "shop",
        Operation {
            by: "ada".into(),
            ..Operation::default()
        },
    );
    bed.until("shop", |status| !status.errors.is_empty()).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    bed.sync("shop", "v2", [config_map("unexpected", "1")]);
    let later = soon(8, async || bed.get("", "ConfigMap", "unexpected").await.is_some()).await;
    assert!(!later, "v2 was applied though nobody asked for it");
    bed.finish().await;
}

/// The process ends between the status and the request.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_answered_once_also_over_a_crash() {
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    let objects = [
        hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation"),
        config_map("web", "1"),
    ];
    bed.sync("shop", "v1", objects);
    bed.applied("shop", "v1").await;
    let asked = Operation {
        by: "ada".into(),
        number: "1".into(),
        ..Operation::default()
    };
    bed.ask("shop", asked.clone());
    assert!(soon(10, async || bed.units.unit("shop").unwrap().operation.is_none()).await);
    bed.running.abort();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let uid = bed.uid("migrate").await;
    let mut unit = bed.units.unit("shop").unwrap();
    assert_eq!(
        unit.status.operation.as_ref().unwrap().request.as_ref(),
        Some(&asked)
    );
    unit.operation = Some(asked); // as it was before it was taken away
    bed.units.put(unit);
    bed.restart();
    soon(6, async || bed.units.unit("shop").unwrap().operation.is_none()).await;
    assert_eq!(bed.uid("migrate").await, uid, "the hook was run again");
    bed.finish().await;
}

/// Drift of a unit that has failed: hooks are not run for that.
#[tokio::test(flavor = "multi_thread")]
async fn drift_after_a_failure_runs_no_hooks() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let objects = [
        hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation"),
        config_map("web", "1"),
        argo(slow("y"), "sync-wave", "1"),
        argo(config_map("z", "1"), "sync-wave", "2"),
    ];
    bed.sync("shop", "v1", objects);
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.outcome("y", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let uid = bed.uid("migrate").await;
    bed.by_hand("", config_map("web", "by hand")).await;
    bed.seen("ConfigMap", "web", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    assert_eq!(
        bed.uid("migrate").await,
        uid,
        "the migration was run again for drift"
    );
    bed.finish().await;
}

/// The same loop without a policy that deletes the hook: somebody else changes another object now and then.
#[tokio::test(flavor = "multi_thread")]
async fn failing_hook_before_hook_creation() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    unit.policy.interval = Duration::from_secs(3600);
    bed.units.put(unit);
    let ended: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&ended);
    bed.engine
        .on_sync_completed(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .forever();
    let objects = [
        hook(slow("migrate"), "PreSync", "BeforeHookCreation"),
        config_map("web", "1"),
        argo(slow("y"), "sync-wave", "1"),
        argo(config_map("z", "1"), "sync-wave", "2"),
    ];
    bed.sync("shop", "v1", objects);
    bed.waits("shop").await;
    bed.outcome("migrate", "done").await;
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.outcome("y", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    bed.by_hand("", config_map("web", "by hand")).await;
    let (mut last, mut runs) = (String::new(), 0);
    soon(8, async || {
        if let Some(live) = bed.get("", "ConfigMap", "migrate").await {
            let uid = live.str_at(&["metadata", "uid"]).to_owned();
            if uid != last && live.str_at(&["data", "outcome"]).is_empty() {
                bed.outcome("migrate", "failed").await;
                last = uid;
                runs += 1;
            }
        }
        false
    })
    .await;
    let ended = ended.load(Ordering::SeqCst);
    assert!(
        ended <= 4,
        "{ended} operations, {runs} runs of the hook in 8 s although retry is an hour"
    );
    bed.finish().await;
}

/// Hooks of two units with the same name.
#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_two_units_with_one_name_are_two() {
    let bed = Bed::with_outcomes().await;
    let of = |who: &str| {
        let mut object = slow("migrate");
        object.set_at(&["data", "key"], who);
        hook(object, "PreSync", "BeforeHookCreation")
    };
    bed.units.put(bed.argo("one"));
    bed.units.put(bed.argo("two"));
    bed.sync("one", "v1", [of("one"), config_map("web-one", "1")]);
    bed.waits("one").await;
    bed.sync("two", "v1", [of("two"), config_map("web-two", "1")]);
    bed.waits("two").await;
    bed.outcome("migrate", "done").await;
    bed.applied("two", "v1").await;
    let went_on = soon(5, async || bed.get("", "ConfigMap", "web-one").await.is_some()).await;
    let one = bed.units.unit("one").unwrap().status;
    assert!(
        !went_on,
        "the hook of one was deleted while it ran, and one went on: {:?}",
        one.operation.map(|o| (o.phase, o.message))
    );
    bed.finish().await;
}

/// A request whose cluster goes and comes back, unit by hand.
#[tokio::test(flavor = "multi_thread")]
async fn request_survives_a_cluster_that_goes_and_comes_back() {
    let bed = Bed::start().await;
    let names = super::clusters::Names::new();
    names.set("one", "https://one.example", "ada", bed.test.client());
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    unit.policy.options = waiting(3600);
    unit.policy.automatic = false;
    unit.operation = Some(Operation {
        by: "ada".into(),
        ..Operation::default()
    });
    units.put(unit);
    sources.set("shop", "v1", [super::clusters::never_bound()]);
    let (engine, running) = super::clusters::run(&names, &sources, &units);
    let waits = || {
        units
            .unit("shop")
            .unwrap()
            .status
            .operation
            .is_some_and(|o| o.phase == Phase::Running && o.message.starts_with("waiting"))
    };
    assert!(soon(20, async || waits()).await);
    names.remove("one");
    assert!(soon(20, async || !waits()).await);
    names.set("one", "https://one.example", "ada", bed.test.client());
    engine.refresh("shop");
    let again = soon(8, async || waits()).await;
    let unit = units.unit("shop").unwrap();
    assert!(
        again,
        "request {:?} last {:?}",
        unit.operation,
        unit.status.operation.map(|o| (o.phase, o.message))
    );
    running.abort();
    bed.finish().await;
}

/// Somebody terminates a bad rollout; a change by hand begins it again at once.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_terminated_is_not_begun_again_by_drift() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync(
        "shop",
        "v1",
        [
            config_map("web", "1"),
            argo(slow("y"), "sync-wave", "1"),
            argo(config_map("z", "1"), "sync-wave", "2"),
        ],
    );
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.waits("shop").await;
    bed.engine.terminate("shop");
    bed.phase("shop", Phase::Terminated).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    bed.by_hand("", config_map("web", "by hand")).await;
    let again = soon(6, async || {
        bed.units
            .unit("shop")
            .unwrap()
            .status
            .operation
            .is_some_and(|o| o.phase == Phase::Running)
    })
    .await;
    assert!(!again, "the whole operation has begun again");
    bed.finish().await;
}

/// What has failed and is held costs no requests when it is looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_held_unit_with_a_hook_that_is_gone_costs_nothing() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    unit.policy.interval = Duration::from_secs(1);
    bed.units.put(unit);
    bed.sync(
        "shop",
        "v1",
        [
            hook(config_map("migrate", "1"), "PreSync", "HookFailed"),
            config_map("web", "1"),
            argo(slow("y"), "sync-wave", "1"),
            argo(config_map("z", "1"), "sync-wave", "2"),
        ],
    );
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.outcome("y", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (before, looks) = (bed.engine.requests("").unwrap(), bed.engine.looks());
    tokio::time::sleep(Duration::from_secs(10)).await;
    let (after, now) = (bed.engine.requests("").unwrap(), bed.engine.looks());
    assert_eq!(after, before, "{} looks", now - looks);
    bed.finish().await;
}

/// The definition cannot be changed as it is to be, with force.
#[tokio::test(flavor = "multi_thread")]
async fn force_does_not_delete_a_definition_with_objects_of_others() {
    let bed = Bed::start().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    let mut unit = bed.unit("def");
    unit.policy.options.force = true;
    bed.units.put(unit);
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    let r = bed
        .resource("apiextensions.k8s.io", "CustomResourceDefinition")
        .await;
    let uid = async || {
        bed.cluster
            .get(&r, "", &format!("widgets.{group}"))
            .await
            .unwrap()
            .map(|live| live.str_at(&["metadata", "uid"]).to_owned())
    };
    let before = uid().await;
    let mut other = definition(group);
    other.set_at(&["spec", "scope"], "Cluster");
    bed.sync("def", "v2", [other, config_map("def", "2")]);
    soon(10, async || {
        let s = bed.units.unit("def").unwrap().status;
        s.revision == "v2" || !s.errors.is_empty()
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(
        uid().await,
        before,
        "the definition was deleted and made anew, with all objects of its kind"
    );
    bed.finish().await;
}
