//! Parts of an object as values of CEL.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Value as CelValue;
use kube_cel::cel::objects::{Key, Map};
use model::Value;

pub(super) fn cel(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(flag) => CelValue::Bool(*flag),
        Value::Int(number) => CelValue::Int(*number),
        Value::Float(number) => CelValue::Float(*number),
        Value::Str(text) => CelValue::String(Arc::new(text.to_string())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(cel).collect())),
        Value::Object(map) => {
            let map: HashMap<Key, CelValue> = map
                .iter()
                .map(|(name, value)| (Key::String(Arc::new(name.to_owned())), cel(value)))
                .collect();
            CelValue::Map(Map { map: Arc::new(map) })
        }
    }
}
