//! Operations for some of the objects.

use std::collections::BTreeSet;

use engine::unit::{Operation, Phase, SyncState};
use model::ObjectKey;

use super::{Bed, config_map, worked_on};

#[tokio::test(flavor = "multi_thread")]
async fn only_the_objects_that_are_asked_for_are_touched_and_the_revision_is_not_applied_by_that() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.ask("shop", Operation::default());
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("a", "2"), config_map("c", "2")]);
    let mut wanted = config_map("a", "2");
    wanted.set_at(&["metadata", "namespace"], bed.space.as_str());
    let only = Operation {
        only: Some(BTreeSet::from([ObjectKey::of(&wanted)])),
        ..Operation::default()
    };
    bed.ask("shop", only);
    let done = |status: &engine::unit::Status| {
        let operation = status.operation.as_ref();
        operation.is_some_and(|state| state.phase == Phase::Succeeded && state.plan.revision == "v2")
    };
    let status = bed.until("shop", done).await;
    assert_eq!(worked_on(&status), ["a"]);
    assert_eq!(
        (status.sync, status.revision.as_str()),
        (SyncState::OutOfSync, "v1")
    );
    assert_eq!(
        status.inventory.entries.len(),
        2,
        "b is still ours, and c was not applied"
    );
    assert!(bed.get("", "ConfigMap", "b").await.is_some());
    assert!(bed.get("", "ConfigMap", "c").await.is_none());
    bed.ask("shop", Operation::default());
    bed.applied("shop", "v2").await;
    assert!(bed.get("", "ConfigMap", "b").await.is_none());
    bed.finish().await;
}
