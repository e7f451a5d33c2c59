//! Objects of custom resources: defaults, pruning, validation.

use conformance::objects::{definition, widget};
use conformance::{Patch, Test, check};
use serde_json::{Value, json};

/// A definition whose objects have this schema of their spec, and the path of its objects.
async fn defined(t: &Test, spec: Value) -> (String, String) {
    let group = t.cluster.name("example.com");
    let mut object = definition(&group);
    let properties =
        json!({"spec": spec, "status": {"type": "object", "properties": {"ok": {"type": "boolean"}}}});
    object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = properties;
    t.cluster.establish(&object).await;
    let path = t.group(&format!("{group}/v1"), "widgets");
    (group, path)
}

/// Each of these specs is refused with its message, which follows "is invalid: ".
async fn refused(t: &Test, schema: Value, cases: &[(Value, &str)]) {
    let (group, path) = defined(t, schema).await;
    for (spec, message) in cases {
        let message = format!("Widget.{group} \"a\" is invalid: {message}");
        t.post(&path, widget(&group, "a", spec.clone()))
            .await
            .fails(422, "Invalid", message);
    }
}

check!(defaults_fill_what_is_missing, async |t| {
    let schema = json!({"type": "object", "properties": {
        "mode": {"type": "string", "default": "x"},
        "nested": {"type": "object", "default": {}, "properties": {"depth": {"type": "integer", "default": 5}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}},
    }});
    let (group, path) = defined(t, schema).await;
    let made = t
        .create(&path, widget(&group, "a", json!({"list": [{}, {"n": 2}]})))
        .await;
    assert_eq!(
        made["spec"],
        json!({"mode": "x", "nested": {"depth": 5}, "list": [{"n": 1}, {"n": 2}]})
    );
    let made = t
        .create(&path, widget(&group, "b", json!({"mode": null, "nested": null})))
        .await;
    assert_eq!(
        made["spec"],
        json!({"mode": "x", "nested": {"depth": 5}}),
        "null counts as missing"
    );
});

