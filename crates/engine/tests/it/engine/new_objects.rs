//! What it takes to make objects that were not there.

use std::sync::Arc;

use engine::cluster::Verb;
use engine::plan::Options;
use engine::unit::{Policy, SyncUnit};
use parking_lot::Mutex;

use super::{Bed, config_map};

/// Has a unit of two new objects applied, and returns the dry runs that there were when the first write was about to be sent.
async fn dry_runs(trust_new: bool) -> u64 {
    let bed = Bed::start().await;
    let unit = bed.unit("shop");
    let options = Options {
        trust_new,
        ..Options::default()
    };
    let policy = Policy {
        options,
        ..unit.policy
    };
    bed.units.put(SyncUnit { policy, ..unit });
    let (engine, counted) = (bed.engine.clone(), Arc::new(Mutex::new(None)));
    let count = Arc::clone(&counted);
    let _counting = bed.engine.on_before_sync(move |_, plan| {
        let counts = engine.requests("").unwrap();
        assert_eq!(counts.of(Verb::Apply), 0);
        count.lock().get_or_insert(counts.of(Verb::DryRun));
        Ok(plan)
    });
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "2")]);
    bed.applied("shop", "v1").await;
    let live = bed.get("", "ConfigMap", "b").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    bed.finish().await;
    let counted = *counted.lock();
    counted.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_new_object_is_dry_run_before_anything_is_written() {
    assert_eq!(dry_runs(false).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_objects_are_written_at_once_where_the_unit_asks_for_that() {
    assert_eq!(dry_runs(true).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_object_that_is_refused_keeps_the_others_from_being_written() {
    let bed = Bed::start().await;
    let refused = config_map("Not_A_Name", "1");
    bed.sync("shop", "v1", [config_map("a", "1"), refused]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors.iter().any(|error| error.contains("dry-run failed")),
        "{:?}",
        status.errors
    );
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}
