//! Reads an OpenAPI document.

use std::collections::HashMap;

use model::{Str, Value};
use yaml::node::Text;

use super::{Field, Schema, Type};
use crate::id::Gvk;

const REFERENCE: &str = "#/definitions/";

pub(super) fn read(document: &Value) -> Schema {
    let mut reader = Reader::default();
    let definitions = document.get("definitions").and_then(Value::as_object);
    for (name, definition) in definitions.into_iter().flat_map(model::Map::iter) {
        let number = reader.number(name);
        let found = reader.properties(definition);
        reader.schema.types[number] = found;
        for kind in definition.list_at(&["x-kubernetes-group-version-kind"]) {
            reader.schema.by_kind.insert(gvk(kind), number);
        }
    }
    let paths = document.get("paths").and_then(Value::as_object);
    let mut namespaced: HashMap<Gvk, bool> = HashMap::new();
    for (path, item) in paths.into_iter().flat_map(model::Map::iter) {
        let Some(kind) = item.at(&["get", "x-kubernetes-group-version-kind"]) else {
            continue;
        };
        *namespaced.entry(gvk(kind)).or_default() |= path.contains("namespaces/{namespace}");
    }
    let cluster_scoped = namespaced.into_iter().filter(|(_, namespaced)| !namespaced);
    reader.schema.cluster_scoped = cluster_scoped.map(|(gvk, _)| gvk).collect();
    reader.schema
}

#[derive(Default)]
struct Reader {
    schema: Schema,
    numbers: HashMap<Str, usize>,
}

impl Reader {
    fn number(&mut self, name: &str) -> usize {
        let types = &mut self.schema.types;
        *self.numbers.entry(name.into()).or_insert_with(|| {
            types.push(Type::default());
            types.len() - 1
        })
    }

    fn properties(&mut self, definition: &Value) -> Type {
        let properties = definition.get("properties").and_then(Value::as_object);
        let mut found = Type::default();
        for (name, property) in properties.into_iter().flat_map(model::Map::iter) {
            if let Some(field) = self.field(property) {
                found.fields.insert(name.into(), field);
            }
        }
        found.rest = definition
            .get("additionalProperties")
            .and_then(|rest| self.field(rest));
        found
    }

    fn field(&mut self, property: &Value) -> Option<Field> {
        if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix(REFERENCE).unwrap_or(reference);
            return Some(Field::Nested(self.number(name)));
        }
        if property.str_at(&["type"]) == "array" {
            let strategy = property.str_at(&["x-kubernetes-patch-strategy"]);
            strategy.split(',').find(|strategy| *strategy == "merge")?;
            return Some(Field::Merged {
                keys: merge_keys(property),
                elements: property.get("items").and_then(|items| self.nested(items)),
            });
        }
        self.nested(property).map(Field::Nested)
    }

    /// The type of something that is described in place or by a reference.
    fn nested(&mut self, property: &Value) -> Option<usize> {
        if let Some(reference) = property.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix(REFERENCE).unwrap_or(reference);
            return Some(self.number(name));
        }
        if property.get("properties").is_none() && property.get("additionalProperties").is_none() {
            return None;
        }
        let found = self.properties(property);
        self.schema.types.push(found);
        Some(self.schema.types.len() - 1)
    }
}

fn merge_keys(property: &Value) -> Vec<Text> {
    let keys = property.list_at(&["x-kubernetes-list-map-keys"]);
    if keys.is_empty() {
        let key = property
            .get("x-kubernetes-patch-merge-key")
            .and_then(Value::as_str);
        return key.map(Text::from).into_iter().collect();
    }
    keys.iter().filter_map(Value::as_str).map(Text::from).collect()
}

fn gvk(kind: &Value) -> Gvk {
    Gvk {
        group: kind.str_at(&["group"]).into(),
        version: kind.str_at(&["version"]).into(),
        kind: kind.str_at(&["kind"]).into(),
    }
}
