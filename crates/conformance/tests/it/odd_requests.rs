//! Requests that no client of ours makes, and what is said to them: odd paths, numbers, bodies and names.

use conformance::objects::{config_map, definition, pod, widget};
use conformance::{Patch, check};
use http::Method;
use serde_json::json;

const JSON: (&str, &str) = ("content-type", "application/json");
const NOT_ALLOWED: &str = "the server does not allow this method on the requested resource";

check!(head_is_not_served, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let paths = [
        t.core("configmaps"),
        t.core("configmaps/a"),
        "/api/v1".to_owned(),
        "/apis/apps/v1".to_owned(),
        "/version".to_owned(),
    ];
    for path in paths {
        let reply = t.send(Method::HEAD, &path, &[], Vec::new()).await;
        assert_eq!(reply.code, 405, "{path}");
        assert_eq!(reply.text, "", "{path}: an answer to HEAD has no body");
    }
    let reply = t.send(Method::HEAD, "/healthz", &[], Vec::new()).await;
    assert_eq!((reply.code, reply.text.as_str()), (200, ""));
});

check!(a_name_that_is_no_step_of_a_path_is_refused, async |t| {
    for (name, text, why) in [
        ("%2e%2e", "..", "may not be '..'"),
        ("%2E", ".", "may not be '.'"),
        ("a%25b", "a%b", "may not contain '%'"),
    ] {
        let message = format!("Name parameter invalid: \"{text}\": {why}");
        let path = t.core(&format!("configmaps/{name}"));
        t.get(&path).await.fails(400, "BadRequest", &message);
        t.delete(&path).await.fails(400, "BadRequest", &message);
        let reply = t.patch(&path, Patch::Merge, json!({})).await;
        reply.fails(400, "BadRequest", &message);
        let path = t.core(&format!("pods/{name}/status"));
        t.get(&path).await.fails(400, "BadRequest", &message);
    }
});

check!(an_encoded_slash_parts_a_path, async |t| {
    t.create(&t.core("pods"), pod("a")).await;
    let reply = t.get(&t.core("pods/a%2fstatus")).await;
    assert_eq!(reply.code(200)["metadata"]["name"], "a");
});

check!(a_path_with_an_empty_start_is_a_plain_404, async |t| {
    for path in [
        "//api//v1",
        "//api/v1/configmaps",
        "//version",
        "/apis//v1/configmaps",
    ] {
        let reply = t.get(path).await;
        assert_eq!(
            (reply.code, reply.text.as_str()),
            (404, "404 page not found\n"),
            "{path}"
        );
    }
});

check!(a_number_of_a_query_is_told_as_go_reads_it, async |t| {
    let big = "99999999999999999999";
    for (query, parsed, why) in [
        (format!("limit={big}"), big, "value out of range"),
        (format!("timeoutSeconds={big}"), big, "value out of range"),
        (
            "limit=-99999999999999999999".to_owned(),
            "-99999999999999999999",
            "value out of range",
        ),
        ("limit=1.5".to_owned(), "1.5", "invalid syntax"),
        ("limit=".to_owned(), "", "invalid syntax"),
        ("limit=%00".to_owned(), "\\x00", "invalid syntax"),
    ] {
        let message = format!("strconv.ParseInt: parsing \"{parsed}\": {why}");
        let reply = t.get(&t.core(&format!("configmaps?{query}"))).await;
        reply.fails(400, "BadRequest", message);
    }
    for (text, shown, why) in [
        (big, big, "value out of range"),
        ("%2B1", "+1", "invalid syntax"),
        ("x%00", "x\\x00", "invalid syntax"),
    ] {
        let message = format!(
            "invalid resource version: resourceVersion: Invalid value: \"{shown}\": strconv.ParseUint: parsing \"{shown}\": {why}"
        );
        let reply = t
            .get(&t.core(&format!("configmaps?resourceVersion={text}")))
            .await;
        reply.fails(400, "BadRequest", message);
    }
    let message = format!("strconv.ParseInt: parsing \"{big}\": value out of range");
    let reply = t
        .delete(&t.core(&format!("configmaps/a?gracePeriodSeconds={big}")))
        .await;
    reply.fails(400, "BadRequest", message);
});

