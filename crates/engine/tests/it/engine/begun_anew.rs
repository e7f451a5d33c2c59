//! Requests whose operations begin anew: they stay until one has come to its end, and that is not put off for ever.

use engine::unit::{Operation, Phase, SyncUnit};

use super::{Bed, argo, by, config_map, hook, is_waiting, slow, soon, waiting};

/// A unit that does nothing by itself, and waits for its objects.
fn manual(bed: &Bed) -> SyncUnit {
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    unit.policy.options = waiting(3600);
    unit
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_outlives_a_newer_revision() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    bed.sync("shop", "v2", [config_map("a", "2"), config_map("b", "2")]);
    bed.applied("shop", "v2").await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_outlives_an_object_that_somebody_deletes() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    bed.delete("b").await;
    bed.seen("ConfigMap", "b", |live| live.is_some()).await;
    bed.waits("shop").await;
    assert!(bed.is_asked("shop"));
    bed.finish().await;
}

fn dry_run(who: &str) -> Operation {
    Operation {
        dry_run: true,
        ..by(who)
    }
}

/// A dry run is asked for in its place while it is under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_outlives_a_dry_run_and_a_newer_revision() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    bed.ask("shop", dry_run("bob"));
    bed.sync("shop", "v2", [config_map("a", "2"), config_map("b", "2")]);
    bed.applied("shop", "v2").await;
    bed.finish().await;
}

/// What the request was is stored, and not only remembered.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_outlives_a_dry_run_and_a_crash() {
    let mut bed = Bed::with_outcomes().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    bed.running.end().await;
    // As it is when the process ends after the operation was superseded, and before anything else.
    let mut unit = bed.units.unit("shop").unwrap();
    unit.status.operation.as_mut().unwrap().phase = Phase::Superseded;
    unit.operation = Some(dry_run("bob"));
    bed.units.put(unit);
    bed.sources
        .set("shop", "v2", [config_map("a", "2"), config_map("b", "2")]);
    bed.restart().await;
    bed.applied("shop", "v2").await;
    bed.finish().await;
}

/// Who does not ask any more is not asked for by a dry run.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_withdrawn_does_not_come_back_after_a_dry_run() {
    let bed = Bed::with_outcomes().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    let mut unit = bed.units.unit("shop").unwrap();
    unit.operation = None;
    bed.units.put(unit);
    bed.sync("shop", "v2", [config_map("a", "2"), config_map("b", "2")]);
    bed.phase("shop", Phase::Superseded).await;
    bed.ask("shop", dry_run("bob"));
    let told = bed.phase("shop", Phase::Succeeded).await.operation.unwrap();
    assert_eq!(told.request, Some(dry_run("bob")));
    assert!(soon(60, async || !bed.is_asked("shop")).await);
    assert_eq!(bed.key("b").await.as_deref(), Some("1"));
    bed.finish().await;
}

/// Somebody deletes an object each time that an operation waits: its hooks would be run for ever.
#[tokio::test(start_paused = true)]
async fn a_request_whose_object_is_deleted_each_time_has_failed_after_some_tries_and_tells_so() {
    let bed = Bed::paused().await;
    let mut unit = bed.argo("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    let objects = [
        hook(config_map("migrate", "1"), "PreSync", "BeforeHookCreation"),
        config_map("web", "1"),
        argo(slow("last"), "sync-wave", "1"),
        argo(config_map("never", "1"), "sync-wave", "2"),
    ];
    bed.sync("shop", "v1", objects);
    bed.ask("shop", by("ada"));
    let mut tries = 0;
    while bed.is_asked("shop") {
        bed.until("shop", |status| is_waiting(status) || !bed.is_asked("shop"))
            .await;
        if bed.is_asked("shop") {
            tries += 1;
            bed.delete("web").await;
            bed.until("shop", |status| !is_waiting(status)).await;
        }
        assert!(tries < 10, "it begins anew for ever");
    }
    assert_eq!(tries, 5);
    let status = bed.phase("shop", Phase::Failed).await;
    let last = status.operation.unwrap();
    let told = "/web was deleted while the operation was under way";
    assert!(last.message.contains(told), "{}", last.message);
    assert!(last.message.contains("try 5"), "{}", last.message);
    assert_eq!(last.request, Some(by("ada")));
    assert!(!status.errors.is_empty());
    // Whoever asks again has all tries again.
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    bed.outcome("last", "done").await;
    bed.applied("shop", "v1").await;
    bed.finish().await;
}

/// How often it was is stored.
#[tokio::test(start_paused = true)]
async fn a_crash_gives_no_more_tries() {
    let mut bed = Bed::paused().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    let mut tries = 0;
    while bed.is_asked("shop") {
        bed.until("shop", |status| is_waiting(status) || !bed.is_asked("shop"))
            .await;
        if bed.is_asked("shop") {
            tries += 1;
            bed.delete("b").await;
            bed.until("shop", |status| !is_waiting(status)).await;
            bed.restart().await;
        }
        assert!(tries < 10, "it begins anew for ever");
    }
    assert_eq!(tries, 5);
    bed.finish().await;
}

/// Somebody ends what is about to begin anew.
#[tokio::test(start_paused = true)]
async fn what_is_terminated_between_two_tries_does_not_begin_anew() {
    let bed = Bed::paused().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    for _ in 0..3 {
        bed.waits("shop").await;
        bed.delete("b").await;
        bed.until("shop", |status| !is_waiting(status)).await;
    }
    // There is a pause by now.
    assert!(bed.is_asked("shop"));
    bed.engine.terminate("shop");
    let status = bed.phase("shop", Phase::Terminated).await;
    assert_eq!(status.operation.unwrap().request, Some(by("ada")));
    assert!(soon(60, async || !bed.is_asked("shop")).await);
    let again = soon(600, async || {
        let status = bed.units.unit("shop").unwrap().status;
        status.operation.unwrap().phase != Phase::Terminated
    });
    assert!(!again.await);
    bed.finish().await;
}

/// The same where somebody has asked for a dry run in its place, which is told all the same.
#[tokio::test(start_paused = true)]
async fn what_is_terminated_behind_a_dry_run_does_not_begin_anew() {
    let mut bed = Bed::paused().await;
    bed.units.put(manual(&bed));
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.ask("shop", by("ada"));
    bed.waits("shop").await;
    bed.restart().await;
    // It cannot be built for now, so that neither begins.
    bed.sources.0.lock().clear();
    bed.engine.refresh("shop");
    bed.until("shop", |status| !status.errors.is_empty()).await;
    let mut unit = bed.units.unit("shop").unwrap();
    unit.status.operation.as_mut().unwrap().phase = Phase::Superseded;
    unit.operation = Some(dry_run("bob"));
    bed.units.put(unit);
    bed.engine.terminate("shop");
    bed.sync("shop", "v2", [config_map("b", "2")]);
    let told = bed.phase("shop", Phase::Succeeded).await.operation.unwrap();
    assert_eq!(told.request, Some(dry_run("bob")));
    let again = soon(600, async || bed.key("b").await.as_deref() == Some("2")).await;
    assert!(!again, "what was terminated has begun again");
    bed.finish().await;
}
