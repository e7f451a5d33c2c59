//! What was begun and is not to be done any more: hearings before a deletion, and operations of a process before us.

use std::time::Duration;

use engine::Engine;
use engine::plan::Strategy;
use engine::unit::{Failure, OneCluster, Phase, ReconciliationSettings, SyncUnit};

use super::{Bed, Running, config_map, hook, outcomes, slow, soon, waiting};

/// A unit whose objects have no mark: only its inventory says that they are its own.
fn unmarked(bed: &Bed, id: &str) -> SyncUnit {
    let mut unit = bed.unit(id);
    unit.policy.strategy = Strategy::helm();
    unit
}

/// Time is ours: the embedded server runs on it, too.
async fn embedded(settings: ReconciliationSettings) -> Bed {
    Bed::with(testkit::Cluster::embedded(apiserver::Server::builder()), settings).await
}

/// A giver that has x, and that waits for a taker which cannot be heard, to delete x.
async fn about_to_give(bed: &Bed, waits: Duration) -> String {
    bed.units.put(unmarked(bed, "giver"));
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    bed.applied("giver", "v1").await;
    let uid = bed.uid("x").await.unwrap();
    bed.units.put(unmarked(bed, "taker"));
    bed.sync("giver", "v2", [config_map("giver", "1")]);
    tokio::time::sleep(waits).await;
    uid
}

async fn taker_works(bed: &Bed) {
    bed.sync("taker", "v1", [config_map("taker", "1")]);
    bed.applied("taker", "v1").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    // Nobody has told the engine of it.
    bed.sources
        .set("taker", "v2", [config_map("taker", "1"), config_map("x", "1")]);
}

async fn has_gone_over(bed: &Bed, uid: &str) {
    bed.engine.refresh("taker");
    bed.applied("taker", "v2").await;
    assert_eq!(bed.uid("x").await.as_deref(), Some(uid), "it is the same object");
}

#[tokio::test(start_paused = true)]
async fn a_hearing_that_a_revert_has_ended_counts_for_no_later_deletion() {
    let bed = embedded(ReconciliationSettings::default()).await;
    let uid = about_to_give(&bed, Duration::from_secs(5)).await;
    bed.sync("giver", "v1", [config_map("x", "1"), config_map("giver", "1")]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    taker_works(&bed).await;
    bed.sync("giver", "v3", [config_map("giver", "1")]);
    bed.applied("giver", "v3").await;
    has_gone_over(&bed, &uid).await;
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_hearing_that_a_veto_has_ended_counts_for_no_later_deletion() {
    let bed = embedded(ReconciliationSettings::default()).await;
    // After a second it begins with all that it does not have to wait for, and nobody is asked any more.
    let uid = about_to_give(&bed, Duration::from_millis(500)).await;
    let veto = bed.engine.on_before_sync(|unit, plan| match unit.id.as_str() {
        "giver" => Err(Failure::new("frozen")),
        _ => Ok(plan),
    });
    bed.engine.refresh("giver");
    tokio::time::sleep(Duration::from_secs(5)).await;
    taker_works(&bed).await;
    drop(veto);
    bed.engine.refresh("giver");
    bed.applied("giver", "v2").await;
    has_gone_over(&bed, &uid).await;
    bed.finish().await;
}

/// A process ends in a wait, and what is wanted by then is refused or vetoed: nobody goes on with what it did.
#[tokio::test(flavor = "multi_thread")]
async fn an_operation_that_nobody_goes_on_with_is_not_said_to_run() {
    for vetoed in [false, true] {
        let bed = embedded(outcomes()).await;
        let mut unit = bed.unit("shop");
        unit.policy.options = waiting(600);
        bed.units.put(unit);
        bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
        bed.applied("shop", "v1").await;
        bed.sync("shop", "v2", [config_map("a", "1"), slow("b")]);
        bed.waits("shop").await;
        bed.running.end().await;
        match vetoed {
            true => bed.sources.set("shop", "v3", [config_map("a", "1")]),
            // Nothing at all is no build.
            false => bed.sources.set("shop", "v3", []),
        }
        // The veto is there before the engine looks at anything.
        let access = OneCluster::new(bed.test.client());
        let engine = Engine::new(
            bed.settings.clone(),
            access,
            bed.sources.clone(),
            bed.units.clone(),
        );
        let _veto = engine.on_before_sync(|_, plan| match plan.revision.as_str() {
            "v3" => Err(Failure::new("frozen")),
            _ => Ok(plan),
        });
        let running = Running::start(&engine, 2);
        let is_over = async || {
            let status = bed.units.unit("shop").unwrap().status;
            !status.errors.is_empty() && status.operation.is_some_and(|last| last.phase.is_final())
        };
        assert!(soon(60, is_over).await);
        running.end().await;
        bed.finish().await;
    }
}

/// The program that embeds the engine may be asked to end it before the engine has looked at anything.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_before_has_left_can_be_terminated_before_it_is_looked_at() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(600);
    unit.policy.retry = Duration::from_secs(600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a")]);
    bed.waits("shop").await;
    bed.running.end().await;
    let access = OneCluster::new(bed.test.client());
    let engine = Engine::new(
        bed.settings.clone(),
        access,
        bed.sources.clone(),
        bed.units.clone(),
    );
    engine.terminate("shop");
    engine.terminate("nobody");
    let running = Running::start(&engine, 2);
    let is_over = async || {
        let last = bed.units.unit("shop").unwrap().status.operation;
        last.is_some_and(|last| last.phase == Phase::Terminated)
    };
    assert!(soon(30, is_over).await);
    running.end().await;
    bed.finish().await;
}

/// The cluster is there, and what was begun in it can be cleaned up once it is known what that was.
#[tokio::test(flavor = "multi_thread")]
async fn the_hooks_of_what_a_process_before_has_left_go_although_it_is_terminated_while_its_source_is_broken()
{
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(bed.argo("shop"));
    bed.sync("shop", "v1", [hook(slow("before"), "PreSync", "HookSucceeded")]);
    bed.waits("shop").await;
    let source = bed.sources.0.lock().remove("shop").unwrap();
    bed.restart().await;
    bed.until("shop", |status| !status.errors.is_empty()).await;
    bed.engine.terminate("shop");
    // When the second look begins, the first has ended.
    for _ in 0..2 {
        let looks = bed.engine.looks();
        bed.engine.refresh("shop");
        assert!(soon(60, async || bed.engine.looks() > looks).await);
    }
    bed.sources.0.lock().insert("shop".to_owned(), source);
    bed.engine.refresh("shop");
    bed.phase("shop", Phase::Terminated).await;
    assert!(bed.key("before").await.is_none());
    bed.finish().await;
}
