//! What is stored of a unit: enough to go on from, readable whatever objects are called, and no more than is needed.

use engine::plan::Strategy;
use engine::unit::{ReconciliationSettings, Status, SyncState};
use model::manifest::Origin;
use model::value;

use super::{Bed, config_map};

/// The status as a store would keep it.
fn stored(status: &Status) -> (usize, Status) {
    let text = serde_json::to_string(status).unwrap();
    (text.len(), serde_json::from_str(&text).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_keeps_of_an_operation_that_has_ended_only_what_is_needed() {
    let bed = Bed::start().await;
    let objects = |key: &str| {
        let mut objects: Vec<_> = (0..100).map(|n| config_map(&format!("c-{n}"), "1")).collect();
        objects.push(config_map("last", key));
        objects
    };
    bed.sync("shop", "v1", objects("1"));
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", objects("2"));
    let status = bed.applied("shop", "v2").await;
    let (size, read) = stored(&status);
    assert_eq!(read, status);
    // An inventory has about seventy bytes for each object.
    assert!(size < 101 * 100 + 2000, "{size} bytes");
    let operation = status.operation.unwrap();
    assert_eq!(operation.plan.revision, "v2");
    assert_eq!(operation.progress.results.len(), 1);
    assert_eq!(
        operation.message,
        format!("ConfigMap/{}/last configured", bed.space)
    );
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_with_underscores_in_their_names_are_recorded_and_pruned_as_any_other() {
    let mut bed = Bed::start().await;
    let role = |name: &str| {
        value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": { "name": name }, "rules": [],
        })
    };
    bed.sync("shop", "v1", [role("a_b"), role("c:d"), config_map("a", "1")]);
    let status = bed.applied("shop", "v1").await;
    let (_, read) = stored(&status);
    assert_eq!(read, status);
    let mut unit = bed.units.unit("shop").unwrap();
    unit.status = read;
    bed.units.put(unit);
    bed.restart().await;
    bed.sync("shop", "v2", [config_map("a", "1")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(status.inventory.entries.len(), 1);
    for name in ["a_b", "c:d"] {
        let live = bed.get("rbac.authorization.k8s.io", "Role", name).await;
        assert!(live.is_none(), "{name}");
    }
    // What the server does not take is told, and the status is as readable as before.
    bed.sync("shop", "v3", [config_map("a", "1"), config_map("b_c", "1")]);
    let told = |status: &Status| {
        let mut errors = status.errors.iter();
        errors.any(|error| error.contains("/b_c dry-run failed (Invalid)"))
    };
    let status = bed.until("shop", told).await;
    assert_eq!(stored(&status).1, status);
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_refuses_is_told_with_the_place_it_was_read_at() {
    let bed = Bed::start().await;
    let origin = Origin {
        file: "apps/web.yaml".into(),
        line: 12,
    };
    bed.sources.from("shop", origin);
    bed.sync("shop", "v1", [config_map("a_b", "1")]);
    let place = format!("apps/web.yaml:12: ConfigMap/{}/a_b dry-run failed", bed.space);
    let told = |status: &Status| status.errors.iter().any(|error| error.starts_with(&place));
    bed.until("shop", told).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_unit_whose_id_is_no_label_is_known_by_one_made_of_it() {
    let settings = ReconciliationSettings {
        instance_label: Some("example.com/unit".to_owned()),
        ..ReconciliationSettings::default()
    };
    let bed = Bed::with(testkit::Cluster::start().await, settings).await;
    let long = "a".repeat(64);
    for (id, name) in [("apps/web", "web"), (long.as_str(), "long")] {
        let mut unit = bed.unit(id);
        unit.policy.strategy = Strategy::helm();
        bed.units.put(unit);
        bed.sync(id, "v1", [config_map(name, "1")]);
        bed.applied(id, "v1").await;
        bed.until(id, |status| status.sync == SyncState::Synced).await;
        bed.by_hand("", config_map(name, "by hand")).await;
        bed.seen("ConfigMap", name, |live| {
            live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
        })
        .await;
    }
    let live = bed.get("", "ConfigMap", "web").await.unwrap();
    let label = live.str_at(&["metadata", "labels", "example.com/unit"]);
    assert_eq!(label, "apps-web-3b4e3efd29cd131b");
    bed.finish().await;
}
