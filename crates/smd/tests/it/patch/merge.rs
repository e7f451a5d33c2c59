use model::{Value, value};
use proptest::prelude::*;
use smd::patch::{Checking, Error, merge};

use super::{any_object, any_value, check_recorded};

#[test]
fn results_are_those_of_the_servers_library() {
    check_recorded(include_str!("cases/merge.jsonl"), |object, patch| {
        merge::apply(object, patch, Checking::Strict)
    });
}

#[test]
fn a_patch_that_is_no_map_is_a_bad_request() {
    let apply = |patch: Value, checking| merge::apply(&mut value!({}), &patch, checking);
    let bad = |text: &str| Err(Error::BadRequest(text.into()));
    let text =
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!(apply(value!([]), Checking::Strict), bad(text));
    assert_eq!(apply(Value::Null, Checking::Strict), bad("Invalid JSON Patch"));
    assert_eq!(apply(Value::str("x"), Checking::Lax), bad("Invalid JSON Patch"));
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            let kept: model::Map = kept
                .map(|(key, value)| (key.to_owned(), without_nulls(value)))
                .collect();
            Value::Object(kept)
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

#[test]
fn nulls_in_a_list_stay_only_where_it_takes_the_place_of_a_map() {
    let patch = value!({"a": [{"b": null}]});
    let mut object = value!({"a": {}});
    merge::apply(&mut object, &patch, Checking::Strict).unwrap();
    assert_eq!(object, patch);
    merge::apply(&mut object, &patch, Checking::Strict).unwrap();
    assert_eq!(object, value!({"a": [{}]}));
}

proptest! {
    #[test]
    fn merging_twice_is_merging_once(mut object in any_value(), patch in any_object()) {
        merge::apply(&mut object, &patch, Checking::Strict).unwrap();
        let once = object.clone();
        merge::apply(&mut object, &patch, Checking::Strict).unwrap();
        // A list that takes the place of a map keeps the nulls in its maps; one that takes the place of a list does not.
        prop_assert_eq!(without_nulls(&object), without_nulls(&once));
    }

    #[test]
    fn the_empty_patch_changes_nothing(object in any_object()) {
        let mut patched = object.clone();
        merge::apply(&mut patched, &value!({}), Checking::Strict).unwrap();
        prop_assert_eq!(patched, object);
    }
}
