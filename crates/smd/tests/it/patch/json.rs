use model::value;
use proptest::prelude::*;
use smd::patch::json::{Limits, Patch};
use smd::patch::{Checking, Error};

use super::{any_value, check_recorded, parse};

fn read(patch: &str) -> Result<(Patch, Vec<String>), Error> {
    Patch::read(&parse(patch), Checking::Strict, Limits::SERVER)
}

#[test]
fn results_and_errors_are_those_of_the_servers_library() {
    check_recorded(include_str!("cases/json.jsonl"), |object, patch| {
        Patch::read(patch, Checking::Lax, Limits::SERVER)?.0.apply(object)
    });
}

#[test]
fn what_is_no_list_of_operations_is_a_bad_request() {
    let cases = [
        (
            "{}",
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "\"x\"",
            "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "[1]",
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            r#"[{"op":1,"path":"/a"}]"#,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
    ];
    for (patch, text) in cases {
        assert_eq!(
            read(patch).unwrap_err(),
            Error::BadRequest(text.into()),
            "{patch}"
        );
    }
    let lax = Patch::read(&value!({}), Checking::Lax, Limits::SERVER).unwrap_err();
    let text = "json: cannot unmarshal object into Go value of type jsonpatch.Patch";
    assert_eq!(lax, Error::BadRequest(text.into()));
}

#[test]
fn null_is_the_empty_patch() {
    let mut object = value!({ "a": 1 });
    read("null").unwrap().0.apply(&mut object).unwrap();
    assert_eq!(object, value!({ "a": 1 }));
}

#[test]
fn unknown_members_are_complained_about() {
    let (_, complaints) = read(r#"[{"op":"add","path":"/a","value":1,"foo":1}]"#).unwrap();
    assert_eq!(complaints, ["json patch unknown field \"[0].foo\""]);
}

#[test]
fn too_many_operations_are_refused() {
    let operations: Vec<_> = (0..10_001)
        .map(|_| value!({ "op": "test", "path": "/a" }))
        .collect();
    let error = Patch::read(&operations.into(), Checking::Strict, Limits::SERVER).unwrap_err();
    let text = "The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!(error, Error::TooLarge(text.into()));
}

#[test]
fn copies_that_double_an_object_over_and_over_end_at_the_limit() {
    let mut object = value!({ "a": "0123456789" });
    let doubling = r#"{"op":"copy","from":"/a","path":"/l/-"},{"op":"copy","from":"/l","path":"/a"}"#;
    let patch = format!(
        r#"[{{"op":"add","path":"/l","value":[]}},{}]"#,
        [doubling; 40].join(",")
    );
    let error = read(&patch).unwrap().0.apply(&mut object).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Unable to complete the copy, the accumulated size increase of copy is")
    );
}

#[test]
fn shifting_a_long_list_over_and_over_ends_at_the_limit() {
    let mut object = value!({ "l": (vec![model::Value::Null; 100_000]) });
    let patch = format!("[{}]", vec![r#"{"op":"add","path":"/l/0"}"#; 2000].join(","));
    let error = read(&patch).unwrap().0.apply(&mut object).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error in add for path: '/l/0': the patch shifts more than 100000000 list elements"
    );
}

proptest! {
    #[test]
    fn any_patch_of_any_object_ends_without_a_panic(mut object in any_value(), patch in any_value(), checked: bool) {
        let checking = if checked { Checking::Strict } else { Checking::Lax };
        if let Ok((patch, _)) = Patch::read(&patch, checking, Limits::SERVER) {
            let _ = patch.apply(&mut object);
        }
    }

    #[test]
    fn what_was_added_is_found_by_test_and_gone_after_remove(value in any_value()) {
        let mut object = value!({ "x": 1 });
        let before = object.clone();
        let step = |op: &str| value!({ "op": op, "path": "/new", "value": (value.clone()) });
        let patch = value!([(step("add")), (step("test")), (step("remove"))]);
        Patch::read(&patch, Checking::Strict, Limits::SERVER).unwrap().0.apply(&mut object).unwrap();
        prop_assert_eq!(object, before);
    }
}
