//! Replacing objects by PUT.

use conformance::objects::{config_map, deployment};
use conformance::{Patch, check};
use serde_json::json;

check!(a_put_replaces_the_whole_object, async |t| {
    let mut made = t.create(&t.core("configmaps"), config_map("a")).await;
    made["data"] = json!({"other": "1"});
    let put = t.put(&t.core("configmaps/a"), made.clone()).await.code(200);
    assert_eq!(put["data"], json!({"other": "1"}));
    assert_eq!(put["metadata"]["uid"], made["metadata"]["uid"]);
    assert_ne!(
        put["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
});

check!(a_put_without_resource_version_overwrites, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let put = t
        .put(&t.core("configmaps/a"), json!({"metadata": {"name": "a"}}))
        .await
        .code(200);
    assert_eq!(put["data"], json!(null));
    assert_eq!(put["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(
        put["metadata"]["creationTimestamp"],
        made["metadata"]["creationTimestamp"]
    );
});

check!(a_put_with_an_old_resource_version_conflicts, async |t| {
    let old = t.create(&t.core("configmaps"), config_map("a")).await;
    let mut new = old.clone();
    new["data"]["key"] = json!("2");
    t.put(&t.core("configmaps/a"), new).await.code(200);
    let message = concat!(
        r#"Operation cannot be fulfilled on configmaps "a": the object has been modified; "#,
        "please apply your changes to the latest version and try again"
    );
    let status = t
        .put(&t.core("configmaps/a"), old)
        .await
        .fails(409, "Conflict", message);
    assert_eq!(status["details"], json!({"name": "a", "kind": "configmaps"}));
});

check!(a_put_that_changes_nothing_keeps_the_resource_version, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let put = t.put(&t.core("configmaps/a"), made.clone()).await.code(200);
    assert_eq!(put, made);
});

check!(a_put_of_a_missing_object_is_not_found, async |t| {
    t.put(&t.core("configmaps/a"), config_map("a")).await.fails(
        404,
        "NotFound",
        r#"configmaps "a" not found"#,
    );
});

check!(a_put_with_another_uid_conflicts, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let mut other = made.clone();
    other["metadata"]["uid"] = json!("11111111-2222-3333-4444-555555555555");
    let message = format!(
        "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, Code: 4, Key: \
         /registry/configmaps/{}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: \
         11111111-2222-3333-4444-555555555555, UID in object meta: {}",
        t.namespace,
        made["metadata"]["uid"].as_str().unwrap()
    );
    t.put(&t.core("configmaps/a"), other)
        .await
        .fails(409, "Conflict", message);
});

check!(a_put_with_another_name_is_a_bad_request, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let message = "the name of the object (b) does not match the name on the URL (a)";
    t.put(&t.core("configmaps/a"), config_map("b"))
        .await
        .fails(400, "BadRequest", message);
});

check!(a_put_without_a_name_is_a_bad_request, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let message = "the name of the object (a based on URL) was undeterminable: name must be provided";
    t.put(&t.core("configmaps/a"), json!({"data": {}}))
        .await
        .fails(400, "BadRequest", message);
});

check!(a_put_with_a_version_that_is_no_number_fails, async |t| {
    let mut made = t.create(&t.core("configmaps"), config_map("a")).await;
    made["metadata"]["resourceVersion"] = json!("x");
    let message = r#"strconv.ParseUint: parsing "x": invalid syntax"#;
    t.put(&t.core("configmaps/a"), made).await.fails(500, "", message);
});

check!(generation_counts_changes_of_the_spec, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a");
    let made = t
        .patch(&path, Patch::Merge, json!({"metadata": {"labels": {"l": "1"}}}))
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 1, "labels are not spec");
    let made = t
        .patch(&path, Patch::Merge, json!({"spec": {"minReadySeconds": 5}}))
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 2);
    let made = t
        .patch(&path, Patch::Merge, json!({"metadata": {"generation": 40}}))
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 2, "the client does not set it");
    let made = t
        .patch(
            &path,
            Patch::Merge,
            json!({"metadata": {"annotations": {"a": "1"}}}),
        )
        .await
        .code(200);
    assert_eq!(
        made["metadata"]["generation"], 3,
        "a Deployment counts its annotations too"
    );
});

check!(generation_does_not_count_annotations_of_other_kinds, async |t| {
    let path = t.group("networking.k8s.io/v1", "networkpolicies");
    t.create(
        &path,
        json!({"metadata": {"name": "a"}, "spec": {"podSelector": {}}}),
    )
    .await;
    let path = format!("{path}/a");
    let made = t
        .patch(
            &path,
            Patch::Merge,
            json!({"metadata": {"annotations": {"a": "1"}}}),
        )
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 1);
    let made = t
        .patch(&path, Patch::Merge, json!({"spec": {"policyTypes": ["Egress"]}}))
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 2);
});

check!(the_creation_time_of_a_put_is_ignored, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let mut object = config_map("a");
    object["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
    let put = t.put(&t.core("configmaps/a"), object).await.code(200);
    assert_eq!(
        put["metadata"]["creationTimestamp"],
        made["metadata"]["creationTimestamp"]
    );
});

check!(a_put_cannot_set_the_deletion_time, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let mut object = config_map("a");
    object["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    let message = concat!(
        r#"ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": "#,
        "field is immutable"
    );
    t.put(&t.core("configmaps/a"), object)
        .await
        .fails(422, "Invalid", message);
});

check!(
    a_dry_run_put_answers_with_the_change_and_stores_nothing,
    async |t| {
        let made = t.create(&t.core("configmaps"), config_map("a")).await;
        let mut object = made.clone();
        object["data"]["key"] = json!("2");
        let put = t
            .put(&format!("{}?dryRun=All", t.core("configmaps/a")), object)
            .await
            .code(200);
        assert_eq!(put["data"]["key"], "2");
        assert_eq!(
            put["metadata"]["resourceVersion"],
            made["metadata"]["resourceVersion"]
        );
        assert_eq!(t.get(&t.core("configmaps/a")).await.code(200), made);
    }
);

check!(a_lease_can_be_created_by_put, async |t| {
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": {"holderIdentity": "x"}});
    let path = t.group("coordination.k8s.io/v1", "leases/a");
    t.put(&path, lease).await.code(201);
    assert_eq!(t.get(&path).await.code(200)["spec"]["holderIdentity"], "x");
});
