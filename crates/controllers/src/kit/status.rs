//! What of a status has to be sent: nothing where nothing differs, and where others write at the same time, only if they wrote
//! nothing that counts.

use serde_json::{Map, Value, json};

/// The merge patch that makes `new` of `old`; `None` where they are equal.
pub(super) fn patch(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(old) => {
                if let Some(change) = self::patch(old, value) {
                    patch.insert(key.clone(), change);
                }
            }
            None => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// The JSON patch that makes `new` the status of an object, whatever else others write to it at the same time: it fails only
/// where they have written conditions, of which we send all. A status without conditions must be as it was.
pub(super) fn guarded_patch(object: &Value, new: &Value) -> Vec<Value> {
    let (metadata, old) = (&object["metadata"], &object["status"]);
    let test = |path: &str, value: &Value| json!({"op": "test", "path": path, "value": value});
    let mut patch = vec![test("/metadata/uid", &metadata["uid"])];
    match old.get("conditions") {
        Some(conditions) => patch.push(test("/status/conditions", conditions)),
        None => patch.push(test("/metadata/resourceVersion", &metadata["resourceVersion"])),
    }
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        patch.push(json!({"op": "add", "path": "/status", "value": new}));
        return patch;
    };
    let changed = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(*value));
    patch.extend(
        changed.map(|(key, value)| json!({"op": "add", "path": format!("/status/{key}"), "value": value})),
    );
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    patch.extend(gone.map(|key| json!({"op": "remove", "path": format!("/status/{key}")})));
    patch
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_sent() {
        let old = json!({"a": 1, "b": {"c": 1, "d": 2}, "e": [1], "f": 1});
        let new = json!({"a": 1, "b": {"c": 2, "d": 2}, "e": [1, 2], "g": {}});
        assert_eq!(
            patch(&old, &new),
            Some(json!({"b": {"c": 2}, "e": [1, 2], "f": null, "g": {}}))
        );
        assert_eq!(patch(&new, &new), None);
    }

    #[test]
    fn a_guarded_patch_depends_on_conditions_alone() {
        let status = json!({"a": 1, "b": 1, "conditions": [{"type": "Ready"}]});
        let object = json!({"metadata": {"uid": "u", "resourceVersion": "7"}, "status": status});
        let new = json!({"a": 2, "conditions": []});
        assert_eq!(
            guarded_patch(&object, &new),
            [
                json!({"op": "test", "path": "/metadata/uid", "value": "u"}),
                json!({"op": "test", "path": "/status/conditions", "value": [{"type": "Ready"}]}),
                json!({"op": "add", "path": "/status/a", "value": 2}),
                json!({"op": "add", "path": "/status/conditions", "value": []}),
                json!({"op": "remove", "path": "/status/b"}),
            ]
        );
        let object = json!({"metadata": {"uid": "u", "resourceVersion": "7"}});
        assert_eq!(
            guarded_patch(&object, &new)[1..],
            [
                json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"}),
                json!({"op": "add", "path": "/status", "value": new}),
            ]
        );
    }
}
