//! What a look at a unit costs.

use engine::unit::{Operation, Status, SyncState};

use super::{Bed, config_map};

#[tokio::test(flavor = "multi_thread")]
async fn what_the_source_says_is_applied() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "2")]);
    let status = bed.applied("shop", "v1").await;
    assert_eq!(
        (status.sync, status.inventory.entries.len()),
        (SyncState::Synced, 2)
    );
    let live = bed.get("", "ConfigMap", "b").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_finds_nothing_to_do_sends_no_request() {
    let gate = super::gate::Gate::new();
    let bed = Bed::through(&gate).await;
    let objects: Vec<_> = (0..50)
        .map(|number| config_map(&format!("c-{number}"), "x"))
        .collect();
    bed.sync("shop", "v1", objects.clone());
    bed.applied("shop", "v1").await;
    // The watch has to bring back what was written; then nothing is to be asked any more.
    settled(&bed).await;
    let (before, seen) = (bed.engine.requests("").unwrap(), gate.seen().len());
    for _ in 0..5 {
        look(&bed).await;
    }
    let after = bed.engine.requests("").unwrap();
    assert_eq!(after, before);
    // Whatever the engine counts: nothing was sent.
    assert_eq!(gate.seen().len(), seen);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_there_twice_is_looked_at_once_and_costs_nothing_either() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("a", "2")]);
    bed.applied("shop", "v1").await;
    settled(&bed).await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    bed.finish().await;
}

/// What differs and what is no longer wanted is remembered, in the version that was looked at.
#[tokio::test(flavor = "multi_thread")]
async fn what_differs_and_is_only_told_of_costs_nothing_until_it_changes() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.ask("shop", Operation::default());
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("a", "2")]);
    let proposes = |count: usize| {
        move |status: &Status| {
            let plan = status.proposed.as_ref();
            plan.is_some_and(|plan| plan.steps().filter(|step| step.action.writes()).count() == count)
        }
    };
    bed.until("shop", proposes(2)).await;
    settled(&bed).await;
    // Somebody does it by hand, and changes what is there otherwise too.
    let live = bed.by_hand("", config_map("a", "2")).await;
    bed.until("shop", proposes(1)).await;
    bed.by_hand("", config_map("a", "3")).await;
    let status = bed.until("shop", proposes(2)).await;
    assert_eq!(status.revision, "v1", "{live:?}");
    settled(&bed).await;
    bed.ask("shop", Operation::default());
    bed.applied("shop", "v2").await;
    assert_eq!(bed.key("a").await.as_deref(), Some("2"));
    assert!(bed.key("b").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_to_another_unit_costs_nothing_either() {
    let bed = Bed::start().await;
    for (id, key) in [("shop", "1"), ("holds", "2")] {
        bed.sync(id, "v1", [config_map("x", key), config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    bed.until("shop", |status| status.sync == SyncState::OutOfSync)
        .await;
    settled(&bed).await;
    bed.finish().await;
}

/// Looks at the unit until a look costs nothing.
async fn settled(bed: &Bed) {
    for _ in 0..100 {
        let before = bed.engine.requests("").unwrap();
        look(bed).await;
        if bed.engine.requests("").unwrap() == before {
            return;
        }
    }
    panic!("each look sends requests");
}

/// Looks at the unit once, and waits until that is done.
pub(super) async fn look(bed: &Bed) {
    let before = bed.engine.looks();
    bed.engine.refresh("shop");
    let every = testkit::settled::Every(std::time::Duration::from_millis(5));
    let done = testkit::settled(super::LIMIT, every, async || {
        if bed.engine.looks() > before {
            Ok(())
        } else {
            Err("not looked at")
        }
    });
    done.await.unwrap();
}
