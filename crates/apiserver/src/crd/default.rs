//! Filling in defaults.

use model::Value;

use super::schema::Node;

/// Drops nulls that are neither allowed nor replaced by a default.
pub(crate) fn drop_nulls(value: &mut Value, schema: Option<&Node>) {
    match value {
        Value::Object(map) => map.retain(|key, value| {
            let node = schema.and_then(|schema| schema.member(key));
            let drop = value.is_null() && node.is_some_and(|node| !node.nullable && node.default.is_none());
            if !drop {
                drop_nulls(value, node);
            }
            !drop
        }),
        Value::Array(items) => {
            let node = schema.and_then(|schema| schema.items.as_deref());
            items.iter_mut().for_each(|item| drop_nulls(item, node));
        }
        _ => {}
    }
}

/// Fills in the defaults of all fields that are missing, or null where null is no value.
pub(crate) fn fill(value: &mut Value, schema: &Node) {
    match value {
        Value::Object(map) => {
            for (name, node) in &schema.fields {
                let Some(default) = &node.default else { continue };
                if map
                    .get(name)
                    .is_none_or(|value| value.is_null() && !node.nullable)
                {
                    map.insert(name, default.clone());
                }
            }
            for (key, value) in map.iter_mut() {
                if let Some(node) = schema.field(key) {
                    fill(value, node);
                } else if let Some(node) = schema.additional.node() {
                    replace_null(value, node);
                    fill(value, node);
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &schema.items else { return };
            for item in items {
                replace_null(item, node);
                fill(item, node);
            }
        }
        _ => {}
    }
}

/// Puts the default in the place of a null that is no value.
fn replace_null(value: &mut Value, schema: &Node) {
    if value.is_null() && !schema.nullable {
        *value = schema.default.clone().unwrap_or_default();
    }
}
