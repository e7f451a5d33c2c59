//! What of a status has to be sent: nothing where nothing differs.

use serde_json::{Map, Value};

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
}
