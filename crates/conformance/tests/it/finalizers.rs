//! Deletion with finalizers.

use conformance::objects::config_map;
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

/// A ConfigMap that a finalizer holds.
async fn held(t: &Test) -> Value {
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    t.create(&t.core("configmaps"), object).await
}

async fn release(t: &Test) -> Value {
    t.patch(
        &t.core("configmaps/a"),
        Patch::Merge,
        json!({"metadata": {"finalizers": null}}),
    )
    .await
    .code(200)
}

check!(a_finalizer_turns_a_deletion_into_a_mark, async |t| {
    let made = held(t).await;
    let marked = t.delete(&t.core("configmaps/a")).await.code(200);
    assert_eq!(marked["kind"], "ConfigMap");
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_ne!(
        marked["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    assert_eq!(t.get(&t.core("configmaps/a")).await.code(200), marked);
    release(t).await;
});

check!(the_object_goes_with_its_last_finalizer, async |t| {
    held(t).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let last = release(t).await;
    assert_eq!(last["metadata"]["finalizers"], json!(null));
    t.get(&t.core("configmaps/a"))
        .await
        .fails(404, "NotFound", r#"configmaps "a" not found"#);
});

check!(a_second_deletion_changes_nothing, async |t| {
    held(t).await;
    let first = t.delete(&t.core("configmaps/a")).await.code(200);
    assert_eq!(t.delete(&t.core("configmaps/a")).await.code(200), first);
    release(t).await;
});

check!(a_marked_object_can_still_be_changed, async |t| {
    held(t).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let changed = t
        .patch(
            &t.core("configmaps/a"),
            Patch::Merge,
            json!({"data": {"key": "2"}}),
        )
        .await
        .code(200);
    assert_eq!(changed["data"]["key"], "2");
    release(t).await;
});

check!(a_marked_object_takes_no_new_finalizer, async |t| {
    held(t).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let body = json!({"metadata": {"finalizers": ["example.com/f", "example.com/g"]}});
    let message = concat!(
        r#"ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "#,
        r#"deleted, found new finalizers []string{"example.com/g"}"#
    );
    t.patch(&t.core("configmaps/a"), Patch::Merge, body)
        .await
        .fails(422, "Invalid", message);
    release(t).await;
});

check!(the_name_of_a_marked_object_is_taken, async |t| {
    held(t).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let message = r#"object is being deleted: configmaps "a" already exists"#;
    t.post(&t.core("configmaps"), config_map("a"))
        .await
        .fails(409, "AlreadyExists", message);
    release(t).await;
});

check!(applying_to_a_marked_object_updates_it, async |t| {
    held(t).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let object =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"new": "1"}});
    let made = t.apply(&t.core("configmaps/a"), "one", object).await.code(200);
    assert!(made["metadata"]["deletionTimestamp"].is_string());
    release(t).await;
});

check!(the_generation_counts_the_mark_of_a_kind_with_a_spec, async |t| {
    let mut object = conformance::objects::deployment("a");
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    let path = t.group("apps/v1", "deployments");
    t.create(&path, object).await;
    let path = format!("{path}/a");
    let marked = t
        .delete(&format!("{path}?propagationPolicy=Background"))
        .await
        .code(200);
    assert_eq!(marked["metadata"]["generation"], 2);
    t.patch(&path, Patch::Merge, json!({"metadata": {"finalizers": null}}))
        .await
        .code(200);
});

check!(a_deletion_with_the_last_finalizer_needs_no_change, async |t| {
    held(t).await;
    t.delete(&t.core("configmaps/a")).await.code(200);
    let mut object = t.get(&t.core("configmaps/a")).await.code(200);
    object["metadata"]["finalizers"] = json!([]);
    t.put(&t.core("configmaps/a"), object).await.code(200);
    t.get(&t.core("configmaps/a")).await.code(404);
});
