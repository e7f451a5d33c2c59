//! What is no longer desired goes away, and nothing else does.

use engine::unit::{Status, SyncState};
use model::value;

use super::gate::Gate;
use super::{Bed, argo, config_map, definition, slow, widget};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_desired_is_pruned() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", [config_map("b", "1")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(status.inventory.entries.len(), 1);
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_owner_has_taken_over_is_not_pruned() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("other", "v1", [config_map("a", "1")]);
    bed.applied("other", "v1").await;
    bed.sync("shop", "v2", [config_map("b", "1")]);
    bed.applied("shop", "v2").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    let owner = live.str_at(&["metadata", "labels", "kustomize.toolkit.fluxcd.io/name"]);
    assert_eq!(owner, "other");
    bed.finish().await;
}

/// I4
#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_did_not_delete_stays_in_the_inventory_and_is_tried_again() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    bed.applied("shop", "v1").await;
    gate.refuse(|request| request.starts_with("DELETE "));
    bed.sync("shop", "v2", [config_map("b", "2")]);
    let failed = |status: &Status| {
        let mut errors = status.errors.iter();
        errors.any(|error| error.contains("/a delete failed"))
    };
    let status = bed.until("shop", failed).await;
    assert_eq!(status.inventory.entries.len(), 2);
    assert!(bed.get("", "ConfigMap", "a").await.is_some());
    let live = bed.get("", "ConfigMap", "b").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2", "what was applied was applied");
    gate.open();
    let status = bed.applied("shop", "v2").await;
    assert_eq!(status.inventory.entries.len(), 1);
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_build_prunes_nothing() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v2", []);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors[0].contains("the build is empty"),
        "{:?}",
        status.errors
    );
    assert_eq!(
        (status.sync, status.revision.as_str()),
        (SyncState::Unknown, "v1")
    );
    assert!(bed.get("", "ConfigMap", "a").await.is_some());
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_the_server_refuses_is_told_and_nothing_is_written() {
    let bed = Bed::start().await;
    let wrong = |name: &str| {
        value!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": { "name": name }, "spec": { "ports": [{ "port": 99999 }] },
        })
    };
    bed.sync("shop", "v1", [config_map("a", "1"), wrong("x"), wrong("y")]);
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    for name in ["x", "y"] {
        let subject = format!("Service/{}/{name} dry-run failed (Invalid)", bed.space);
        assert!(
            status.errors.iter().any(|error| error.contains(&subject)),
            "{:?}",
            status.errors
        );
    }
    assert!(bed.get("", "ConfigMap", "a").await.is_none());
    bed.finish().await;
}

/// A server takes a moment to serve what was defined just now, and is asked again for a while. Not if it was deleted since.
#[tokio::test(start_paused = true)]
async fn a_definition_that_is_pruned_as_soon_as_it_was_made_is_not_waited_for() {
    let bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    let definition = value!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "widgets.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": { "kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object" } },
            }],
        },
    });
    let widget = value!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "w" } });
    bed.sync("shop", "v1", [definition, widget.clone()]);
    bed.applied("shop", "v1").await;
    let start = tokio::time::Instant::now();
    bed.sync("shop", "v2", [config_map("a", "1")]);
    let status = bed.applied("shop", "v2").await;
    assert_eq!(status.inventory.entries.len(), 1);
    bed.sync("late", "v1", [widget]);
    let told = |status: &Status| {
        status
            .errors
            .iter()
            .any(|error| error.contains("no matches for kind"))
    };
    bed.until("late", told).await;
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    bed.finish().await;
}

/// The server serves it in another version by now.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_served_any_more_in_the_version_it_was_applied_in_is_pruned_all_the_same() {
    let bed = Bed::with_outcomes().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    let versions = |served: [bool; 2]| {
        let mut definition = definition(group);
        let version = |name: &str, served: bool, storage: bool| {
            value!({
                "name": name, "served": served, "storage": storage,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            })
        };
        let versions = [version("v1", served[0], false), version("v2", served[1], true)];
        definition.set_at(&["spec", "versions"], versions.to_vec());
        definition
    };
    bed.sync("def", "v1", [versions([true, true])]);
    bed.applied("def", "v1").await;
    bed.units.put(bed.argo("app"));
    let widget = argo(widget(group), "sync-options", "PruneLast=true");
    bed.sync("app", "v1", [config_map("last", "1"), widget]);
    bed.applied("app", "v1").await;
    let widgets = bed.cluster.resource(group, "v2", "Widget").await.unwrap();
    let last = argo(config_map("last", "2"), "sync-wave", "1");
    bed.sync("app", "v2", [slow("first"), last]);
    bed.waits("app").await;
    bed.sync("def", "v2", [versions([false, true])]);
    bed.applied("def", "v2").await;
    bed.outcome("first", "done").await;
    let status = bed.applied("app", "v2").await;
    assert_eq!(status.inventory.entries.len(), 2);
    assert!(
        bed.cluster
            .get(&widgets, &bed.space, "w")
            .await
            .unwrap()
            .is_none()
    );
    bed.finish().await;
}
