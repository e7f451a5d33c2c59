//! What is said to malformed and unusual requests.

use conformance::check;
use conformance::objects::config_map;
use http::Method;
use serde_json::json;

const JSON: (&str, &str) = ("content-type", "application/json");

check!(an_unknown_path_is_a_plain_404, async |t| {
    let reply = t.get("/nosuchpath").await;
    assert_eq!((reply.code, reply.text.as_str()), (404, "404 page not found\n"));
});

check!(a_method_that_is_not_served_is_not_allowed, async |t| {
    let message = "the server does not allow this method on the requested resource";
    t.put(&t.core("configmaps"), config_map("a"))
        .await
        .fails(405, "MethodNotAllowed", message);
    t.send(Method::PATCH, &t.core("configmaps"), &[JSON], b"{}".to_vec())
        .await
        .fails(405, "MethodNotAllowed", message);
});

check!(malformed_json_is_a_bad_request, async |t| {
    let reply = t
        .send(
            Method::POST,
            &t.core("configmaps"),
            &[JSON],
            br#"{"metadata":{"name":"a"}"#.to_vec(),
        )
        .await;
    reply.fails(
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json \
        parse error: unexpected end of JSON input ({\"metadata\":{\"name\":\"a\"})",
    );
    let reply = t
        .send(Method::POST, &t.core("configmaps"), &[JSON], b"[]".to_vec())
        .await;
    reply.fails(
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json \
        parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \
        \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)",
    );
    let reply = t
        .send(Method::POST, &t.core("configmaps"), &[JSON], b"hello".to_vec())
        .await;
    reply.fails(
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json \
        parse error: invalid character 'h' looking for beginning of value (68656c6c6f)",
    );
});

check!(malformed_yaml_is_a_bad_request, async |t| {
    let headers = [("content-type", "application/yaml")];
    let reply = t
        .send(Method::POST, &t.core("configmaps"), &headers, b"a: [".to_vec())
        .await;
    reply.fails(
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): yaml: line 1: did not find \
        expected node content (613a205b)",
    );
});

check!(a_value_of_the_wrong_type_is_a_bad_request, async |t| {
    let object = json!({"metadata": {"name": "a"}, "data": {"key": 1}});
    t.post(&t.core("configmaps"), object).await.fails(
        400,
        "BadRequest",
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into \
        Go struct field ConfigMap.data of type string",
    );
    let mut object = conformance::objects::deployment("a");
    object["spec"]["replicas"] = json!("three");
    t.post(&t.group("apps/v1", "deployments"), object).await.fails(
        400,
        "BadRequest",
        "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string \
        into Go struct field DeploymentSpec.spec.replicas of type int32",
    );
});

check!(an_unknown_media_type_of_the_body_is_unsupported, async |t| {
    let headers = [("content-type", "text/plain")];
    let reply = t
        .send(Method::POST, &t.core("configmaps"), &headers, b"{}".to_vec())
        .await;
    reply.fails(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: \
        application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
});

check!(an_unknown_media_type_of_a_patch_is_unsupported, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let reply = t
        .send(Method::PATCH, &t.core("configmaps/a"), &[JSON], b"{}".to_vec())
        .await;
    reply.fails(415, "UnsupportedMediaType", "415: Unsupported Media Type");
});

check!(a_media_type_that_cannot_be_written_is_not_acceptable, async |t| {
    let reply = t.get_as(&t.core("configmaps"), "text/html").await;
    reply.fails(
        406,
        "NotAcceptable",
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
        application/vnd.kubernetes.protobuf, application/json;stream=watch, \
        application/vnd.kubernetes.protobuf;stream=watch",
    );
});

check!(an_oversized_body_is_too_large, async |t| {
    let mut object = config_map("a");
    object["data"]["key"] = json!("x".repeat(3 * 1024 * 1024 + 1));
    let reply = t.post(&t.core("configmaps"), object).await;
    reply.fails(
        413,
        "RequestEntityTooLarge",
        "Request entity too large: limit is 3145728",
    );
});

check!(an_oversized_config_map_is_invalid, async |t| {
    let mut object = config_map("a");
    object["data"]["key"] = json!("x".repeat(1024 * 1024 + 1));
    let message = r#"ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes"#;
    t.post(&t.core("configmaps"), object)
        .await
        .fails(422, "Invalid", message);
});

check!(deep_nesting_is_refused, async |t| {
    let mut text = br#"{"metadata":{"name":"a"},"data":"#.to_vec();
    text.extend(std::iter::repeat_n(b'[', 20_000));
    text.extend(std::iter::repeat_n(b']', 20_000));
    text.push(b'}');
    let reply = t.send(Method::POST, &t.core("configmaps"), &[JSON], text).await;
    reply.fails(
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json \
        parse error: invalid character '[' exceeded max depth ({\"metadata\":{\"name\":\"a\"},\"data ...)",
    );
});

check!(a_malformed_query_parameter_is_a_bad_request, async |t| {
    t.get(&format!("{}?limit=many", t.core("configmaps")))
        .await
        .fails(
            400,
            "BadRequest",
            r#"strconv.ParseInt: parsing "many": invalid syntax"#,
        );
});

check!(an_unknown_query_parameter_is_ignored, async |t| {
    t.get(&format!("{}?nosuch=1", t.core("configmaps")))
        .await
        .code(200);
});

check!(a_path_segment_that_is_no_name_is_not_found, async |t| {
    t.get(&t.core("configmaps/UPPER_case")).await.fails(
        404,
        "NotFound",
        r#"configmaps "UPPER_case" not found"#,
    );
});

check!(every_answer_names_an_audit_id, async |t| {
    assert!(!t.get("/api/v1").await.header("audit-id").is_empty());
});

check!(
    a_cluster_scoped_kind_is_not_served_within_a_namespace,
    async |t| {
        let message = "the server could not find the requested resource";
        t.get(&t.core("nodes")).await.fails(404, "NotFound", message);
    }
);
