//! Server-side apply: what is not accepted.

use conformance::objects::{config_map, deployment};
use conformance::{Patch, check};
use http::Method;
use serde_json::json;

check!(apply_needs_a_field_manager, async |t| {
    let message = r#"PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch"#;
    let status = t
        .patch(&t.core("configmaps/a"), Patch::Apply, config_map("a"))
        .await
        .fails(422, "Invalid", message);
    assert_eq!(
        (&status["details"]["group"], &status["details"]["kind"]),
        (&json!("meta.k8s.io"), &json!("PatchOptions"))
    );
    assert_eq!(status["details"]["causes"][0]["field"], "fieldManager");
});

check!(a_field_manager_has_at_most_128_bytes, async |t| {
    let message =
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more than 128 bytes";
    t.apply(&t.core("configmaps/a"), &"m".repeat(129), config_map("a"))
        .await
        .fails(422, "Invalid", message);
    t.apply(&t.core("configmaps/a"), &"m".repeat(128), config_map("a"))
        .await
        .code(201);
});

check!(a_field_manager_is_printable, async |t| {
    let message = concat!(
        r#"PatchOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\x00b": "#,
        "invalid character U+0000 (at position 1)"
    );
    t.apply(&t.core("configmaps/a"), "a%00b", config_map("a"))
        .await
        .fails(422, "Invalid", message);
});

check!(apply_needs_kind_and_version, async |t| {
    let reply = t
        .apply(&t.core("configmaps/a"), "one", json!({"metadata": {"name": "a"}}))
        .await;
    reply.fails(400, "BadRequest", "invalid object type: /, Kind=");
    let mut other = config_map("a");
    other["kind"] = json!("Secret");
    let reply = t.apply(&t.core("configmaps/a"), "one", other).await;
    reply.fails(400, "BadRequest", "invalid object type: /v1, Kind=Secret");
});

check!(apply_needs_the_name_of_the_path, async |t| {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1"}});
    let message = "the name of the object (a based on URL) was undeterminable: name must be provided";
    t.apply(&t.core("configmaps/a"), "one", object.clone())
        .await
        .fails(400, "BadRequest", message);
    let reply = t.apply(&t.core("configmaps/a"), "one", config_map("b")).await;
    reply.fails(
        400,
        "BadRequest",
        "the name of the object (b) does not match the name on the URL (a)",
    );
    t.apply(&t.core("configmaps/a"), "one", config_map("a"))
        .await
        .code(201);
    t.apply(&t.core("configmaps/a"), "one", object).await.code(200);
});

check!(apply_does_not_take_managed_fields, async |t| {
    let mut object = config_map("a");
    object["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Apply", "apiVersion": "v1"}]);
    let reply = t.apply(&t.core("configmaps/a"), "one", object).await;
    reply.fails(400, "BadRequest", "metadata.managedFields must be nil");
});

check!(apply_with_an_old_resource_version_conflicts, async |t| {
    t.apply(&t.core("configmaps/a"), "one", config_map("a"))
        .await
        .code(201);
    let mut object = config_map("a");
    object["metadata"]["resourceVersion"] = json!("1");
    object["data"]["key"] = json!("2");
    let message = concat!(
        r#"Operation cannot be fulfilled on configmaps "a": the object has been modified; "#,
        "please apply your changes to the latest version and try again"
    );
    t.apply(&t.core("configmaps/a"), "one", object)
        .await
        .fails(409, "Conflict", message);
});

check!(apply_with_a_uid_does_not_create, async |t| {
    let mut object = config_map("a");
    object["metadata"]["uid"] = json!("11111111-2222-3333-4444-555555555555");
    let message = concat!(
        r#"Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid "#,
        "11111111-2222-3333-4444-555555555555, and no existing object was found"
    );
    t.apply(&t.core("configmaps/a"), "one", object)
        .await
        .fails(409, "Conflict", message);
});

check!(applying_a_field_that_is_not_in_the_schema_fails, async |t| {
    let mut object = config_map("a");
    object["nosuch"] = json!(1);
    let message = "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .nosuch: field not declared in schema";
    t.apply(&t.core("configmaps/a"), "one", object)
        .await
        .fails(500, "", message);
});

check!(the_namespace_of_the_body_is_in_the_message, async |t| {
    let mut object = config_map("a");
    object["metadata"]["namespace"] = json!(t.namespace);
    object["nosuch"] = json!(1);
    let message = format!(
        "failed to create typed patch object ({}/a; /v1, Kind=ConfigMap): .nosuch: field not declared in schema",
        t.namespace
    );
    t.apply(&t.core("configmaps/a"), "one", object)
        .await
        .fails(500, "", message);
});

check!(applying_a_value_of_the_wrong_type_fails, async |t| {
    let path = t.group("apps/v1", "deployments/a");
    let mut object = deployment("a");
    object["spec"]["replicas"] = json!("three");
    let message = concat!(
        "failed to create typed patch object (/a; apps/v1, Kind=Deployment): .spec.replicas: ",
        "expected numeric (int or float), got string"
    );
    t.apply(&path, "one", object).await.fails(500, "", message);
    let mut object = config_map("a");
    object["data"]["key"] = json!(1);
    let message = concat!(
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.key: ",
        "expected string, got &value.valueUnstructured{Value:1}"
    );
    t.apply(&t.core("configmaps/a"), "one", object)
        .await
        .fails(500, "", message);
});

check!(two_elements_of_one_key_cannot_be_applied, async |t| {
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"] =
        json!([{"name": "c", "image": "a"}, {"name": "c", "image": "b"}]);
    let message = concat!(
        "failed to create typed patch object (/a; apps/v1, Kind=Deployment): ",
        ".spec.template.spec.containers: duplicate entries for key [name=\"c\"]"
    );
    t.apply(&t.group("apps/v1", "deployments/a"), "one", object)
        .await
        .fails(500, "", message);
});

check!(malformed_yaml_cannot_be_applied, async |t| {
    let headers = [("content-type", Patch::Apply.media_type())];
    let path = format!("{}?fieldManager=one", t.core("configmaps/a"));
    let message = "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content";
    let reply = t.send(Method::PATCH, &path, &headers, b"a: [".to_vec()).await;
    reply.fails(400, "BadRequest", message);
    let message = concat!(
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: ",
        "json: cannot unmarshal array into Go value of type map[string]interface {}"
    );
    t.send(Method::PATCH, &path, &headers, b"[]".to_vec())
        .await
        .fails(400, "BadRequest", message);
});

check!(an_applied_object_is_validated, async |t| {
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"][0]["image"] = json!("");
    let message = r#"Deployment.apps "a" is invalid: spec.template.spec.containers[0].image: Required value"#;
    t.apply(&t.group("apps/v1", "deployments/a"), "one", object)
        .await
        .fails(422, "Invalid", message);
});
