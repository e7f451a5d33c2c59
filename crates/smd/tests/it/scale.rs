//! Managed fields of the `scale` subresource, as a real API server (v1.35) had them after `kubectl scale`.

use model::{Value, json, value};
use smd::managed::{Origin, Replicas, Reset, Typing, Write, from_scale, to_scale, update};
use smd::{Path, Schema, TypeRef};

fn replicas() -> [Replicas; 1] {
    [Replicas {
        api_version: "apps/v1".into(),
        path: Some(Path::fields(&["spec", "replicas"])),
    }]
}

fn entry(manager: &str, operation: &str, fields: Value) -> Value {
    value!({
        "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "manager": manager,
        "operation": operation,
        "time": "2026-01-01T00:00:00Z",
    })
}

/// Writes the scale of an object with the managed fields `parent`, and returns those it has afterwards.
fn scaled(parent: &[Value], manager: &str, before: i64, after: i64) -> Vec<Value> {
    let schema = Schema::builtin();
    let typing = Typing {
        ty: TypeRef::new(&schema, schema.kind("autoscaling", "v1", "Scale").unwrap()),
        api_version: "autoscaling/v1",
        kind: "Scale",
        origin: Origin::BuiltIn,
        other_versions: &[],
    };
    let scale = |count: i64| {
        value!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": { "name": "d", "uid": "u" },
            "spec": { "replicas": count },
        })
    };
    let mut live = scale(before);
    if let Some(entries) = to_scale(parent, &replicas()).unwrap() {
        live.set_at(&["metadata", "managedFields"], entries);
    }
    let write = Write {
        manager,
        subresource: "scale",
        reset: &Reset::Nothing,
        now: "2026-01-02T00:00:00Z",
    };
    let written = update(&typing, Some(&live), scale(after), &write);
    let entries = written.list_at(&["metadata", "managedFields"]);
    from_scale(parent, entries, "apps/v1", &replicas())
        .unwrap()
        .unwrap()
        .list_at(&[])
        .to_vec()
}

#[test]
fn scaling_takes_the_replicas_from_their_owner() {
    let fields = value!({ "f:spec": { "f:paused": {}, "f:replicas": {} } });
    let after = scaled(&[entry("kubectl-create", "Update", fields)], "kubectl", 1, 2);
    let mut left = entry(
        "kubectl-create",
        "Update",
        value!({ "f:spec": { "f:paused": {} } }),
    );
    let taken = json::parse(
        br#"{"apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}},"manager":"kubectl","operation":"Update","subresource":"scale"}"#,
    );
    assert_eq!(after, [taken.unwrap(), left.take()]);
}

#[test]
fn an_applier_keeps_replicas_that_do_not_change() {
    let parent = [entry("m", "Apply", value!({ "f:spec": { "f:replicas": {} } }))];
    assert_eq!(scaled(&parent, "kubectl", 2, 2), parent);
}

#[test]
fn fields_besides_the_replicas_are_not_shown_in_the_scale() {
    let parent = [entry("m", "Apply", value!({ "f:spec": { "f:paused": {} } }))];
    assert_eq!(to_scale(&parent, &replicas()).unwrap(), None);
}
