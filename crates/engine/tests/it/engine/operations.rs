//! Operations: waits that hold nobody up, newer revisions, termination, refusals and crashes.

use std::sync::Arc;

use engine::UnitEventKind;
use engine::cluster::Delete;
use engine::unit::{Failure, Operation, Phase, Status, SyncState};
use model::{Value, value};

use super::{Bed, config_map, waiting};

/// A claim that nobody fulfils: it stays in progress until the test says otherwise.
fn claim(name: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": name },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "nobody",
            "resources": { "requests": { "storage": "1Gi" } },
        },
    })
}

async fn bind(bed: &Bed, name: &str) {
    let mut claims = bed.resource("", "PersistentVolumeClaim").await;
    claims.plural = "persistentvolumeclaims".into();
    let path = format!(
        "/api/v1/namespaces/{}/persistentvolumeclaims/{name}/status",
        bed.space
    );
    let request = http::Request::patch(path)
        .header("content-type", "application/merge-patch+json")
        .body(br#"{"status":{"phase":"Bound"}}"#.to_vec())
        .unwrap();
    bed.test.client().request_text(request).await.unwrap();
}

fn is_waiting(status: &engine::unit::Status) -> bool {
    let operation = status.operation.as_ref();
    operation.is_some_and(|operation| operation.message.starts_with("waiting for"))
}

fn put_waiting(bed: &Bed, id: &str, seconds: u64) {
    let mut unit = bed.unit(id);
    unit.policy.options = waiting(seconds);
    bed.units.put(unit);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_when_the_object_is_healthy_and_holds_nobody_up() {
    let bed = Bed::start().await;
    // There are two workers, and three units that wait.
    for id in ["one", "two", "three"] {
        put_waiting(&bed, id, 600);
        bed.sync(id, "v1", [claim(id)]);
    }
    for id in ["one", "two", "three"] {
        bed.until(id, is_waiting).await;
    }
    bed.sync("quick", "v1", [config_map("a", "1")]);
    bed.applied("quick", "v1").await;
    for id in ["one", "two", "three"] {
        bind(&bed, id).await;
        bed.applied(id, "v1").await;
    }
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_takes_too_long_names_what_was_waited_for() {
    let bed = Bed::start().await;
    put_waiting(&bed, "shop", 1);
    bed.sync("shop", "v1", [claim("data")]);
    let told = format!(
        "timeout waiting for: [PersistentVolumeClaim/{}/data status: 'InProgress'",
        bed.space
    );
    // The unit may have been looked at before it had a source, which is told too.
    let late = |status: &Status| status.errors.iter().any(|error| error.starts_with(&told));
    let status = bed.until("shop", late).await;
    assert_eq!(status.inventory.entries.len(), 1);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_revision_ends_a_wait() {
    let bed = Bed::start().await;
    put_waiting(&bed, "shop", 600);
    bed.sync("shop", "v1", [claim("data")]);
    bed.until("shop", is_waiting).await;
    let told = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let (ends, events) = (Arc::clone(&told), Arc::clone(&told));
    let _ends = bed
        .engine
        .on_sync_completed(move |_, state| ends.lock().push(format!("{:?}", state.phase)));
    let _events = bed.engine.on_unit_event(move |_, event| match event.kind {
        UnitEventKind::Superseded | UnitEventKind::Failed => {
            events.lock().push(format!("{:?}: {}", event.kind, event.message));
        }
        _ => {}
    });
    bed.sync("shop", "v2", [config_map("a", "1")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(status.sync, SyncState::Synced);
    let told = told.lock().clone();
    assert_eq!(
        told[..2],
        ["Superseded: something newer is to be applied", "Superseded"],
        "{told:?}"
    );
    // What only the first revision had is gone: its inventory was kept although the run was ended.
    bed.seen("PersistentVolumeClaim", "data", |live| {
        live.is_none_or(|live| live.at(&["metadata", "deletionTimestamp"]).is_some())
    })
    .await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_deleted_before_it_is_waited_for_is_brought_back_instead_of_waited_for() {
    let bed = Bed::start().await;
    put_waiting(&bed, "shop", 3600);
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let before = bed.uid("a").await.unwrap();
    // Once the plan is made, in which it is as it should be, and before the operation begins.
    let config_maps = bed.resource("", "ConfigMap").await;
    let (cluster, space) = (bed.cluster.clone(), bed.space.clone());
    let (removed, heard) = std::sync::mpsc::channel();
    let _removed = bed.engine.on_resource_removed(move |_, key| {
        if key.name == "a" {
            // Nobody listens after the first time.
            let _ = removed.send(());
        }
    });
    let heard = parking_lot::Mutex::new(Some(heard));
    let _deleting = bed.engine.on_before_sync(move |_, plan| {
        if let Some(heard) = heard.lock().take() {
            tokio::task::block_in_place(|| {
                let options = Delete::default();
                let deleted = cluster.delete(&config_maps, &space, "a", &options);
                tokio::runtime::Handle::current().block_on(deleted).unwrap();
                heard.recv().unwrap();
            });
        }
        Ok(plan)
    });
    let told = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let ends = Arc::clone(&told);
    let _ends = bed.engine.on_sync_completed(move |_, state| {
        ends.lock().push((state.phase, state.message.clone()));
    });
    bed.sync("shop", "v2", [config_map("a", "1"), config_map("b", "1")]);
    bed.applied("shop", "v2").await;
    let message = format!(
        "ConfigMap/{}/a was deleted while the operation was under way",
        bed.space
    );
    assert_eq!(told.lock()[0], (Phase::Superseded, message));
    assert_ne!(bed.uid("a").await.unwrap(), before);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_can_be_terminated() {
    let bed = Bed::start().await;
    put_waiting(&bed, "shop", 600);
    bed.sync("shop", "v1", [claim("data")]);
    bed.until("shop", is_waiting).await;
    bed.engine.terminate("shop");
    let ended = |status: &engine::unit::Status| {
        let operation = status.operation.as_ref();
        operation.is_some_and(|operation| operation.phase == Phase::Terminated)
    };
    bed.until("shop", ended).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_can_be_refused_before_anything_is_done() {
    let bed = Bed::start().await;
    let frozen = bed
        .engine
        .on_before_sync(|unit, _| Err(Failure::new(format!("{} is frozen until Monday", unit.id))));
    bed.sync("shop", "v1", [config_map("a", "1")]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert_eq!(
        status.errors,
        ["vetoed before the sync: shop is frozen until Monday"]
    );
    assert_eq!(status.sync, SyncState::OutOfSync);
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    drop(frozen);
    bed.applied("shop", "v1").await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_that_is_not_automatic_is_only_told_of_until_somebody_asks() {
    let bed = Bed::start().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.until("shop", |status| status.sync == SyncState::OutOfSync)
        .await;
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    let mut unit = bed.units.unit("shop").unwrap();
    unit.operation = Some(Operation::default());
    bed.units.put(unit);
    bed.engine.refresh("shop");
    bed.applied("shop", "v1").await;
    assert!(bed.get("", "ConfigMap", "a").await.is_some());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_goes_on_after_a_crash() {
    let mut bed = Bed::start().await;
    put_waiting(&bed, "shop", 600);
    bed.sync("shop", "v1", [claim("data")]);
    let before = bed.until("shop", is_waiting).await;
    bed.restart().await;
    bind(&bed, "data").await;
    let after = bed.applied("shop", "v1").await;
    let started =
        |status: &engine::unit::Status| status.operation.as_ref().map(|operation| operation.started);
    assert_eq!(started(&after), started(&before));
    bed.finish().await;
}
