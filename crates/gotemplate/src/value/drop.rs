//! Values that are nested very deep are taken apart in a loop: dropping them by recursion would exhaust the stack, and
//! `{{ $x = list $x }}` in a loop makes such values.

use super::Value;

/// Whether dropping the value drops other values.
pub(super) fn has_parts(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_))
}

/// Drops values and all inside of them that nobody else has.
pub(super) fn all(mut values: Vec<Value>) {
    while let Some(value) = values.pop() {
        match value {
            Value::List(list) => values.extend(list.into_items().into_iter().flatten()),
            Value::Map(map) => {
                values.extend(map.into_entries().into_iter().flatten().map(|(_, value)| value))
            }
            _ => {}
        }
    }
}
