//! Managed fields of a custom resource whose definition changed how lists and maps are owned. The results are those of
//! a real API server (v1.35) whose CustomResourceDefinition was changed between the applies.

use model::{Value, value};
use smd::managed::{ApplyError, OnConflict, Origin, Reset, Typing, Write, apply};
use smd::schema::{Gvk, UnknownFields};
use smd::{Schema, TypeRef};

const API_VERSION: &str = "smd.example.com/v1";

#[derive(Clone, Copy)]
enum Owned {
    ByPart,
    AsAWhole,
}

fn schema(owned: Owned) -> Schema {
    let (map, list) = match owned {
        Owned::ByPart => ("granular", "set"),
        Owned::AsAWhole => ("atomic", "atomic"),
    };
    let text = value!({ "type": "string" });
    let schema = value!({
        "type": "object",
        "properties": { "spec": { "type": "object", "properties": {
            "map": {
                "type": "object",
                "x-kubernetes-map-type": map,
                "additionalProperties": (text.clone()),
            },
            "struct": {
                "type": "object",
                "x-kubernetes-map-type": map,
                "properties": { "a": (text.clone()), "b": (text.clone()) },
            },
            "list": { "type": "array", "x-kubernetes-list-type": list, "items": (text.clone()) },
            "other": text,
        } } },
    });
    Schema::from_structural(Some(&schema), gvk(), UnknownFields::Prune, &Schema::builtin())
}

fn gvk() -> Gvk {
    Gvk {
        group: "smd.example.com".into(),
        version: "v1".into(),
        kind: "Cog".into(),
    }
}

fn applied(
    schema: &Schema,
    live: Option<&Value>,
    manager: &str,
    spec: Value,
    force: OnConflict,
) -> Result<Value, ApplyError> {
    let typing = Typing {
        ty: TypeRef::new(schema, schema.kinds[&gvk()]),
        api_version: API_VERSION,
        kind: "Cog",
        origin: Origin::Custom,
        other_versions: &[],
    };
    let config =
        value!({ "apiVersion": API_VERSION, "kind": "Cog", "metadata": { "name": "c" }, "spec": spec });
    let write = Write {
        manager,
        subresource: "",
        reset: &Reset::Nothing,
        now: "2026-01-01T00:00:00Z",
    };
    apply(&typing, live, &config, &write, force)
}

/// Each manager with its fields.
fn owners(object: &Value) -> Vec<String> {
    let entries = object.list_at(&["metadata", "managedFields"]).iter();
    let line = |entry: &Value| {
        let fields = smd::FieldSet::from_value(entry.get("fieldsV1").unwrap()).unwrap();
        format!("{} {}", entry.str_at(&["manager"]), fields.to_json())
    };
    entries.map(line).collect()
}

#[test]
fn owners_of_parts_become_owners_of_the_whole() {
    let (parts, whole) = (schema(Owned::ByPart), schema(Owned::AsAWhole));
    let mine = || value!({ "map": { "x": "1" }, "struct": { "a": "1" }, "list": ["p"] });
    let yours = value!({ "map": { "y": "1" }, "struct": { "b": "1" }, "list": ["q"] });
    let live = applied(&parts, None, "m1", mine(), OnConflict::Fail).unwrap();
    let live = applied(&parts, Some(&live), "m2", yours, OnConflict::Fail).unwrap();
    assert_eq!(
        owners(&live)[1],
        r#"m2 {"f:spec":{"f:list":{"v:\"q\"":{}},"f:map":{"f:y":{}},"f:struct":{"f:b":{}}}}"#
    );

    let live = applied(
        &whole,
        Some(&live),
        "m3",
        value!({ "other": "z" }),
        OnConflict::Fail,
    )
    .unwrap();
    let all = r#"{"f:spec":{"f:list":{},"f:map":{},"f:struct":{}}}"#;
    let other = r#"m3 {"f:spec":{"f:other":{}}}"#.to_owned();
    assert_eq!(
        owners(&live),
        [format!("m1 {all}"), format!("m2 {all}"), other.clone()]
    );

    let conflicts = applied(&whole, Some(&live), "m1", mine(), OnConflict::Fail).unwrap_err();
    let message =
        "Apply failed with 3 conflicts: conflicts with \"m2\":\n- .spec.list\n- .spec.map\n- .spec.struct";
    assert_eq!(conflicts.to_string(), message);

    let live = applied(&whole, Some(&live), "m1", mine(), OnConflict::Force).unwrap();
    assert_eq!(owners(&live), [format!("m1 {all}"), other]);
    assert_eq!(live.get("spec").unwrap().get("map"), Some(&value!({ "x": "1" })));
}

#[test]
fn owners_of_the_whole_stay_so_until_they_apply_again() {
    let (parts, whole) = (schema(Owned::ByPart), schema(Owned::AsAWhole));
    let mine = || value!({ "map": { "x": "1" }, "struct": { "a": "1" }, "list": ["p"] });
    let live = applied(&whole, None, "m1", mine(), OnConflict::Fail).unwrap();
    let live = applied(
        &parts,
        Some(&live),
        "m2",
        value!({ "other": "z" }),
        OnConflict::Fail,
    )
    .unwrap();
    assert_eq!(
        owners(&live)[0],
        r#"m1 {"f:spec":{"f:list":{},"f:map":{},"f:struct":{}}}"#
    );
    let live = applied(&parts, Some(&live), "m1", mine(), OnConflict::Fail).unwrap();
    let by_part = r#"m1 {"f:spec":{"f:list":{"v:\"p\"":{}},"f:map":{"f:x":{}},"f:struct":{"f:a":{}}}}"#;
    assert_eq!(owners(&live)[0], by_part);
    let live = applied(
        &parts,
        Some(&live),
        "m1",
        value!({ "map": { "y": "1" } }),
        OnConflict::Fail,
    )
    .unwrap();
    assert_eq!(
        live.get("spec"),
        Some(&value!({ "map": { "y": "1" }, "other": "z" }))
    );
}

#[test]
fn a_version_that_a_definition_no_longer_has_is_an_error() {
    let schema = schema(Owned::ByPart);
    let mut live = applied(&schema, None, "m1", value!({ "other": "z" }), OnConflict::Fail).unwrap();
    let entry = live
        .at_mut(&["metadata", "managedFields"])
        .and_then(Value::as_array_mut)
        .unwrap();
    entry[0].set_at(&["apiVersion"], "smd.example.com/v0");
    let error = applied(
        &schema,
        Some(&live),
        "m2",
        value!({ "other": "z" }),
        OnConflict::Fail,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "request to convert CR to an invalid group/version: smd.example.com/v0"
    );
}
