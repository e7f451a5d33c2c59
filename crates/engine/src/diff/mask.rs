//! Hiding what is secret, so that one can still see what differs.
//!
//! The values of a Secret become stars: `***` where both objects have the same value or only one has any, and
//! `*** (before)` and `*** (after)` where they differ. These are the texts of Flux.

use model::{Value, json};

const SAME: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Whether an object is a Secret.
pub fn is_secret(object: &Value) -> bool {
    object.str_at(&["kind"]) == "Secret" && object.str_at(&["apiVersion"]) == "v1"
}

/// Hides the values of a Secret in the live and the desired object, where either is one: `data`, `stringData`, and what
/// kubectl keeps of them in an annotation. Other objects stay as they are.
pub fn mask(live: Option<&mut Value>, desired: Option<&mut Value>) {
    let (mut none, mut absent) = (Value::Null, Value::Null);
    let live = live.unwrap_or(&mut none);
    let desired = desired.unwrap_or(&mut absent);
    if !is_secret(live) && !is_secret(desired) {
        return;
    }
    for map in ["data", "stringData"] {
        mask_map(live, desired, map);
    }
    let differed = last_applied(live) != last_applied(desired);
    for object in [&mut *live, &mut *desired] {
        mask_last_applied(object);
    }
    // What differs in nothing but secrets still differs.
    if differed && last_applied(live) == last_applied(desired) {
        for (object, text) in [(live, BEFORE), (desired, AFTER)] {
            object.set_at(&["metadata", "annotations", LAST_APPLIED], text);
        }
    }
}

fn last_applied(object: &Value) -> Option<&Value> {
    object.at(&["metadata", "annotations", LAST_APPLIED])
}

fn mask_map(live: &mut Value, desired: &mut Value, map: &str) {
    let is_map = |value: &Value| value.as_object().is_some() || value.is_null();
    if let (Some(one), Some(other)) = (live.get_mut(map), desired.get_mut(map))
        && !is_map(one)
        && !is_map(other)
        && one != other
    {
        (*one, *other) = (Value::str(BEFORE), Value::str(AFTER));
        return;
    }
    let other = desired.get(map).cloned().unwrap_or_default();
    let mut differing = Vec::new();
    hide(live.get_mut(map), |name, value| match other.get(name) {
        Some(other) if other != value => {
            differing.push(name.to_owned());
            BEFORE
        }
        _ => SAME,
    });
    hide(desired.get_mut(map), |name, _| {
        let differs = differing.iter().any(|differing| differing == name);
        if differs { AFTER } else { SAME }
    });
}

fn hide(values: Option<&mut Value>, mut mark: impl FnMut(&str, &Value) -> &'static str) {
    match values {
        Some(Value::Object(values)) => {
            for (name, value) in values.iter_mut() {
                *value = Value::str(mark(name, value));
            }
        }
        // No server takes it, but what it holds may be secret all the same.
        Some(value) if !value.is_null() => *value = Value::str(SAME),
        _ => {}
    }
}

fn mask_last_applied(object: &mut Value) {
    let Some(annotation) = object.at_mut(&["metadata", "annotations", LAST_APPLIED]) else {
        return;
    };
    let masked = annotation.as_str().and_then(|text| {
        let mut applied = json::parse(text.as_bytes()).ok()?;
        let applied_map = applied.as_object_mut()?;
        for map in ["data", "stringData"] {
            match applied_map.get_mut(map) {
                Some(Value::Object(values)) => {
                    values.iter_mut().for_each(|(_, value)| *value = Value::str(SAME))
                }
                Some(other) => *other = Value::str(SAME),
                None => {}
            }
        }
        Some(json::to_string(&applied))
    });
    *annotation = Value::str(masked.as_deref().unwrap_or(SAME));
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn equal_values_stay_equal_and_different_ones_different() {
        let mut live =
            value!({ "apiVersion": "v1", "kind": "Secret", "data": { "a": "x", "b": "x", "c": "x" } });
        let mut desired = value!({ "apiVersion": "v1", "kind": "Secret", "data": { "a": "x", "b": "y", "d": "y" }, "stringData": 7 });
        mask(Some(&mut live), Some(&mut desired));
        assert_eq!(
            live.get("data"),
            Some(&value!({ "a": "***", "b": "*** (before)", "c": "***" }))
        );
        assert_eq!(
            desired.get("data"),
            Some(&value!({ "a": "***", "b": "*** (after)", "d": "***" }))
        );
        assert_eq!(desired.get("stringData"), Some(&value!("***")));
    }

    #[test]
    fn what_kubectl_keeps_of_a_secret_is_hidden() {
        let applied = r#"{"apiVersion":"v1","data":{"a":"c2VjcmV0"},"kind":"Secret"}"#;
        for text in [applied, "c2VjcmV0", r#"{"data":["c2VjcmV0"]}"#] {
            let mut live = value!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "annotations": { LAST_APPLIED: text } } });
            mask(Some(&mut live), None);
            assert!(!json::to_string(&live).contains("c2VjcmV0"), "{live:?}");
        }
    }

    #[test]
    fn what_differs_in_secrets_alone_still_differs() {
        let applied = |secret: &str| format!(r#"{{"data":{{"a":"{secret}"}}}}"#);
        let object = |data: Value, secret: &str| {
            let applied = applied(secret);
            value!({
                "apiVersion": "v1", "kind": "Secret", "data": data,
                "metadata": { "annotations": { LAST_APPLIED: applied } },
            })
        };
        let (mut live, mut desired) = (object(value!([]), "one"), object(value!([1]), "two"));
        mask(Some(&mut live), Some(&mut desired));
        assert_eq!(
            (live.str_at(&["data"]), desired.str_at(&["data"])),
            (BEFORE, AFTER)
        );
        assert_ne!(last_applied(&live), last_applied(&desired));
        let text = json::to_string(&live) + &json::to_string(&desired);
        assert!(!text.contains("one") && !text.contains("two"), "{text}");
    }

    #[test]
    fn other_objects_stay_as_they_are() {
        let mut live = value!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "x" } });
        mask(Some(&mut live), None);
        assert_eq!(live.at(&["data", "a"]), Some(&value!("x")));
    }
}
