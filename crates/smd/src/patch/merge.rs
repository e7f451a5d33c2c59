//! JSON merge patch (RFC 7396), with the API server's treatment of nulls inside lists.

use model::{Map, Value};

use super::go_text::json_kind;
use super::{Checking, Error};

/// Applies `patch` to `object`.
///
/// `null` removes a field. Where a value is taken over whole because nothing or no map is there, its own nulls are
/// dropped, also inside lists; RFC 7396 would keep those, the server's library does not.
///
/// # Errors
/// [`Error::BadRequest`] where the patch is no map.
pub fn apply(object: &mut Value, patch: &Value, checking: Checking) -> Result<(), Error> {
    match patch {
        Value::Object(fields) => {
            match object {
                Value::Object(target) => merge_maps(target, fields),
                _ => *object = without_nulls(patch),
            }
            Ok(())
        }
        Value::Null => Err(Error::BadRequest("Invalid JSON Patch".into())),
        other if checking == Checking::Strict => Err(Error::BadRequest(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_kind(other)
        ))),
        // Unchecked, the server replaces the object by the list and fails later, when it reads the result.
        Value::Array(_) => {
            *object = without_nulls(patch);
            Ok(())
        }
        _ => Err(Error::BadRequest("Invalid JSON Patch".into())),
    }
}

fn merge_maps(target: &mut Map, patch: &Map) {
    for (key, value) in patch.iter() {
        if value.is_null() {
            target.remove(key);
            continue;
        }
        match (target.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge_maps(old, new),
            (Some(old @ Value::Object(_)), new) => *old = new.clone(),
            (_, new) => {
                target.insert(key, without_nulls(new));
            }
        }
    }
}

/// A copy without the null fields of its maps. Null elements of lists stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut kept = Map::with_capacity(map.len());
            for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
                kept.push(key.into(), without_nulls(value));
            }
            Value::Object(kept)
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
