//! JSON merge patches.

use conformance::objects::{config_map, deployment};
use conformance::{Patch, check};
use http::Method;
use serde_json::json;

check!(a_merge_sets_adds_and_removes_fields, async |t| {
    t.create(
        &t.core("configmaps"),
        json!({"metadata": {"name": "a"}, "data": {"a": "1", "b": "2", "c": "3"}}),
    )
    .await;
    let body = json!({"data": {"a": "9", "b": null, "d": "4"}});
    let made = t
        .patch(&t.core("configmaps/a"), Patch::Merge, body)
        .await
        .code(200);
    assert_eq!(made["data"], json!({"a": "9", "c": "3", "d": "4"}));
});

check!(a_merge_replaces_lists_whole, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a");
    let body = json!({"spec": {"template": {"spec": {"containers": [{"name": "d", "image": "other:1"}]}}}});
    let made = t.patch(&path, Patch::Merge, body).await.code(200);
    let containers = made["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 1);
    assert_eq!(containers[0]["name"], "d");
});

check!(
    a_merge_that_changes_nothing_keeps_the_resource_version,
    async |t| {
        let made = t.create(&t.core("configmaps"), config_map("a")).await;
        assert_eq!(
            t.patch(&t.core("configmaps/a"), Patch::Merge, json!({}))
                .await
                .code(200),
            made
        );
        let body = json!({"data": {"key": "value"}});
        assert_eq!(
            t.patch(&t.core("configmaps/a"), Patch::Merge, body)
                .await
                .code(200),
            made
        );
    }
);

check!(a_merge_with_an_old_resource_version_conflicts, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let body = json!({"metadata": {"resourceVersion": "1"}, "data": {"key": "2"}});
    let message = concat!(
        r#"Operation cannot be fulfilled on configmaps "a": the object has been modified; "#,
        "please apply your changes to the latest version and try again"
    );
    t.patch(&t.core("configmaps/a"), Patch::Merge, body)
        .await
        .fails(409, "Conflict", message);
});

check!(a_merge_cannot_rename, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let reply = t
        .patch(
            &t.core("configmaps/a"),
            Patch::Merge,
            json!({"metadata": {"name": "b"}}),
        )
        .await;
    reply.fails(
        400,
        "BadRequest",
        "the name of the object (b) does not match the name on the URL (a)",
    );
});

check!(a_merge_with_an_invalid_result_is_invalid, async |t| {
    t.create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    let path = t.group("apps/v1", "deployments/a");
    let message = r#"Deployment.apps "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"#;
    t.patch(&path, Patch::Merge, json!({"spec": {"replicas": -1}}))
        .await
        .fails(422, "Invalid", message);
});

check!(a_merge_that_is_no_object_is_a_bad_request, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    t.patch(&t.core("configmaps/a"), Patch::Merge, json!([1]))
        .await
        .fails(400, "BadRequest", "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}");
});

check!(a_malformed_merge_is_a_bad_request, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let headers = [("content-type", Patch::Merge.media_type())];
    let reply = t
        .send(Method::PATCH, &t.core("configmaps/a"), &headers, b"{".to_vec())
        .await;
    reply.fails(
        400,
        "BadRequest",
        "error decoding patch: unexpected end of JSON input",
    );
});

check!(a_dry_run_merge_stores_nothing, async |t| {
    let made = t.create(&t.core("configmaps"), config_map("a")).await;
    let path = format!("{}?dryRun=All", t.core("configmaps/a"));
    let shown = t
        .patch(&path, Patch::Merge, json!({"data": {"key": "2"}}))
        .await
        .code(200);
    assert_eq!(shown["data"]["key"], "2");
    assert_eq!(t.get(&t.core("configmaps/a")).await.code(200), made);
});

check!(force_is_only_for_apply, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let path = format!("{}?force=true", t.core("configmaps/a"));
    let message = "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch";
    t.patch(&path, Patch::Merge, json!({}))
        .await
        .fails(422, "Invalid", message);
});

check!(a_merge_of_a_custom_resource_works_alike, async |t| {
    let group = t.cluster.name("merge.example.com");
    t.cluster
        .establish(&conformance::objects::definition(&group))
        .await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    t.create(
        &path,
        conformance::objects::widget(&group, "a", json!({"x": 1, "y": {"z": [1, 2]}})),
    )
    .await;
    let body = json!({"spec": {"x": null, "y": {"z": [3]}}});
    let made = t.patch(&format!("{path}/a"), Patch::Merge, body).await.code(200);
    assert_eq!(made["spec"], json!({"y": {"z": [3]}}));
    assert_eq!(made["metadata"]["generation"], 2);
});
