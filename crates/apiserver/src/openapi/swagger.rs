//! OpenAPI v2, one document for everything: kubectl reads it to find out that a kind is not there, for `kind: List`
//! and for custom resources that are newer than its copy of v3.
//!
//! It is made from what v3 says. What v2 has no words for (`oneOf`, `nullable`) is left out, so that a client that
//! checks objects by it lets more pass, never less.

use model::{Map, Value, value};

use super::Sources;
use super::component::Components;
use super::document::references;
use super::path;

/// The document about everything that is served.
pub(super) fn document(sources: &Sources<'_>) -> Value {
    let mut components = Components::new(sources.schema);
    let mut paths = Map::new();
    for group in sources.catalog.groups() {
        for resource in group.versions.iter().flat_map(|version| &version.resources) {
            let references = references(sources, resource, &mut components);
            path::add(resource, &references, &mut paths);
        }
    }
    let paths: Map = paths
        .into_iter()
        .map(|(path, item)| (path, path_item(&item)))
        .collect();
    let mut definitions = components.into_schemas();
    for (_, schema) in definitions.make_object().iter_mut() {
        lower(schema);
    }
    value!({
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": "1.35" },
        "paths": paths,
        "definitions": definitions,
        "securityDefinitions": {
            "BearerToken": {
                "type": "apiKey",
                "description": "A bearer token",
                "name": "authorization",
                "in": "header",
            },
        },
    })
}

fn path_item(item: &Value) -> Value {
    let entries = item.as_object().into_iter().flat_map(Map::iter);
    let lowered: Map = entries
        .map(|(key, value)| match key {
            "parameters" => (key, parameters(item.list_at(&[key]), None)),
            _ => (key, operation(value)),
        })
        .collect();
    Value::Object(lowered)
}

fn operation(operation: &Value) -> Value {
    let mut map = Map::new();
    let body = operation.get("requestBody");
    for (key, value) in operation.as_object().into_iter().flat_map(Map::iter) {
        match key {
            "parameters" | "requestBody" => {}
            "responses" => {
                map.insert(key, responses(value));
            }
            _ => {
                map.insert(key, value.clone());
            }
        }
    }
    map.insert("produces", value!(["application/json"]));
    if let Some(content) = body
        .and_then(|body| body.get("content"))
        .and_then(Value::as_object)
    {
        map.insert("consumes", content.keys().collect::<Value>());
    }
    map.insert("parameters", parameters(operation.list_at(&["parameters"]), body));
    Value::Object(map)
}

/// The parameters of v3 with those of the body, which v2 counts among them.
fn parameters(parameters: &[Value], body: Option<&Value>) -> Value {
    let plain = parameters.iter().map(|parameter| {
        let mut map = Map::new();
        for (key, value) in parameter.as_object().into_iter().flat_map(Map::iter) {
            match (key, value.as_object()) {
                ("schema", Some(schema)) => {
                    for (key, value) in schema.iter() {
                        map.insert(key, value.clone());
                    }
                }
                _ => {
                    map.insert(key, value.clone());
                }
            }
        }
        Value::Object(map)
    });
    let body = body.map(|body| {
        let required = body.get("required").and_then(Value::as_bool) == Some(true);
        value!({ "name": "body", "in": "body", "required": required, "schema": (content_schema(body)) })
    });
    body.into_iter().chain(plain).collect()
}

fn responses(responses: &Value) -> Value {
    let entries = responses.as_object().into_iter().flat_map(Map::iter);
    let responses: Map = entries
        .map(|(code, response)| {
            let description = response.str_at(&["description"]);
            let response = match response.get("content") {
                Some(_) => value!({ "description": description, "schema": (content_schema(response)) }),
                None => value!({ "description": description }),
            };
            (code, response)
        })
        .collect();
    Value::Object(responses)
}

/// The schema of a body or response, which is the same for all media types.
fn content_schema(of: &Value) -> Value {
    let content = of.get("content").and_then(Value::as_object);
    let first = content.and_then(|content| content.iter().next());
    let mut schema = first
        .and_then(|(_, media)| media.get("schema"))
        .cloned()
        .unwrap_or_else(Value::object);
    lower(&mut schema);
    schema
}

/// Turns a schema of v3 into one of v2.
fn lower(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            lower(inner);
        }
    }
    if let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) {
        for (_, inner) in properties.iter_mut() {
            lower(inner);
        }
    }
    let reference = match map.get("$ref") {
        Some(reference) => Some(reference.clone()),
        None => map.get("allOf").and_then(first_reference).cloned(),
    };
    if let Some(name) = reference.as_ref().and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap_or_default();
        map.insert("$ref", format!("#/definitions/{name}"));
    }
    // Integers or texts are written as texts here, which no client takes literally.
    if map.contains_key("oneOf") && !map.contains_key("x-kubernetes-int-or-string") {
        map.insert("type", "string");
    }
    let is_set = |map: &Map, key: &str| map.get(key).and_then(Value::as_bool) == Some(true);
    if is_set(map, "nullable") {
        for key in ["type", "items", "properties"] {
            map.remove(key);
        }
    }
    if is_set(map, "x-kubernetes-int-or-string") || is_set(map, "x-kubernetes-preserve-unknown-fields") {
        map.remove("type");
    }
    for key in ["allOf", "anyOf", "oneOf", "not", "nullable"] {
        map.remove(key);
    }
}

fn first_reference(all: &Value) -> Option<&Value> {
    all.as_array()?.first()?.get("$ref")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowered(mut schema: Value) -> Value {
        lower(&mut schema);
        schema
    }

    #[test]
    fn a_wrapped_reference_stands_alone() {
        let schema = value!({ "allOf": [{ "$ref": "#/components/schemas/a.B" }], "default": {} });
        assert_eq!(
            lowered(schema),
            value!({ "$ref": "#/definitions/a.B", "default": {} })
        );
    }

    #[test]
    fn what_v2_cannot_say_is_left_open() {
        let schema = value!({
            "type": "object",
            "properties": {
                "port": { "oneOf": [{ "type": "integer" }, { "type": "string" }], "format": "int-or-string" },
                "maybe": { "type": "object", "nullable": true, "properties": { "a": {} } },
                "any": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
            },
        });
        assert_eq!(
            lowered(schema),
            value!({
                "type": "object",
                "properties": {
                    "port": { "type": "string", "format": "int-or-string" },
                    "maybe": {},
                    "any": { "x-kubernetes-preserve-unknown-fields": true },
                },
            })
        );
    }

    #[test]
    fn a_body_is_a_parameter() {
        let body = value!({
            "required": true,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/a.B" } } },
        });
        let query = [value!({ "name": "force", "in": "query", "schema": { "type": "boolean" } })];
        assert_eq!(
            parameters(&query, Some(&body)),
            value!([
                { "name": "body", "in": "body", "required": true, "schema": { "$ref": "#/definitions/a.B" } },
                { "name": "force", "in": "query", "type": "boolean" },
            ])
        );
    }
}