check!(broken_options_of_a_deletion_are_told_by_themselves, async |t| {
    let of_struct = "couldn't get version/kind; json parse error: json: cannot unmarshal";
    let cases = [
        ("{", "couldn't get version/kind; json parse error: unexpected end of JSON input".to_owned()),
        (
            "x",
            "couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value".to_owned(),
        ),
        (
            "[]",
            format!(
                "{of_struct} array into Go value of type struct {{ APIVersion string \
                 \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
            ),
        ),
        (r#"{"kind":1}"#, format!("{of_struct} number into Go struct field .kind of type string")),
        (
            r#"{"kind":"Pod","apiVersion":"v1"}"#,
            "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\"".to_owned(),
        ),
        (
            r#"{"kind":"Status","apiVersion":"v1"}"#,
            "converting (v1.Status) to (v1.DeleteOptions): unknown conversion".to_owned(),
        ),
        (
            r#"{"gracePeriodSeconds":"a"}"#,
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64".to_owned(),
        ),
        (
            r#"{"preconditions":{"uid":1}}"#,
            "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID".to_owned(),
        ),
    ];
    for (body, message) in cases {
        let path = t.core("configmaps/a");
        let reply = t.send(Method::DELETE, &path, &[JSON], body.into()).await;
        reply.fails(400, "BadRequest", message);
    }
});

check!(
    options_in_the_body_of_a_deletion_hide_those_in_its_query,
    async |t| {
        t.create(&t.core("configmaps"), config_map("a")).await;
        let path = t.core("configmaps/a");
        let reply = t.delete_with(&path, json!({"dryRun": ["x"]})).await;
        reply.fails(
        422,
        "Invalid",
        "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: supported values: \"All\"",
    );
        let query = format!("{path}?propagationPolicy=odd&dryRun=All");
        t.delete_with(&query, json!({"propagationPolicy": "Background"}))
            .await
            .code(200);
        t.get(&path).await.code(404);
    }
);

check!(a_body_that_is_no_protobuf_is_a_bad_request, async |t| {
    let headers = [("content-type", "application/vnd.kubernetes.protobuf")];
    for (body, why) in [
        (&b""[..], "empty data (<empty>)"),
        (b"k8s\0", "empty body (6b387300)"),
        (
            b"abc",
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (616263)",
        ),
    ] {
        let reply = t
            .send(Method::POST, &t.core("configmaps"), &headers, body.to_vec())
            .await;
        let message = format!("the object provided is unrecognized (must be of type ConfigMap): {why}");
        reply.fails(400, "BadRequest", message);
    }
});

check!(names_in_messages_are_quoted_as_go_quotes, async |t| {
    for (name, quoted) in [("a%00b", r#""a\x00b""#), ("a%22b%0a", r#""a\"b\n""#)] {
        let path = t.core(&format!("configmaps/{name}"));
        t.get(&path)
            .await
            .fails(404, "NotFound", format!("configmaps {quoted} not found"));
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let path = format!("/api/v1/namespaces/{name}/configmaps");
        let reply = t.post(&path, body).await;
        reply.fails(404, "NotFound", format!("namespaces {quoted} not found"));
    }
});

check!(json_ends_with_its_line_unless_it_is_for_people, async |t| {
    t.create(&t.core("configmaps"), config_map("a")).await;
    let one = t.core("configmaps/a");
    for path in [
        one.as_str(),
        &t.core("configmaps"),
        &t.core("configmaps/b"),
        "/api",
        "/apis/apps/v1",
    ] {
        let reply = t.get(path).await;
        let lines = reply.text.matches('\n').count();
        assert!(reply.text.ends_with("}\n") && lines == 1, "{reply}");
    }
    for (query, people) in [
        ("pretty=true", true),
        ("pretty=1", true),
        ("pretty=T", true),
        ("pretty=zz", false),
        ("pretty=", false),
        ("pretty", false),
        ("pretty=false", false),
    ] {
        let reply = t.get(&format!("{one}?{query}")).await;
        assert_eq!(
            reply.text.starts_with("{\n  \"kind\": \"ConfigMap\",\n"),
            people,
            "{reply}"
        );
        assert_eq!(reply.text.ends_with('\n'), !people, "{reply}");
    }
    let curl = [("user-agent", "curl/8.5.0")];
    let reply = t.send(Method::GET, &one, &curl, Vec::new()).await;
    assert!(reply.text.starts_with("{\n"), "{reply}");
    let reply = t
        .send(Method::GET, &format!("{one}?pretty=0"), &curl, Vec::new())
        .await;
    assert!(reply.text.starts_with("{\""), "{reply}");
    let reply = t.get("/version").await;
    assert!(
        reply.text.starts_with("{\n  \"") && reply.text.ends_with("\n}"),
        "{reply}"
    );
});

check!(
    a_subresource_that_a_custom_resource_lacks_is_not_found_by_name,
    async |t| {
        let group = t.cluster.name("odd.dev");
        t.cluster.establish(&definition(&group)).await;
        let path = t.group(&format!("{group}/v1"), "widgets");
        t.create(&path, widget(&group, "w1", json!({}))).await;
        for part in ["scale", "other"] {
            let message = format!("widgets.{group} \"w1\" not found");
            let path = format!("{path}/w1/{part}");
            t.get(&path).await.fails(404, "NotFound", &message);
            let reply = t
                .patch(&path, Patch::Merge, json!({"spec": {"replicas": 2}}))
                .await;
            reply.fails(404, "NotFound", &message);
        }
    }
);

check!(
    what_a_subresource_of_pods_does_not_know_is_not_allowed,
    async |t| {
        t.create(&t.core("pods"), pod("a")).await;
        for part in ["resize", "ephemeralcontainers"] {
            let path = t.core(&format!("pods/a/{part}"));
            assert_eq!(t.get(&path).await.code(200)["kind"], "Pod");
            t.delete(&path).await.fails(405, "MethodNotAllowed", NOT_ALLOWED);
            t.post(&path, json!({}))
                .await
                .fails(405, "MethodNotAllowed", NOT_ALLOWED);
            let reply = t
                .patch(&t.core(&format!("pods/none/{part}")), Patch::Strategic, json!({}))
                .await;
            reply.fails(404, "NotFound", "pods \"none\" not found");
        }
    }
);

check!(
    a_version_or_kind_that_is_no_text_is_told_before_all_else,
    async |t| {
        let group = t.cluster.name("kinds.dev");
        t.cluster.establish(&definition(&group)).await;
        let path = t.group(&format!("{group}/v1"), "widgets");
        let why =
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field";
        for (path, kind) in [(t.core("configmaps"), "ConfigMap"), (path.clone(), "Widget")] {
            for field in ["kind", "apiVersion"] {
                let text = format!("{{\"{field}\":1}}");
                let reply = t.send(Method::POST, &path, &[JSON], text.clone().into()).await;
                let message = format!(
                    "the object provided is unrecognized (must be of type {kind}): {why} .{field} of type string ({text})"
                );
                reply.fails(400, "BadRequest", message);
            }
        }
        let reply = t.send(Method::POST, &path, &[JSON], b"{}".to_vec()).await;
        reply.fails(
        400,
        "BadRequest",
        "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{}' ({})",
    );
        t.create(&t.core("configmaps"), config_map("a")).await;
        let reply = t
            .patch(&t.core("configmaps/a"), Patch::Merge, json!({"kind": 1}))
            .await;
        let message = reply.code(422)["message"].as_str().unwrap().to_owned();
        assert!(
            message.ends_with(&format!("\": {why} .kind of type string")),
            "{message}"
        );
    }
);
