//! The schema of a custom resource as a component of an OpenAPI document.

use model::{Map, Value, value};

use super::component::{gvk_value, reference};
use crate::catalog::Resource;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// The name of a kind's component: `com.example.catalog.v1.Widget`.
pub(super) fn component_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.rsplit('.').collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

/// The component of a resource from the schema of its version (`openAPIV3Schema`).
pub(super) fn object(resource: &Resource, schema: Option<&Value>) -> Value {
    let mut schema = match schema {
        Some(schema) => {
            let mut schema = schema.clone();
            unfold(&mut schema);
            schema
        }
        // Without a schema nothing is known, and everything is kept.
        None => value!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
    };
    add_object_fields(&mut schema);
    let map = schema.make_object();
    map.insert("type", "object");
    let gvk = gvk_value(&resource.group, &resource.version, &resource.kind);
    map.insert("x-kubernetes-group-version-kind", value!([gvk]));
    schema
}

/// The component of a resource's list.
pub(super) fn list(resource: &Resource) -> Value {
    let item = reference(&component_name(
        &resource.group,
        &resource.version,
        &resource.kind,
    ));
    let mut metadata = Map::new();
    metadata.insert("description", "Metadata of the list.");
    metadata.insert("allOf", value!([(reference(LIST_META))]));
    value!({
        "description": (format!("{} is a list of {}", resource.list_kind, resource.kind)),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": (api_version_field(None)),
            "items": {
                "description": (format!("List of {}.", resource.plural)),
                "type": "array",
                "items": item,
            },
            "kind": (kind_field(None)),
            "metadata": metadata,
        },
        "x-kubernetes-group-version-kind": [
            (gvk_value(&resource.group, &resource.version, &resource.list_kind)),
        ],
    })
}

/// Spells out what two extensions mean, at every depth.
fn unfold(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            unfold(inner);
        }
    }
    if let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) {
        for (_, inner) in properties.iter_mut() {
            unfold(inner);
        }
    }
    let is_set = |map: &Map, key: &str| map.get(key).and_then(Value::as_bool) == Some(true);
    if is_set(map, "x-kubernetes-int-or-string") {
        unfold_int_or_string(map);
    }
    if is_set(map, "x-kubernetes-embedded-resource") {
        add_object_fields(schema);
    }
}

/// A value that is a number or a text says so, unless it already does.
fn unfold_int_or_string(map: &mut Map) {
    let either = value!([{ "type": "integer" }, { "type": "string" }]);
    let first_of_all = map
        .get("allOf")
        .and_then(Value::as_array)
        .and_then(|all| all.first());
    if map.get("anyOf") == Some(&either) || first_of_all.and_then(|first| first.get("anyOf")) == Some(&either)
    {
        return;
    }
    match map.contains_key("anyOf") {
        false => {
            map.insert("anyOf", either);
        }
        true => {
            let mut all = vec![value!({ "anyOf": either })];
            all.extend(
                map.get("allOf")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
            map.insert("allOf", all);
        }
    }
}

/// The fields that every object has. What the definition says of `apiVersion` and `kind` stays.
fn add_object_fields(schema: &mut Value) {
    let description = |name: &str| schema.str_at(&["properties", name, "description"]).to_owned();
    let (api_version, kind) = (description("apiVersion"), description("kind"));
    let properties = schema.make_object().entry("properties").make_object();
    properties.insert("apiVersion", api_version_field(Some(&api_version)));
    properties.insert("kind", kind_field(Some(&kind)));
    let mut metadata = Map::new();
    metadata.insert("description", "Metadata that all objects have.");
    metadata.insert("allOf", value!([(reference(OBJECT_META))]));
    properties.insert("metadata", metadata);
}

fn api_version_field(description: Option<&str>) -> Value {
    text_field(
        description,
        "Group and version of the schema that this object follows.",
    )
}

fn kind_field(description: Option<&str>) -> Value {
    text_field(description, "Kind of this object, in CamelCase.")
}

fn text_field(description: Option<&str>, default: &str) -> Value {
    let description = description.filter(|text| !text.is_empty()).unwrap_or(default);
    value!({ "description": description, "type": "string" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_text_says_so_once() {
        let either = value!([{ "type": "integer" }, { "type": "string" }]);
        let mut plain = value!({ "x-kubernetes-int-or-string": true });
        unfold(&mut plain);
        assert_eq!(plain.get("anyOf"), Some(&either));
        let before = plain.clone();
        unfold(&mut plain);
        assert_eq!(plain, before);
        let mut other = value!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "minimum": 1i64 }] });
        unfold(&mut other);
        assert_eq!(other.list_at(&["allOf"])[0].get("anyOf"), Some(&either));
    }

    #[test]
    fn a_property_that_is_called_like_an_extension_is_left_alone() {
        let mut schema = value!({
            "type": "object",
            "properties": { "x-kubernetes-int-or-string": { "type": "boolean" } },
        });
        let before = schema.clone();
        unfold(&mut schema);
        assert_eq!(schema, before);
    }

    #[test]
    fn an_embedded_object_has_the_fields_of_an_object() {
        let mut schema = value!({
            "type": "object",
            "properties": { "template": { "type": "object", "x-kubernetes-embedded-resource": true } },
        });
        unfold(&mut schema);
        let template = schema
            .at(&["properties", "template", "properties"])
            .and_then(Value::as_object)
            .unwrap();
        assert_eq!(
            template.keys().collect::<Vec<_>>(),
            ["apiVersion", "kind", "metadata"]
        );
        assert_eq!(schema.at(&["properties", "apiVersion"]), None);
    }

    #[test]
    fn names_are_reversed_groups() {
        assert_eq!(
            component_name("catalog.example.com", "v1", "Widget"),
            "com.example.catalog.v1.Widget"
        );
    }
}
