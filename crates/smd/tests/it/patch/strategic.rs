use std::sync::OnceLock;

use model::{Value, value};
use proptest::prelude::*;
use smd::patch::strategic::kustomize;
use smd::patch::{Error, strategic};
use smd::{Schema, TypeId};

use super::{any_object, any_value, check_recorded};

fn pod() -> (&'static Schema, TypeId) {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    let schema = SCHEMA.get_or_init(Schema::builtin);
    (schema, schema.kind("", "v1", "Pod").unwrap())
}

#[test]
fn results_and_errors_are_those_of_the_servers_library() {
    let (schema, pod) = pod();
    check_recorded(include_str!("cases/strategic.jsonl"), |object, patch| {
        strategic::apply(object, patch, schema, pod)
    });
}

#[test]
fn kustomize_has_its_own_reading() {
    let (schema, pod) = pod();
    check_recorded(include_str!("cases/kustomize.jsonl"), |object, patch| {
        *object = kustomize::merge(object.take(), patch, schema, Some(pod))?.unwrap_or_default();
        Ok(())
    });
}

fn patched(patch: Value) -> Result<Value, Error> {
    let (schema, pod) = pod();
    let mut object = value!({ "spec": { "containers": [
        { "name": "a", "image": "a" }, { "name": "b", "image": "b" }, { "name": "c", "image": "c" }
    ] } });
    strategic::apply(&mut object, &patch, schema, pod)?;
    Ok(object)
}

fn names(object: &Value) -> Vec<&str> {
    object
        .list_at(&["spec", "containers"])
        .iter()
        .map(|item| item.str_at(&["name"]))
        .collect()
}

#[test]
fn elements_of_the_patch_keep_its_order_and_the_others_theirs() {
    let object =
        patched(value!({ "spec": { "containers": [{ "name": "n" }, { "name": "c" }, { "name": "m" }] } }));
    assert_eq!(names(&object.unwrap()), ["n", "a", "b", "c", "m"]);
}

#[test]
fn failures_are_sorted_by_how_the_server_answers_them() {
    let spec = |spec: Value| patched(value!({ "spec": spec })).unwrap_err();
    assert_eq!(
        spec(value!({ "containers": [{ "image": "q" }] })),
        Error::Failed("map: map[image:q] does not contain declared merge key: name".into())
    );
    assert_eq!(
        spec(value!({ "$retainKeys": ["containers"], "priority": 1 })),
        Error::BadRequest("invalid patch format of retainKeys".into())
    );
    assert_eq!(
        patched(value!([])).unwrap_err(),
        Error::BadRequest(
            "json: cannot unmarshal array into Go value of type map[string]interface {}".into()
        )
    );
}

#[test]
fn a_list_as_long_as_a_request_can_carry_is_merged_in_no_time() {
    let (schema, pod) = pod();
    let containers = |start: i64| -> Value {
        (start..start + 60_000)
            .map(|n| value!({ "name": (n.to_string()), "image": "x" }))
            .collect()
    };
    let mut object = value!({ "spec": { "containers": (containers(0)) } });
    let patch = value!({ "spec": { "containers": (containers(30_000)) } });
    strategic::apply(&mut object, &patch, schema, pod).unwrap();
    assert_eq!(object.list_at(&["spec", "containers"]).len(), 90_000);
}

proptest! {
    #[test]
    fn any_patch_of_any_object_ends_without_a_panic(
        spec in any_value(), patch in any_value(), list in any_value(), order in any_value()
    ) {
        let (schema, pod) = pod();
        let mut object = value!({ "spec": { "containers": list, "nodeSelector": spec } });
        let patch = value!({ "spec": {
            "containers": (patch.clone()), "$setElementOrder/containers": order, "nodeSelector": patch
        } });
        let _ = strategic::apply(&mut object, &patch, schema, pod);
    }

    #[test]
    fn the_empty_patch_changes_nothing(object in any_object()) {
        let (schema, pod) = pod();
        let mut patched = object.clone();
        strategic::apply(&mut patched, &value!({}), schema, pod).unwrap();
        prop_assert_eq!(patched, object);
    }
}
