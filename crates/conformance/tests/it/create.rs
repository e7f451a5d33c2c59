//! Creating objects.

use conformance::check;
use conformance::objects::{config_map, deployment};
use http::Method;
use serde_json::json;

check!(a_created_object_gets_uid_time_and_resource_version, async |t| {
    let made = t.post(&t.core("configmaps"), config_map("a")).await.code(201);
    assert_eq!(made["apiVersion"], "v1");
    assert_eq!(made["kind"], "ConfigMap");
    assert_eq!(made["metadata"]["namespace"], t.namespace.as_str());
    assert_eq!(made["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert!(
        made["metadata"]["creationTimestamp"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    assert!(
        made["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
            > 0
    );
    assert_eq!(
        made["metadata"]["generation"],
        json!(null),
        "a kind without spec has no generation"
    );
});

check!(an_object_with_a_spec_starts_at_generation_one, async |t| {
    let made = t
        .create(&t.group("apps/v1", "deployments"), deployment("a"))
        .await;
    assert_eq!(made["metadata"]["generation"], 1);
});

check!(a_second_object_of_the_same_name_already_exists, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let status = t.post(&t.core("configmaps"), config_map("a")).await;
    let status = status.fails(409, "AlreadyExists", r#"configmaps "a" already exists"#);
    assert_eq!(status["details"], json!({"name": "a", "kind": "configmaps"}));
});

check!(already_exists_names_the_group_of_the_resource, async |t| {
    let path = t.group("apps/v1", "deployments");
    t.create(&path, deployment("a")).await;
    let status = t.post(&path, deployment("a")).await.fails(
        409,
        "AlreadyExists",
        r#"deployments.apps "a" already exists"#,
    );
    assert_eq!(
        status["details"],
        json!({"name": "a", "group": "apps", "kind": "deployments"})
    );
});

check!(generate_name_appends_five_letters_or_digits, async |t| {
    let mut object = config_map("");
    object["metadata"] = json!({"generateName": "part-"});
    let first = t.create(&t.core("configmaps"), object.clone()).await;
    let second = t.create(&t.core("configmaps"), object).await;
    let name = first["metadata"]["name"].as_str().unwrap();
    assert_eq!((name.len(), &name[..5]), (10, "part-"));
    assert!(
        name[5..]
            .chars()
            .all(|c| "bcdfghjklmnpqrstvwxz2456789".contains(c)),
        "{name}"
    );
    assert_eq!(first["metadata"]["generateName"], "part-");
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
});

check!(a_name_wins_over_generate_name, async |t| {
    let mut object = config_map("given");
    object["metadata"]["generateName"] = json!("part-");
    let made = t.create(&t.core("configmaps"), object).await;
    assert_eq!(made["metadata"]["name"], "given");
});

check!(an_object_without_a_name_is_invalid, async |t| {
    let mut object = config_map("");
    object["metadata"] = json!({});
    let message =
        r#"ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required"#;
    let status = t
        .post(&t.core("configmaps"), object)
        .await
        .fails(422, "Invalid", message);
    let cause = json!({"reason": "FieldValueRequired", "message": "Required value: name or generateName is required", "field": "metadata.name"});
    assert_eq!(status["details"], json!({"kind": "ConfigMap", "causes": [cause]}));
});

check!(a_name_that_is_no_dns_name_is_invalid, async |t| {
    let message = concat!(
        r#"ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": "#,
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start ",
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ",
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
    );
    let status = t
        .post(&t.core("configmaps"), config_map("Bad_Name"))
        .await
        .fails(422, "Invalid", message);
    assert_eq!(status["details"]["name"], "Bad_Name");
    assert_eq!(status["details"]["causes"][0]["reason"], "FieldValueInvalid");
    assert_eq!(status["details"]["causes"][0]["field"], "metadata.name");
});

check!(another_namespace_in_the_body_is_a_bad_request, async |t| {
    let mut object = config_map("a");
    object["metadata"]["namespace"] = json!("elsewhere");
    let message = "the namespace of the provided object does not match the namespace sent on the request";
    t.post(&t.core("configmaps"), object)
        .await
        .fails(400, "BadRequest", message);
});

check!(another_kind_in_the_body_is_a_bad_request, async |t| {
    let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
    let message = concat!(
        "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): ",
        "unknown conversion"
    );
    t.post(&t.core("configmaps"), object)
        .await
        .fails(400, "BadRequest", message);
});

check!(another_version_in_the_body_is_a_bad_request, async |t| {
    let mut object = deployment("a");
    object["apiVersion"] = json!("apps/v9");
    let message = concat!(
        r#"Deployment in version "v9" cannot be handled as a Deployment: no kind "Deployment" is registered for "#,
        r#"version "apps/v9" in scheme "pkg/runtime/scheme.go:111""#
    );
    t.post(&t.group("apps/v1", "deployments"), object)
        .await
        .fails(400, "BadRequest", message);
});

check!(kind_and_version_may_be_left_out, async |t| {
    let made = t
        .post(&t.core("configmaps"), json!({"metadata": {"name": "a"}}))
        .await
        .code(201);
    assert_eq!(made["kind"], "ConfigMap");
});

check!(a_namespace_that_does_not_exist_is_not_found, async |t| {
    let missing = t.cluster.name("missing");
    let status = t
        .post(
            &format!("/api/v1/namespaces/{missing}/configmaps"),
            config_map("a"),
        )
        .await;
    let status = status.fails(404, "NotFound", format!(r#"namespaces "{missing}" not found"#));
    assert_eq!(status["details"], json!({"name": missing, "kind": "namespaces"}));
});

check!(a_resource_version_on_create_is_refused, async |t| {
    let mut object = config_map("a");
    object["metadata"]["resourceVersion"] = json!("5");
    t.post(&t.core("configmaps"), object).await.fails(
        500,
        "",
        "resourceVersion should not be set on objects to be created",
    );
});

check!(uid_time_and_generation_of_the_body_are_overwritten, async |t| {
    let mut object = deployment("a");
    object["metadata"]["uid"] = json!("11111111-2222-3333-4444-555555555555");
    object["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
    object["metadata"]["generation"] = json!(7);
    object["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    object["metadata"]["selfLink"] = json!("/x");
    let made = t.create(&t.group("apps/v1", "deployments"), object).await;
    assert_ne!(made["metadata"]["uid"], "11111111-2222-3333-4444-555555555555");
    assert_ne!(made["metadata"]["creationTimestamp"], "2001-01-01T00:00:00Z");
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["metadata"]["deletionTimestamp"], json!(null));
    assert_eq!(made["metadata"]["selfLink"], json!(null));
});

check!(a_dry_run_answers_like_a_create_and_stores_nothing, async |t| {
    let made = t
        .post(&format!("{}?dryRun=All", t.core("configmaps")), config_map("a"))
        .await
        .code(201);
    assert_eq!(made["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert_eq!(made["metadata"]["resourceVersion"], json!(null));
    t.get(&t.core("configmaps/a"))
        .await
        .fails(404, "NotFound", r#"configmaps "a" not found"#);
});

check!(a_dry_run_of_another_kind_than_all_is_invalid, async |t| {
    let reply = t
        .post(&format!("{}?dryRun=Some", t.core("configmaps")), config_map("a"))
        .await;
    let message = r#"CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All""#;
    reply.fails(422, "Invalid", message);
});

check!(a_body_in_yaml_is_accepted, async |t| {
    let yaml = b"metadata:\n  name: a\ndata:\n  key: value\n".to_vec();
    let reply = t
        .send(
            Method::POST,
            &t.core("configmaps"),
            &[("content-type", "application/yaml")],
            yaml,
        )
        .await;
    assert_eq!(reply.code(201)["data"], json!({"key": "value"}));
});

check!(create_with_a_name_in_the_path_is_not_allowed, async |t| {
    let reply = t.post(&t.core("configmaps/a"), config_map("a")).await;
    let status = reply.fails(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    );
    assert_eq!(status["details"], json!({}));
});

check!(an_empty_body_is_a_bad_request, async |t| {
    let reply = t
        .send(
            Method::POST,
            &t.core("configmaps"),
            &[("content-type", "application/json")],
            Vec::new(),
        )
        .await;
    let message = concat!(
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; ",
        "json parse error: unexpected end of JSON input (<empty>)"
    );
    reply.fails(400, "BadRequest", message);
});
