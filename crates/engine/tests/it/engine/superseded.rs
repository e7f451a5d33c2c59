//! An operation that is under way goes on while it is what is wanted, and ends when something else is, whatever the revision is called.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::plan::Options;
use engine::unit::{Operation, OperationState, Phase, Status, SyncState, SyncUnit};
use model::ObjectKey;
use tokio::sync::watch;

use super::requests::look;
use super::{Bed, config_map, slow, waiting};

/// What operations have ended with, in their order.
struct Ends(watch::Receiver<Vec<OperationState>>);

impl Ends {
    /// Waits until so many have ended; there must not be more.
    async fn all(&mut self, count: usize) -> Vec<(Phase, Option<Operation>)> {
        let ended = self.0.wait_for(|ends| ends.len() >= count);
        let ended = tokio::time::timeout(super::LIMIT, ended).await;
        let ended = ended.expect("operations end").unwrap();
        let ends = ended.iter();
        ends.map(|state| (state.phase, state.request.clone())).collect()
    }

    async fn phases(&mut self, count: usize) -> Vec<Phase> {
        self.all(count)
            .await
            .into_iter()
            .map(|(phase, _)| phase)
            .collect()
    }
}

/// A unit whose first operation waits, in a bed that notes how operations end.
async fn waits(bed: &Bed) -> Ends {
    let (note, ends) = watch::channel(Vec::new());
    let completed = bed
        .engine
        .on_sync_completed(move |_, state| note.send_modify(|ends| ends.push(state.clone())));
    completed.forever();
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(3600);
    bed.units.put(unit);
    bed.sync("shop", "v1", [slow("a"), config_map("b", "1")]);
    bed.waits("shop").await;
    Ends(ends)
}

/// Somebody changes the unit.
fn change(bed: &Bed, change: impl FnOnce(&mut SyncUnit)) {
    let mut unit = bed.units.unit("shop").unwrap();
    change(&mut unit);
    bed.units.put(unit);
    bed.engine.refresh("shop");
}

fn started(status: &Status) -> Option<jiff::Timestamp> {
    status.operation.as_ref().map(|state| state.started)
}

