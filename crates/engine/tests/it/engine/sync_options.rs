//! Sync options of Argo CD on a cluster.

use engine::plan::CreateNamespace;
use engine::unit::{Status, SyncState};
use model::{Value, value};

use super::{Bed, argo, config_map, slow};

fn with_options(object: Value, options: &str) -> Value {
    argo(object, "sync-options", options)
}

/// `Replace=true` and `Force=true`
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_to_be_replaced_keeps_nothing_of_others_and_by_force_it_is_another_one() {
    let bed = Bed::start().await;
    bed.units.put(bed.argo("shop"));
    let options = [
        ("patched", "Replace=false"),
        ("replaced", "Replace=true"),
        ("made-anew", "Replace=true,Force=true"),
    ];
    let objects = |key: &str| options.map(|(name, option)| with_options(config_map(name, key), option));
    bed.sync("shop", "v1", objects("1"));
    bed.applied("shop", "v1").await;
    let mut uids = Vec::new();
    for (name, _) in options {
        let mut extra = config_map(name, "1");
        extra.set_at(&["data"], value!({ "extra": "by hand" }));
        bed.by_hand("", extra).await;
        uids.push(bed.uid(name).await);
    }
    bed.sync("shop", "v2", objects("2"));
    bed.applied("shop", "v2").await;
    let wanted = [
        ("patched", true, true),
        ("replaced", false, true),
        ("made-anew", false, false),
    ];
    for ((name, has_extra, is_same), uid) in wanted.into_iter().zip(uids) {
        let live = bed.get("", "ConfigMap", name).await.unwrap();
        assert_eq!(live.str_at(&["data", "key"]), "2", "{name}");
        assert_eq!(live.at(&["data", "extra"]).is_some(), has_extra, "{name}");
        assert_eq!(bed.uid(name).await == uid, is_same, "{name}");
    }
    bed.finish().await;
}

/// An apply leaves to others what they have set; what takes the place of the object does not.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_if_the_server_would_refuse_what_is_to_be_replaced() {
    let bed = Bed::start().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let service = |spec: Value| value!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "x" }, "spec": spec });
    let whole = service(value!({ "selector": { "app": "1" }, "ports": [{ "port": 80 }] }));
    bed.sync("shop", "v1", [config_map("a", "1"), whole]);
    bed.applied("shop", "v1").await;
    bed.by_hand("", service(value!({ "ports": [{ "port": 80 }] })))
        .await;
    let part = service(value!({ "selector": { "app": "2" } }));
    bed.sync(
        "shop",
        "v2",
        [config_map("a", "2"), with_options(part, "Replace=true")],
    );
    let status = bed.until("shop", |status| !status.errors.is_empty()).await;
    assert!(
        status.errors[0].contains("dry-run failed (Invalid)"),
        "{:?}",
        status.errors
    );
    assert_eq!(bed.key("a").await.as_deref(), Some("1"));
    bed.finish().await;
}

/// A process before may have replaced it already, or somebody has changed it since it was looked at.
#[tokio::test(flavor = "multi_thread")]
async fn what_has_changed_since_it_was_looked_at_is_replaced_if_it_is_still_the_same() {
    let bed = Bed::with_outcomes().await;
    let mut unit = bed.argo("shop");
    unit.policy.retry = std::time::Duration::from_secs(600);
    bed.units.put(unit);
    let last = |key: &str| {
        let object = with_options(config_map("last", key), "Replace=true");
        argo(object, "sync-wave", "1")
    };
    bed.sync("shop", "v1", [last("1")]);
    bed.applied("shop", "v1").await;
    let before = bed.uid("last").await;
    bed.sync("shop", "v2", [slow("first"), last("2")]);
    bed.waits("shop").await;
    let mut touched = config_map("last", "1");
    touched.remove_at(&["data"]);
    touched.set_at(&["metadata", "labels", "touched"], "yes");
    bed.by_hand("", touched).await;
    bed.outcome("first", "done").await;
    let over = |status: &Status| status.revision == "v2" || !status.errors.is_empty();
    let status = bed.until("shop", over).await;
    assert!(status.errors.is_empty(), "{:?}", status.errors);
    assert_eq!(bed.key("last").await.as_deref(), Some("2"));
    assert_eq!(bed.uid("last").await, before);
    bed.finish().await;
}

/// `CreateNamespace=true`
#[tokio::test(flavor = "multi_thread")]
async fn the_namespace_of_a_unit_is_made_for_it_and_outlives_it() {
    let bed = Bed::start().await;
    let space = bed.test.name("made");
    bed.test.delete_at_end(format!("/api/v1/namespaces/{space}"));
    let mut unit = bed.argo("shop");
    unit.destination.namespace.clone_from(&space);
    unit.policy.options.argo.create_namespace = Some(CreateNamespace {
        labels: [("team".to_owned(), "shop".to_owned())].into(),
        ..CreateNamespace::default()
    });
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1"), config_map("b", "1")]);
    let status = bed.applied("shop", "v1").await;
    assert_eq!(status.inventory.entries.len(), 2, "the namespace is none of them");
    let namespaces = bed.resource("", "Namespace").await;
    let made = bed.cluster.get(&namespaces, "", &space).await.unwrap().unwrap();
    assert_eq!(made.str_at(&["metadata", "labels", "team"]), "shop");
    let delete = engine::unit::Operation {
        delete: true,
        ..engine::unit::Operation::default()
    };
    bed.ask("shop", delete);
    bed.until("shop", |status| status.inventory.entries.is_empty())
        .await;
    let left = bed.cluster.get(&namespaces, "", &space).await.unwrap();
    assert!(left.is_some());
    bed.finish().await;
}

/// `SkipDryRunOnMissingResource=true`
#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_is_missing_is_refused_and_one_that_is_expected_is_applied_when_it_comes() {
    let bed = Bed::start().await;
    let group = format!("{}.example.com", bed.test.prefix());
    let widget = value!({
        "apiVersion": (format!("{group}/v1")), "kind": "Widget",
        "metadata": { "name": "w" }, "spec": { "size": 1 },
    });
    bed.units.put(bed.argo("shop"));
    bed.sync("shop", "v1", [config_map("a", "1"), widget.clone()]);
    let refused = |status: &Status| {
        let mut errors = status.errors.iter();
        errors.any(|error| error.contains("Widget") && error.contains("no matches for kind"))
    };
    let status = bed.until("shop", refused).await;
    assert!(status.operation.is_none(), "nothing was begun");
    assert!(bed.get("", "ConfigMap", "a").await.is_none());

    let later = argo(
        with_options(widget, "SkipDryRunOnMissingResource=true"),
        "sync-wave",
        "1",
    );
    bed.sync("shop", "v2", [config_map("a", "1"), later]);
    bed.seen("ConfigMap", "a", |live| live.is_some()).await;
    let definition = serde_json::json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": (format!("widgets.{group}")) },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                } },
            }],
        },
    });
    bed.test.establish(&definition).await;
    bed.applied("shop", "v2").await;
    bed.until("shop", |status| status.sync == SyncState::Synced).await;
    bed.finish().await;
}
