//! JSON patches.

use conformance::objects::{config_map, deployment};
use conformance::{Patch, Reply, Test, check};
use serde_json::{Value, json};

/// The server does not say what is wrong with an operation.
const REJECTED: &str = "the server rejected our request due to an error in our request";

async fn patch(t: &Test, body: Value) -> Reply {
    t.create(&t.core("configmaps"), config_map("a")).await;
    t.patch(&t.core("configmaps/a"), Patch::Json, body).await
}

check!(operations_are_done_in_order, async |t| {
    let body = json!([
        {"op": "add", "path": "/data/b", "value": "2"},
        {"op": "replace", "path": "/data/key", "value": "1"},
        {"op": "copy", "from": "/data/b", "path": "/data/c"},
        {"op": "move", "from": "/data/b", "path": "/data/d"},
        {"op": "test", "path": "/data/c", "value": "2"},
        {"op": "remove", "path": "/data/key"},
    ]);
    assert_eq!(
        patch(t, body).await.code(200)["data"],
        json!({"c": "2", "d": "2"})
    );
});

check!(a_slash_and_a_tilde_in_a_key_are_escaped, async |t| {
    let body = json!([{"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/annotations/example.com~1a~0b", "value": "1"}]);
    let made = patch(t, body).await;
    // A tilde is no part of an annotation's name, which the server says after it has understood the escape.
    let message = made.body["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains(r#"Invalid value: "example.com/a~b""#),
        "{message}"
    );
});

check!(list_elements_are_added_by_index_and_at_the_end, async |t| {
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"][0]["args"] = json!(["b"]);
    t.create(&t.group("apps/v1", "deployments"), object).await;
    let args = "/spec/template/spec/containers/0/args";
    let body = json!([
        {"op": "add", "path": format!("{args}/0"), "value": "a"},
        {"op": "add", "path": format!("{args}/-"), "value": "c"},
    ]);
    let made = t
        .patch(&t.group("apps/v1", "deployments/a"), Patch::Json, body)
        .await
        .code(200);
    assert_eq!(
        made["spec"]["template"]["spec"]["containers"][0]["args"],
        json!(["a", "b", "c"])
    );
});

check!(a_test_that_fails_makes_the_patch_invalid, async |t| {
    let body =
        json!([{"op": "test", "path": "/data/key", "value": "other"}, {"op": "remove", "path": "/data"}]);
    patch(t, body).await.fails(422, "Invalid", REJECTED);
    assert_eq!(
        t.get(&t.core("configmaps/a")).await.code(200)["data"],
        json!({"key": "value"})
    );
});

check!(removing_what_is_not_there_makes_the_patch_invalid, async |t| {
    patch(t, json!([{"op": "remove", "path": "/data/nosuch"}]))
        .await
        .fails(422, "Invalid", REJECTED);
});

check!(replacing_a_key_that_is_not_there_adds_it, async |t| {
    let made = patch(t, json!([{"op": "replace", "path": "/data/new", "value": "1"}]))
        .await
        .code(200);
    assert_eq!(made["data"], json!({"key": "value", "new": "1"}));
});

check!(
    adding_below_what_is_not_there_makes_the_patch_invalid,
    async |t| {
        let body = json!([{"op": "add", "path": "/metadata/labels/a", "value": "1"}]);
        patch(t, body).await.fails(422, "Invalid", REJECTED);
    }
);

check!(an_unknown_operation_makes_the_patch_invalid, async |t| {
    patch(t, json!([{"op": "jump", "path": "/data"}]))
        .await
        .fails(422, "Invalid", REJECTED);
});

check!(a_patch_that_is_no_list_is_a_bad_request, async |t| {
    patch(t, json!({"op": "remove", "path": "/data"})).await.fails(
        400,
        "BadRequest",
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
});

check!(
    a_patch_that_changes_nothing_keeps_the_resource_version,
    async |t| {
        let made = t.create(&t.core("configmaps"), config_map("a")).await;
        let body = json!([{"op": "replace", "path": "/data/key", "value": "value"}]);
        assert_eq!(
            t.patch(&t.core("configmaps/a"), Patch::Json, body)
                .await
                .code(200),
            made
        );
    }
);

check!(too_many_operations_are_refused, async |t| {
    let one = json!({"op": "add", "path": "/data/key", "value": "1"});
    patch(t, Value::Array(vec![one; 10_001])).await.fails(
        413,
        "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    );
});

check!(a_patch_of_a_missing_object_is_not_found, async |t| {
    let reply = t.patch(&t.core("configmaps/a"), Patch::Json, json!([])).await;
    reply.fails(404, "NotFound", r#"configmaps "a" not found"#);
});
