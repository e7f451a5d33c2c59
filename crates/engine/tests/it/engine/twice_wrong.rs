//! What went wrong once more when the first was mended: loops, hooks of others, what callbacks forbid, requests between two operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use engine::Engine;
use engine::unit::{
    Access, ClusterEvent, CredentialsStore, Failure, MemoryStore, OneCluster, Operation, Phase,
    ReconciliationSettings, Status, SyncUnit, SyncUnitStore,
};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
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

fn completions(bed: &Bed) -> Arc<AtomicUsize> {
    let ended: Arc<AtomicUsize> = Arc::default();
    let count = Arc::clone(&ended);
    bed.engine
        .on_sync_completed(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .forever();
    ended
}

/// A definition is given up, another unit has only a hook of its kind.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_of_which_another_has_a_hook_is_no_loop() {
    let bed = Bed::start().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.units.put(bed.argo("app"));
    bed.sync(
        "app",
        "v1",
        [
            hook(widget(group), "PreSync", "BeforeHookCreation"),
            config_map("app", "1"),
        ],
    );
    bed.applied("app", "v1").await;
    let ended = completions(&bed);
    bed.sync("def", "v2", [config_map("def", "2")]);
    bed.applied("def", "v2").await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let ended = ended.load(Ordering::SeqCst);
    assert!(ended <= 3, "{ended} operations in 4 s");
    bed.finish().await;
}

/// Drift after a failure that is a deletion.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_deleted_after_a_failure_comes_back() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let objects = [
        config_map("web", "1"),
        argo(slow("y"), "sync-wave", "1"),
        argo(config_map("z", "1"), "sync-wave", "2"),
    ];
    bed.sync("shop", "v1", objects);
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.outcome("y", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let cms = bed.resource("", "ConfigMap").await;
    let options = engine::cluster::Delete::default();
    bed.cluster
        .delete(&cms, &bed.space, "web", &options)
        .await
        .unwrap();
    let back = soon(10, async || bed.get("", "ConfigMap", "web").await.is_some()).await;
    assert!(back, "it stays deleted until the retry, in an hour");
    bed.finish().await;
}

/// The hook of one is replaced by that of two, which runs.
#[tokio::test(flavor = "multi_thread")]
async fn who_lost_its_hook_does_not_delete_the_one_that_runs() {
    let bed = Bed::with_outcomes().await;
    let of = |who: &str| {
        let mut object = slow("migrate");
        object.set_at(&["data", "key"], who);
        hook(object, "PreSync", "BeforeHookCreation,HookFailed")
    };
    let mut one = bed.argo("one");
    one.policy.retry = Duration::from_secs(3600);
    bed.units.put(one);
    bed.units.put(bed.argo("two"));
    bed.sync("one", "v1", [of("one"), config_map("web-one", "1")]);
    bed.waits("one").await;
    bed.sync("two", "v1", [of("two"), config_map("web-two", "1")]);
    bed.phase("one", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let live = bed.get("", "ConfigMap", "migrate").await;
    let two = bed
        .units
        .unit("two")
        .unwrap()
        .status
        .operation
        .map(|o| (o.phase, o.message));
    assert!(
        live.is_some(),
        "the running hook of two was deleted; two: {two:?}"
    );
    bed.finish().await;
}

/// A callback takes an object out of all plans; the operation fails for another reason.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_callback_has_taken_out_is_not_mended() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("frozen", "1"), config_map("web", "1")]);
    bed.applied("shop", "v1").await;
    let _callback = bed.engine.on_before_sync(|_, mut plan| {
        for stage in &mut plan.stages {
            stage.steps.retain(|step| step.key.name != "frozen");
        }
        Ok(plan)
    });
    bed.sync(
        "shop",
        "v2",
        [
            config_map("frozen", "1"),
            config_map("web", "2"),
            argo(slow("y"), "sync-wave", "1"),
            argo(config_map("z", "1"), "sync-wave", "2"),
        ],
    );
    bed.seen("ConfigMap", "y", |live| live.is_some()).await;
    bed.outcome("y", "failed").await;
    bed.phase("shop", Phase::Failed).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    bed.by_hand("", config_map("frozen", "by hand")).await;
    let written = soon(6, async || {
        bed.get("", "ConfigMap", "frozen")
            .await
            .unwrap()
            .str_at(&["data", "key"])
            == "1"
    })
    .await;
    assert!(
        !written,
        "written although the callback lets nothing be done to it"
    );
    bed.finish().await;
}

#[derive(Clone)]
struct Failing(MemoryStore, Arc<AtomicBool>);

