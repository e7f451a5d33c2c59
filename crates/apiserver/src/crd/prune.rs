//! Dropping what the schema does not know.

use model::Value;

use super::schema::{Additional, Node};

/// Fields that every object has; they are not part of the schema's business at the root of a resource.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops all unknown fields of a resource and returns their paths (`spec.replica`), sorted.
pub(crate) fn prune(object: &mut Value, schema: &Node) -> Vec<String> {
    let mut pruning = Pruning {
        path: String::new(),
        unknown: Vec::new(),
    };
    pruning.value(object, Some(schema), true, schema.preserve_unknown);
    pruning.unknown.sort();
    pruning.unknown
}

/// Whether a default value has nothing that would be dropped from it.
pub(crate) fn is_pruned(value: &Value, schema: &Node) -> bool {
    let mut copy = value.clone();
    let mut pruning = Pruning {
        path: String::new(),
        unknown: Vec::new(),
    };
    pruning.value(&mut copy, Some(schema), schema.embedded, schema.preserve_unknown);
    copy == *value
}

struct Pruning {
    path: String,
    unknown: Vec<String>,
}

impl Pruning {
    /// Prunes one value. `root` says that it is a resource of its own, `keep` that its unknown fields stay.
    fn value(&mut self, value: &mut Value, schema: Option<&Node>, root: bool, keep: bool) {
        let length = self.path.len();
        match value {
            Value::Object(map) => map.retain(|key, value| {
                if root && META.contains(&key) {
                    return true;
                }
                self.push_key(key);
                let known = self.field(key, value, schema);
                if !known && !keep {
                    self.unknown.push(self.path.clone());
                }
                self.path.truncate(length);
                known || keep
            }),
            Value::Array(items) => {
                let node = schema.and_then(|node| node.items.as_deref());
                if node.is_none() && keep {
                    return;
                }
                for (at, item) in items.iter_mut().enumerate() {
                    self.path.push_str(&format!("[{at}]"));
                    // A list that keeps unknown fields keeps those of its elements, whatever their schema says.
                    let keep = keep || node.is_some_and(|node| node.preserve_unknown);
                    self.value(item, node, node.is_some_and(|node| node.embedded), keep);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// Prunes the value of a field that the schema speaks of; says whether it does.
    fn field(&mut self, key: &str, value: &mut Value, schema: Option<&Node>) -> bool {
        let Some(schema) = schema else { return false };
        let node = match (schema.field(key), &schema.additional) {
            (Some(node), _) => Some(node),
            (None, Additional::Unsaid) => return false,
            (None, additional) => additional.node(),
        };
        let is = |flag: fn(&Node) -> bool| node.is_some_and(flag);
        self.value(
            value,
            node,
            is(|node| node.embedded),
            is(|node| node.preserve_unknown),
        );
        true
    }

    fn push_key(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }
}
