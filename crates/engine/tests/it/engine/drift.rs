//! What others do to our objects is put right.

use std::time::{Duration, Instant};

use engine::unit::{Phase, ReconciliationSettings};
use model::value;
use tokio::sync::mpsc;

use super::gate::Gate;
use super::{Bed, by, config_map, slow, soon, waiting};

/// How often the engine has written the config map.
fn writes(gate: &Gate) -> usize {
    let requests = gate.seen();
    let writes = requests.iter().filter(|request| {
        request.starts_with("PATCH") && request.contains("/configmaps/a") && !request.contains("dryRun")
    });
    writes.count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_by_hand_is_put_right() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.by_hand("", config_map("a", "changed")).await;
    let start = Instant::now();
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    // The benchmark has the figure; here it only matters that nobody waited for the interval of ten minutes.
    assert!(start.elapsed() < Duration::from_secs(60));
    bed.finish().await;
}

/// A wait may take an hour: what was applied before it is put right meanwhile, and the wait goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_by_hand_is_put_right_while_an_operation_waits() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    let before = bed.waits("shop").await.operation.unwrap();
    // What is waited for, and what is not.
    for name in ["a", "b"] {
        bed.by_hand("", config_map(name, "changed")).await;
        bed.seen("ConfigMap", name, |live| {
            live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
        })
        .await;
    }
    let during = bed.units.unit("shop").unwrap().status.operation.unwrap();
    assert_eq!(
        (during.phase, during.started, during.progress.work),
        (Phase::Running, before.started, before.progress.work)
    );
    bed.outcome("a", "done").await;
    let after = bed.applied("shop", "v1").await;
    assert_eq!(after.operation.unwrap().started, before.started);
    bed.finish().await;
}

/// The contract's 1.6: pauses of 2 s, 6 s, 18 s and so on to 300 s.
#[tokio::test(start_paused = true)]
async fn whoever_changes_an_object_back_each_time_is_fought_with_growing_pauses() {
    let gate = Gate::new();
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let client = gate.client(test.client());
    let bed = Bed::reached(test, client, ReconciliationSettings::default()).await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let before = writes(&gate);
    let (tell, mut told) = mpsc::unbounded_channel();
    let _updated = bed.engine.on_resource_updated(move |_, entry| {
        // Nobody listens when the test has ended.
        let _ = tell.send(entry.name().to_owned());
    });
    let fight = async {
        bed.by_hand("", config_map("a", "theirs")).await;
        while told.recv().await.is_some() {
            let live = bed.get("", "ConfigMap", "a").await;
            if live.is_some_and(|live| live.str_at(&["data", "key"]) == "1") {
                bed.by_hand("", config_map("a", "theirs")).await;
            }
        }
    };
    // Corrections after 0, 2, 8, 26, 80, 242 and 542 seconds.
    let _ = tokio::time::timeout(Duration::from_secs(600), fight).await;
    let patches = writes(&gate) - before;
    assert!((6..=8).contains(&patches), "{patches} in ten minutes");
    let warned =
        |status: &engine::unit::Status| status.warnings.iter().any(|text| text.contains("put right"));
    bed.until("shop", warned).await;
    // Something new waits for nobody.
    bed.sync("shop", "v2", [config_map("a", "2")]);
    let start = tokio::time::Instant::now();
    bed.applied("shop", "v2").await;
    assert!(start.elapsed() < Duration::from_secs(60));
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_somebody_deleted_comes_back() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let config_maps = bed.resource("", "ConfigMap").await;
    let options = engine::cluster::Delete::default();
    bed.cluster
        .delete(&config_maps, &bed.space, "a", &options)
        .await
        .unwrap();
    bed.seen("ConfigMap", "a", |live| live.is_some()).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_asked_about_is_left_alone() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let other = value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "a" }, "data": { "other": "theirs" },
    });
    bed.by_hand("", other).await;
    bed.sync("shop", "v2", [config_map("a", "2")]);
    bed.applied("shop", "v2").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    let data = (live.str_at(&["data", "key"]), live.str_at(&["data", "other"]));
    assert_eq!(data, ("2", "theirs"));
    bed.finish().await;
}

/// argo-cd#26530: what was kept for a revision hides what it really is.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_built_otherwise_under_the_same_revision_is_applied() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v1", [config_map("a", "2")]);
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "2")
    })
    .await;
    bed.finish().await;
}