impl SyncUnitStore for Failing {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        self.0.list()
    }
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        self.0.get(id)
    }
    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        if self.1.load(Ordering::SeqCst) {
            return Box::pin(async { Err(Failure::new("the store is full")) });
        }
        self.0.set_status(id, status)
    }
    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        self.0.set_operation(id, from, to)
    }
}

/// A refusal that cannot be stored.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_that_cannot_be_stored_is_no_loop() {
    let bed = Bed::start().await;
    let (sources, units, fails) = (
        Sources::default(),
        MemoryStore::default(),
        Arc::new(AtomicBool::new(true)),
    );
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    unit.policy.retry = Duration::from_secs(60);
    unit.operation = Some(Operation {
        by: "ada".into(),
        ..Operation::default()
    });
    units.put(unit);
    let wrong = value!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "x" }, "spec": { "ports": [{ "port": 99999 }] } });
    sources.set("shop", "v1", [wrong]);
    let engine = Engine::new(
        ReconciliationSettings::default(),
        OneCluster::new(bed.client.clone()),
        sources.clone(),
        Failing(units.clone(), fails.clone()),
    );
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    let looks = engine.looks();
    running.abort();
    assert!(looks <= 10, "{looks} looks in 5 s, retry is a minute");
    bed.finish().await;
}

/// Takes its time, while other clusters come and go.
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

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_reached_while_others_come_and_go() {
    let bed = Bed::start().await;
    let (sources, units) = (Sources::default(), MemoryStore::default());
    let mut unit = bed.unit("shop");
    unit.destination.cluster = "one".to_owned();
    units.put(unit);
    sources.set("shop", "v1", [config_map("a", "1")]);
    let engine = Engine::new(
        ReconciliationSettings::default(),
        Busy(bed.client.clone()),
        sources.clone(),
        units.clone(),
    );
    let running = engine.clone();
    let running = tokio::spawn(async move { running.run(2, 2, std::future::pending()).await });
    let done = soon(10, async || units.unit("shop").unwrap().status.revision == "v1").await;
    let status = units.unit("shop").unwrap().status;
    let looks = engine.looks();
    running.abort();
    assert!(done, "{looks} looks, errors {:?}", status.errors);
    bed.finish().await;
}

/// Somebody ends what waits for its cluster to come back.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_terminated_while_its_cluster_was_gone_does_not_begin_anew() {
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
        let last = units.unit("shop").unwrap().status.operation;
        last.is_some_and(|o| o.phase == Phase::Running && o.message.starts_with("waiting"))
    };
    assert!(soon(20, async || waits()).await);
    names.remove("one");
    assert!(soon(20, async || !waits()).await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    engine.terminate("shop");
    tokio::time::sleep(Duration::from_secs(2)).await;
    names.set("one", "https://one.example", "ada", bed.test.client());
    engine.refresh("shop");
    let again = soon(6, async || waits()).await;
    running.abort();
    assert!(
        !again,
        "it has begun again: {:?}",
        units.unit("shop").unwrap().operation
    );
    bed.finish().await;
}

/// A dry run is asked for while a request is under way, and then there is a newer revision.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_survives_a_dry_run_and_a_newer_revision() {
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
    bed.ask(
        "shop",
        Operation {
            by: "bob".into(),
            dry_run: true,
            ..Operation::default()
        },
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    bed.sync("shop", "v2", [config_map("a", "2"), config_map("b", "2")]);
    let done = soon(8, async || {
        bed.units.unit("shop").unwrap().status.revision == "v2"
    })
    .await;
    let unit = bed.units.unit("shop").unwrap();
    let last = unit.status.operation.map(|o| (o.phase, o.message));
    assert!(done, "request {:?}, last {last:?}", unit.operation);
    bed.finish().await;
}

/// Somebody asks for the same thing twice, without a number.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_again_does_not_wait_either() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let is_right = async || {
        let live = bed.get("", "ConfigMap", "a").await.unwrap();
        live.str_at(&["data", "key"]) == "1"
    };
    for _ in 0..3 {
        bed.by_hand("", config_map("a", "by hand")).await;
        assert!(soon(30, async || is_right().await).await);
    }
    let asked = Operation {
        by: "ada".into(),
        ..Operation::default()
    };
    for time in ["first", "second"] {
        bed.by_hand("", config_map("a", "by hand")).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        bed.ask("shop", asked.clone());
        assert!(
            soon(5, async || is_right().await).await,
            "the {time} request waits"
        );
        assert!(soon(5, async || bed.units.unit("shop").unwrap().operation.is_none()).await);
    }
    bed.finish().await;
}
