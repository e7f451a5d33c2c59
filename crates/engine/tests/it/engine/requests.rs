//! What a look at a unit costs.

use engine::unit::SyncState;

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
