//! Unknown and duplicate fields.

use conformance::objects::{config_map, deployment};
use conformance::{Patch, check};
use http::Method;
use serde_json::{Value, json};

fn odd() -> Value {
    let mut object = deployment("a");
    object["spec"]["foo"] = json!(1);
    object["spec"]["template"]["spec"]["containers"][0]["bar"] = json!(1);
    object["metadata"]["baz"] = json!(1);
    object
}

const JSON: (&str, &str) = ("content-type", "application/json");

check!(strict_refuses_unknown_fields, async |t| {
    let path = format!("{}?fieldValidation=Strict", t.group("apps/v1", "deployments"));
    let message = concat!(
        r#"Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: "#,
        r#"unknown field "metadata.baz", unknown field "spec.foo", unknown field "spec.template.spec.containers[0].bar""#
    );
    t.post(&path, odd()).await.fails(400, "BadRequest", message);
});

check!(warn_is_the_default_and_names_unknown_fields, async |t| {
    for query in ["", "&fieldValidation=Warn"] {
        let path = format!("{}?dryRun=All{query}", t.group("apps/v1", "deployments"));
        let reply = t.post(&path, odd()).await;
        let expected = [
            r#"unknown field "metadata.baz""#,
            r#"unknown field "spec.foo""#,
            r#"unknown field "spec.template.spec.containers[0].bar""#,
        ];
        assert_eq!(reply.warnings(), expected);
        assert_eq!(
            reply.code(201)["spec"]["foo"],
            json!(null),
            "an unknown field is dropped"
        );
    }
});

check!(the_warning_header_has_code_299, async |t| {
    let reply = t
        .post(
            &format!("{}?dryRun=All", t.core("configmaps")),
            json!({"metadata": {"name": "a"}, "x": 1}),
        )
        .await;
    assert_eq!(reply.header("warning"), r#"299 - "unknown field \"x\"""#);
});

check!(ignore_says_nothing, async |t| {
    let path = format!(
        "{}?dryRun=All&fieldValidation=Ignore",
        t.group("apps/v1", "deployments")
    );
    let reply = t.post(&path, odd()).await;
    assert_eq!(reply.warnings(), [""; 0]);
    reply.code(201);
});

check!(another_directive_is_invalid, async |t| {
    let path = format!("{}?fieldValidation=Perhaps", t.core("configmaps"));
    let message = concat!(
        r#"CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Perhaps": "#,
        r#"supported values: "", "Ignore", "Strict", "Warn""#
    );
    t.post(&path, config_map("a"))
        .await
        .fails(422, "Invalid", message);
});

check!(field_names_are_case_sensitive, async |t| {
    let path = format!("{}?fieldValidation=Strict", t.core("configmaps"));
    let message = r#"ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "Data""#;
    let object = json!({"metadata": {"name": "a"}, "Data": {"k": "v"}});
    t.post(&path, object).await.fails(400, "BadRequest", message);
});

check!(strict_refuses_duplicate_fields, async |t| {
    let path = format!("{}?fieldValidation=Strict", t.core("configmaps"));
    let body = br#"{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}"#.to_vec();
    let message = r#"ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.k""#;
    t.send(Method::POST, &path, &[JSON], body)
        .await
        .fails(400, "BadRequest", message);
});

check!(strict_refuses_duplicate_fields_of_yaml, async |t| {
    let path = format!("{}?fieldValidation=Strict", t.core("configmaps"));
    let body = b"metadata:\n  name: a\ndata:\n  k: \"1\"\n  k: \"2\"\n".to_vec();
    let message = concat!(
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n",
        "  line 5: key \"k\" already set in map"
    );
    let headers = [("content-type", "application/yaml")];
    t.send(Method::POST, &path, &headers, body)
        .await
        .fails(400, "BadRequest", message);
});

check!(the_last_of_duplicate_fields_wins, async |t| {
    let body = br#"{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}"#.to_vec();
    let reply = t.send(Method::POST, &t.core("configmaps"), &[JSON], body).await;
    assert_eq!(reply.warnings(), [r#"duplicate field "data.k""#]);
    assert_eq!(reply.code(201)["data"], json!({"k": "2"}));
});

check!(a_put_is_validated_alike, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let mut object = config_map("a");
    object["x"] = json!(1);
    let path = format!("{}?fieldValidation=Strict", t.core("configmaps/a"));
    let message = r#"ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "x""#;
    t.put(&path, object).await.fails(400, "BadRequest", message);
});

check!(a_strict_merge_patch_with_unknown_fields_is_invalid, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let path = format!("{}?fieldValidation=Strict", t.core("configmaps/a"));
    let reply = t.patch(&path, Patch::Merge, json!({"x": 1})).await;
    // The message carries the whole patched object.
    let text = reply.body["message"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with(r#" "" is invalid: patch: Invalid value: "{"#),
        "{text}"
    );
    assert!(
        text.ends_with(r#"}": strict decoding error: unknown field "x""#),
        "{text}"
    );
    let status = reply.fails(422, "Invalid", text);
    assert_eq!(status["details"]["causes"][0]["field"], "patch");
});

check!(
    a_strict_strategic_patch_with_unknown_fields_is_invalid,
    async |t| {
        t.create(&t.core("configmaps"), config_map("a")).await;
        let path = format!("{}?fieldValidation=Strict", t.core("configmaps/a"));
        let message =
            r#" "" is invalid: patch: Invalid value: "map[x:1]": strict decoding error: unknown field "x""#;
        t.patch(&path, Patch::Strategic, json!({"x": 1}))
            .await
            .fails(422, "Invalid", message);
    }
);

check!(a_patch_with_unknown_fields_is_warned_of, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let reply = t
        .patch(&t.core("configmaps/a"), Patch::Merge, json!({"x": 1}))
        .await;
    assert_eq!(reply.warnings(), [r#"unknown field "x""#]);
    reply.code(200);
});

check!(an_unknown_member_of_a_json_patch_is_warned_of, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let body = json!([{"op": "add", "path": "/data/x", "value": "1", "why": "because"}]);
    let reply = t.patch(&t.core("configmaps/a"), Patch::Json, body).await;
    assert_eq!(reply.warnings(), [r#"json patch unknown field "[0].why""#]);
    reply.code(200);
});

check!(a_strict_apply_refuses_duplicate_fields, async |t| {
    let path = format!(
        "{}?fieldValidation=Strict&fieldManager=one",
        t.core("configmaps/a")
    );
    let body =
        b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: \"1\"\n  k: \"2\"\n".to_vec();
    let message = concat!(
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n",
        "  line 7: key \"k\" already set in map"
    );
    let headers = [("content-type", Patch::Apply.media_type())];
    t.send(Method::PATCH, &path, &headers, body)
        .await
        .fails(400, "BadRequest", message);
});

check!(a_deprecated_resource_is_warned_of, async |t| {
    let reply = t.get(&t.core("endpoints")).await;
    let expected = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
    assert_eq!(reply.warnings(), [expected]);
});