/// The operation begins anew each time, which would never end.
#[tokio::test(start_paused = true)]
async fn whoever_deletes_an_object_each_time_while_it_is_waited_for_is_fought_with_growing_pauses() {
    let gate = Gate::new();
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let client = gate.client(test.client());
    let bed = Bed::reached(test, client, super::outcomes()).await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(3600);
    bed.units.put(unit);
    let config_maps = bed.resource("", "ConfigMap").await;
    let (tell, mut told) = mpsc::unbounded_channel();
    let _updated = bed.engine.on_resource_updated(move |_, entry| {
        // There are others in the namespace, which are the server's. Nobody listens when the test has ended.
        if entry.name() == "a" {
            let _ = tell.send(());
        }
    });
    bed.sync("shop", "v1", [slow("a")]);
    let fight = async {
        while told.recv().await.is_some() {
            let options = engine::cluster::Delete::default();
            let deleted = bed.cluster.delete(&config_maps, &bed.space, "a", &options);
            // It is gone already where two changes are told of one object.
            let _ = deleted.await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(600), fight).await;
    // It is made, then made anew after 0, 2, 8, 26, 80, 242 and 542 seconds.
    let made = writes(&gate);
    assert!((7..=9).contains(&made), "{made} in ten minutes");
    bed.finish().await;
}

/// However long a failure is waited for: the interval says how often the source is looked at.
#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_looked_at_again_after_its_interval_although_something_has_failed() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.interval = Duration::from_millis(50);
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    // It has no source yet.
    bed.engine.refresh("shop");
    bed.until("shop", |status| !status.errors.is_empty()).await;
    let refused = value!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "refused" },
        "spec": { "type": "NoSuchType", "ports": [{ "port": 80 }] },
    });
    bed.sources.set("shop", "v1", [refused]);
    bed.until("shop", |status| {
        status.errors.iter().any(|error| error.contains("refused"))
    })
    .await;
    bed.sources.set("shop", "v2", [config_map("a", "1")]);
    bed.applied("shop", "v2").await;
    bed.finish().await;
}

/// What has failed is tried again after an hour; what somebody changes meanwhile is put right when it is seen.
#[tokio::test(flavor = "multi_thread")]
async fn drift_of_a_unit_whose_operation_has_failed_is_put_right_at_once() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(1);
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.phase("shop", engine::unit::Phase::Failed).await;
    bed.by_hand("", config_map("b", "by hand")).await;
    bed.seen("ConfigMap", "b", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    bed.finish().await;
}

/// And where somebody changes it back each time, the pauses grow as ever.
#[tokio::test(start_paused = true)]
async fn a_fight_over_an_object_of_a_unit_that_has_failed_has_growing_pauses_too() {
    let gate = Gate::new();
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let client = gate.client(test.client());
    let bed = Bed::reached(test, client, super::outcomes()).await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(3600);
    unit.policy.retry = Duration::from_secs(3600);
    bed.units.put(unit);
    let (tell, mut told) = mpsc::unbounded_channel();
    let _updated = bed.engine.on_resource_updated(move |_, entry| {
        if entry.name() == "a" {
            let _ = tell.send(());
        }
    });
    bed.sync("shop", "v1", [config_map("a", "1"), slow("b")]);
    bed.waits("shop").await;
    bed.outcome("b", "failed").await;
    bed.phase("shop", engine::unit::Phase::Failed).await;
    let before = writes(&gate);
    bed.by_hand("", config_map("a", "by hand")).await;
    let fight = async {
        while told.recv().await.is_some() {
            bed.by_hand("", config_map("a", "by hand")).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(600), fight).await;
    let made = writes(&gate) - before;
    assert!((5..=9).contains(&made), "{made} in ten minutes");
    bed.finish().await;
}

/// What somebody asks for does not wait for the end of a pause, however often they ask, and whether or not it is the same as before.
#[tokio::test(start_paused = true)]
async fn a_request_waits_for_no_pause_also_if_it_is_the_same_again() {
    let bed = Bed::paused().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let is_right = async || bed.key("a").await.as_deref() == Some("1");
    for _ in 0..4 {
        bed.by_hand("", config_map("a", "by hand")).await;
        assert!(soon(60, is_right).await);
    }
    for time in ["first", "second"] {
        bed.by_hand("", config_map("a", "by hand")).await;
        assert!(!soon(5, is_right).await, "there is a pause");
        bed.ask("shop", by("ada"));
        assert!(soon(5, is_right).await, "the {time} request waits");
        assert!(soon(5, async || !bed.is_asked("shop")).await);
    }
    bed.finish().await;
}