check!(unknown_fields_are_pruned, async |t| {
    let schema = json!({"type": "object", "properties": {
        "known": {"type": "integer"},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let (group, path) = defined(t, schema).await;
    let spec = json!({"known": 1, "junk": 2, "free": {"any": [1, {"x": null}]}, "labels": {"a": "b"}});
    let mut object = widget(&group, "a", spec);
    object["extra"] = json!(1);
    let reply = t.post(&path, object.clone()).await;
    assert_eq!(
        reply.warnings(),
        [r#"unknown field "extra""#, r#"unknown field "spec.junk""#]
    );
    let made = reply.code(201);
    assert_eq!(
        made["spec"],
        json!({"known": 1, "free": {"any": [1, {"x": null}]}, "labels": {"a": "b"}})
    );
    assert_eq!(made["extra"], json!(null));
    let message = concat!(
        r#"Widget in version "v1" cannot be handled as a Widget: strict decoding error: "#,
        r#"unknown field "extra", unknown field "spec.junk""#
    );
    t.post(&format!("{path}?fieldValidation=Strict"), object)
        .await
        .fails(400, "BadRequest", message);
});

check!(numbers_are_checked, async |t| {
    let schema = json!({"type": "object", "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 9},
        "half": {"type": "number", "multipleOf": 0.5},
    }});
    let cases = [
        (
            json!({"size": 0}),
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
        ),
        (
            json!({"size": 10}),
            "spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9",
        ),
        (
            json!({"half": 0.3}),
            "spec.half: Invalid value: 0.3: spec.half in body should be a multiple of 0.5",
        ),
    ];
    refused(t, schema, &cases).await;
});

check!(strings_are_checked, async |t| {
    let schema = json!({"type": "object", "properties": {
        "mode": {"type": "string", "enum": ["x", "y"]},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "short": {"type": "string", "maxLength": 3, "minLength": 2},
        "time": {"type": "string", "format": "date-time"},
    }});
    let cases = [
        (
            json!({"mode": "z"}),
            r#"spec.mode: Unsupported value: "z": supported values: "x", "y""#,
        ),
        (
            json!({"name": "A"}),
            r#"spec.name: Invalid value: "A": spec.name in body should match '^[a-z]+$'"#,
        ),
        (
            json!({"short": "long"}),
            "spec.short: Too long: may not be more than 3 bytes",
        ),
        (
            json!({"short": "s"}),
            r#"spec.short: Invalid value: "s": spec.short in body should be at least 2 chars long"#,
        ),
        (
            json!({"time": "x"}),
            r#"spec.time: Invalid value: "x": spec.time in body must be of type date-time: "x""#,
        ),
    ];
    refused(t, schema, &cases).await;
});

check!(types_are_checked, async |t| {
    let schema = json!({"type": "object", "properties": {
        "size": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "string"}},
        "either": {"x-kubernetes-int-or-string": true},
    }});
    let (group, path) = defined(t, schema).await;
    for (field, value, want, got) in [
        ("size", json!("x"), "integer", "string"),
        ("size", json!(1.5), "integer", "number"),
        ("list", json!("x"), "array", "string"),
        ("either", json!(true), "integer,string", "boolean"),
    ] {
        let message = format!(
            "Widget.{group} \"a\" is invalid: spec.{field}: Invalid value: \"{got}\": spec.{field} in body must be of type \
             {want}: \"{got}\""
        );
        t.post(&path, widget(&group, "a", json!({field: value})))
            .await
            .fails(422, "Invalid", message);
    }
});

check!(lists_are_checked, async |t| {
    let schema = json!({"type": "object", "properties": {
        "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "maxItems": 2},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}},
    }});
    let cases = [
        (json!({"set": ["a", "a"]}), r#"spec.set[1]: Duplicate value: "a""#),
        (
            json!({"set": ["a", "b", "c"]}),
            "spec.set: Too many: 3: must have at most 2 items",
        ),
        (
            json!({"map": [{"k": "a"}, {"k": "a"}]}),
            r#"spec.map[1]: Duplicate value: {"k":"a"}"#,
        ),
        (json!({"map": [{}]}), "spec.map[0].k: Required value"),
    ];
    refused(t, schema, &cases).await;
});

check!(a_required_field_is_required, async |t| {
    let schema = json!({"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}});
    let message = "spec.size: Required value";
    refused(
        t,
        schema,
        &[(json!({}), message), (json!({"size": null}), message)],
    )
    .await;
});

check!(rules_are_evaluated, async |t| {
    let schema = json!({"type": "object", "properties": {"size": {"type": "integer"}, "mode": {"type": "string", "default": "x"}},
    "x-kubernetes-validations": [
        {"rule": "self.size < 8 || self.mode == 'y'", "message": "big needs y"},
        {"rule": "self.size != 7", "messageExpression": "'not seven'", "reason": "FieldValueForbidden", "fieldPath": ".size"},
        {"rule": "self.size > 0"},
    ]});
    let cases = [
        (json!({"size": 9}), "spec: Invalid value: big needs y"),
        (json!({"size": 7}), "spec.size: Forbidden: not seven"),
        (
            json!({"size": 0}),
            "spec: Invalid value: failed rule: self.size > 0",
        ),
    ];
    refused(t, schema, &cases).await;
});

check!(rules_wait_until_the_values_are_valid, async |t| {
    let schema = json!({"type": "object", "properties": {"size": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.size > 0"}]});
    let message = "[spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\", <nil>: Invalid \
        value: null: some validation rules were not checked because the object was invalid; correct the existing errors to \
        complete validation]";
    refused(t, schema, &[(json!({"size": "x"}), message)]).await;
});

check!(rules_compare_with_the_old_object, async |t| {
    let rule = json!([{"rule": "self == oldSelf", "message": "name is immutable"}]);
    let schema = json!({"type": "object", "properties": {"name": {"type": "string", "x-kubernetes-validations": rule}}});
    let (group, path) = defined(t, schema).await;
    t.create(&path, widget(&group, "a", json!({"name": "x"}))).await;
    let path = format!("{path}/a");
    let message =
        format!("Widget.{group} \"a\" is invalid: spec.name: Invalid value: \"y\": name is immutable");
    t.patch(&path, Patch::Merge, json!({"spec": {"name": "y"}}))
        .await
        .fails(422, "Invalid", message);
    t.patch(&path, Patch::Merge, json!({"metadata": {"labels": {"l": "1"}}}))
        .await
        .code(200);
});

check!(kind_and_version_are_needed, async |t| {
    let (group, path) = defined(t, json!({"type": "object"})).await;
    let mut object = widget(&group, "a", json!({}));
    object["apiVersion"] = json!(format!("{group}/v2"));
    let message = format!(
        "the API version in the data ({group}/v2) does not match the expected API version ({group}/v1)"
    );
    t.post(&path, object).await.fails(400, "BadRequest", message);
    let mut object = widget(&group, "a", json!({}));
    object["kind"] = json!("Other");
    let message = format!("Other.{group} \"a\" is invalid: kind: Invalid value: \"Other\": must be Widget");
    t.post(&path, object).await.fails(422, "Invalid", message);
});

check!(generation_counts_changes_outside_metadata_and_status, async |t| {
    let (group, path) = defined(
        t,
        json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
    )
    .await;
    let made = t.create(&path, widget(&group, "a", json!({"n": 1}))).await;
    assert_eq!(made["metadata"]["generation"], 1);
    let path = format!("{path}/a");
    let made = t
        .patch(&path, Patch::Merge, json!({"metadata": {"labels": {"l": "1"}}}))
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 1);
    let made = t
        .patch(&path, Patch::Merge, json!({"spec": {"n": 2}}))
        .await
        .code(200);
    assert_eq!(made["metadata"]["generation"], 2);
});

check!(the_status_of_a_custom_resource_is_written_apart, async |t| {
    let (group, path) = defined(
        t,
        json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
    )
    .await;
    let mut object = widget(&group, "a", json!({"n": 1}));
    object["status"] = json!({"ok": true});
    let made = t.create(&path, object).await;
    assert_eq!(made["status"], json!(null));
    let path = format!("{path}/a");
    let both = json!({"spec": {"n": 2}, "status": {"ok": true}, "metadata": {"labels": {"l": "1"}}});
    let made = t
        .patch(&format!("{path}/status"), Patch::Merge, both)
        .await
        .code(200);
    assert_eq!(
        (&made["spec"], &made["status"]),
        (&json!({"n": 1}), &json!({"ok": true}))
    );
    assert_eq!(
        (&made["metadata"]["generation"], &made["metadata"]["labels"]),
        (&json!(1), &json!(null))
    );
    let made = t
        .patch(&path, Patch::Merge, json!({"status": {"ok": false}}))
        .await
        .code(200);
    assert_eq!(made["status"], json!({"ok": true}));
    let message = format!(
        "Widget.{group} \"a\" is invalid: status.ok: Invalid value: \"string\": ok in body must be of type boolean: \
         \"string\""
    );
    let body = json!({"status": {"ok": "yes"}});
    t.patch(&format!("{path}/status"), Patch::Merge, body)
        .await
        .fails(422, "Invalid", message);
});

check!(keyed_lists_of_custom_resources_are_applied_by_key, async |t| {
    let schema = json!({"type": "object", "properties": {
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}},
        "list": {"type": "array", "items": {"type": "string"}},
    }});
    let (group, path) = defined(t, schema).await;
    let path = format!("{path}/a");
    let one = widget(&group, "a", json!({"map": [{"k": "a", "v": 1}], "list": ["x"]}));
    t.apply(&path, "one", one).await.code(201);
    let made = t
        .apply(
            &path,
            "two",
            widget(&group, "a", json!({"map": [{"k": "b", "v": 2}]})),
        )
        .await
        .code(200);
    assert_eq!(
        made["spec"]["map"],
        json!([{"k": "a", "v": 1}, {"k": "b", "v": 2}])
    );
    let message = r#"Apply failed with 1 conflict: conflict with "one": .spec.list"#;
    let reply = t
        .apply(&path, "two", widget(&group, "a", json!({"list": ["x", "y"]})))
        .await;
    reply.fails(409, "Conflict", message);
    let message = format!(
        "failed to create typed patch object (/a; {group}/v1, Kind=Widget): .spec.junk: field not declared in schema"
    );
    t.apply(&path, "two", widget(&group, "a", json!({"junk": 1})))
        .await
        .fails(500, "", message);
});