#[tokio::test(flavor = "multi_thread")]
async fn another_policy_under_the_same_revision_ends_a_wait() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    change(&bed, |unit| unit.policy.options = Options::default());
    let status = bed.applied("shop", "v1").await;
    assert_eq!(status.sync, SyncState::Synced);
    assert_eq!(ends.phases(1).await[0], Phase::Superseded);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_objects_under_the_same_revision_end_a_wait() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    bed.sync("shop", "v1", [config_map("b", "2")]);
    bed.applied("shop", "v1").await;
    assert_eq!(ends.phases(1).await[0], Phase::Superseded);
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    let live = bed.get("", "ConfigMap", "b").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_namespace_under_the_same_revision_ends_a_wait() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    let other = bed.test.namespace("engine-other").await;
    change(&bed, |unit| unit.destination.namespace.clone_from(&other));
    let moved = |status: &Status| {
        let mut entries = status.inventory.entries.iter();
        entries.any(|entry| entry.id.0.namespace == other.as_str())
    };
    bed.until("shop", moved).await;
    assert_eq!(ends.phases(1).await[0], Phase::Superseded);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_is_not_automatic_any_more_ends_what_was_begun_by_itself() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    change(&bed, |unit| unit.policy.automatic = false);
    bed.phase("shop", Phase::Superseded).await;
    // It is looked at again, and nothing is begun.
    bed.sync("shop", "v2", [config_map("c", "1")]);
    bed.until("shop", |status| status.attempted == "v2").await;
    assert!(bed.get("", "ConfigMap", "c").await.is_none());
    assert_eq!(ends.phases(1).await, [Phase::Superseded]);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_goes_on_while_the_same_is_wanted_however_often_it_is_looked_at() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    let before = bed.waits("shop").await;
    change(&bed, |unit| {
        unit.policy.interval = Duration::from_secs(7);
        unit.policy.retry = Duration::from_secs(7);
    });
    look(&bed).await;
    bed.outcome("a", "done").await;
    let after = bed.applied("shop", "v1").await;
    assert_eq!(started(&after), started(&before));
    assert_eq!(ends.phases(1).await, [Phase::Succeeded]);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_an_operation_is_not_gone_on_with_if_other_objects_have_its_revision() {
    let mut bed = Bed::with_outcomes().await;
    waits(&bed).await;
    bed.sources.set("shop", "v1", [config_map("b", "2")]);
    bed.restart().await;
    let status = bed.applied("shop", "v1").await;
    assert!(status.errors.is_empty(), "{:?}", status.errors);
    let live = bed.get("", "ConfigMap", "b").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_that_is_asked_for_during_a_wait_is_told_after_it() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    let before = bed.waits("shop").await;
    let dry = Operation {
        dry_run: true,
        ..Operation::default()
    };
    bed.ask("shop", dry.clone());
    bed.outcome("a", "done").await;
    let told = |status: &Status| {
        let state = status.operation.as_ref();
        state.is_some_and(|state| state.message.starts_with("dry run"))
    };
    let status = bed.until("shop", told).await;
    assert_eq!(status.revision, "v1");
    let ends = ends.all(2).await;
    assert_eq!(ends, [(Phase::Succeeded, None), (Phase::Succeeded, Some(dry))]);
    assert_ne!(started(&status), started(&before));
    assert_eq!(bed.units.unit("shop").unwrap().operation, None);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_does_not_wait_for_what_has_failed() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    change(&bed, |unit| unit.policy.retry = Duration::from_secs(3600));
    let dry = Operation {
        dry_run: true,
        ..Operation::default()
    };
    bed.ask("shop", dry);
    bed.outcome("a", "failed").await;
    let told = |status: &Status| {
        let state = status.operation.as_ref();
        state.is_some_and(|state| state.message.starts_with("dry run"))
    };
    bed.until("shop", told).await;
    assert_eq!(ends.phases(2).await, [Phase::Failed, Phase::Succeeded]);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_some_objects_is_done_instead_of_what_waits_and_then_that_begins_again() {
    let bed = Bed::with_outcomes().await;
    let mut ends = waits(&bed).await;
    bed.by_hand("", config_map("b", "by hand")).await;
    let mut wanted = config_map("b", "1");
    wanted.set_at(&["metadata", "namespace"], bed.space.as_str());
    let only = Operation {
        only: Some(BTreeSet::from([ObjectKey::of(&wanted)])),
        ..Operation::default()
    };
    bed.ask("shop", only.clone());
    bed.seen("ConfigMap", "b", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    let again = |status: &Status| {
        let state = status.operation.as_ref();
        state.is_some_and(|state| state.request.is_none() && state.message.starts_with("waiting for"))
    };
    bed.until("shop", again).await;
    bed.outcome("a", "done").await;
    bed.applied("shop", "v1").await;
    let expected = [
        (Phase::Superseded, None),
        (Phase::Succeeded, Some(only)),
        (Phase::Succeeded, None),
    ];
    assert_eq!(ends.all(3).await, expected);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_deletion_ends_a_wait_also_if_the_revision_is_empty() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.unit("shop");
    unit.policy.options = waiting(3600);
    bed.units.put(unit);
    bed.sync("shop", "", [slow("a")]);
    bed.waits("shop").await;
    let deletion = Operation {
        delete: true,
        ..Operation::default()
    };
    bed.ask("shop", deletion);
    bed.seen("ConfigMap", "a", |live| live.is_none()).await;
    bed.phase("shop", Phase::Succeeded).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_generator_is_to_use_nothing_that_it_has_kept_when_somebody_asks_and_until_that_has_begun() {
    let bed = Bed::with_outcomes().await;
    waits(&bed).await;
    let fresh = || bed.sources.2.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(fresh(), 0);
    bed.ask("shop", Operation::default());
    let begun = |status: &Status| {
        let state = status.operation.as_ref();
        state.is_some_and(|state| state.request.is_some() && state.message.starts_with("waiting for"))
    };
    bed.until("shop", begun).await;
    let asked = fresh();
    assert!(asked > 0);
    look(&bed).await;
    look(&bed).await;
    assert_eq!(fresh(), asked);
    bed.finish().await;
}
