//! What of OpenAPI a schema may use.

use model::Value;

use super::structural::{self, present, properties};
use super::{defaults, is, lists, one_of, rules};
use crate::crd::schema::Node;
use crate::field::Error;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Checks the schema of a version; `path` is that of its `schema`.
pub(super) fn check(version: &Value, path: &str, errors: &mut Vec<Error>) {
    let Some(schema) = version
        .at(&["schema", "openAPIV3Schema"])
        .filter(|schema| !schema.is_null())
    else {
        return;
    };
    let path = format!("{path}.openAPIV3Schema");
    if version
        .at(&["subresources", "status"])
        .is_some_and(|status| !status.is_null())
    {
        with_status(schema, &path, errors);
    }
    if is(schema, "nullable") {
        errors.push(Error::forbidden(
            format!("{path}.nullable"),
            "nullable cannot be true at the root",
        ));
    }
    let mut shape = structural::check(schema, &path);
    let node = Node::read(schema);
    if shape.is_empty() {
        shape = defaults::check(&node, &path);
    }
    let use_rules = shape.is_empty();
    errors.extend(shape);
    let mut found = Found::default();
    let place = Place {
        root: true,
        in_meta: false,
        no_defaults: None,
        uncorrelatable: None,
    };
    walk(
        schema,
        Some(&node).filter(|_| use_rules),
        &path,
        &place,
        &mut found,
    );
    errors.extend(found.schema);
    errors.extend(found.rules);
}

/// With a `status` subresource the root may have nothing that is about the object as a whole.
fn with_status(schema: &Value, path: &str, errors: &mut Vec<Error>) {
    // In the order of the real server's fields, by which it finds the first that is not allowed.
    const FORBIDDEN: [&str; 18] = [
        "id",
        "$schema",
        "$ref",
        "nullable",
        "default",
        "enum",
        "maxProperties",
        "minProperties",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
        "x-kubernetes-embedded-resource",
    ];
    const MORE: [&str; 4] = [
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    ];
    const ALLOWED: &str = "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength \
                           MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties \
                           ExternalDocs Example XPreserveUnknownFields XValidations";
    let kind = schema.str_at(&["type"]);
    if !kind.is_empty() && kind != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.push(Error::invalid(format!("{path}.type"), &Value::str(kind), detail));
    }
    let is_set = |name: &&str| {
        present(schema, name).is_some_and(|value| match value {
            Value::Bool(flag) => *flag,
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty() || *name != "definitions",
            _ => true,
        })
    };
    if FORBIDDEN.iter().chain(&MORE).any(is_set) {
        let detail = format!(
            "only [{ALLOWED}] fields are allowed at the root of the schema if the status subresource is enabled"
        );
        errors.push(Error::invalid(path, schema, detail));
    }
}

/// What was found: failures of rules come after all others.
#[derive(Default)]
pub(super) struct Found {
    pub(super) schema: Vec<Error>,
    pub(super) rules: Vec<Error>,
}

/// What is known about the place of a node.
#[derive(Clone)]
pub(super) struct Place {
    /// It describes the whole object.
    pub(super) root: bool,
    /// It is inside of what every resource has.
    in_meta: bool,
    /// Why there may be no defaults.
    no_defaults: Option<String>,
    /// The nearest node around it whose elements cannot be told apart.
    pub(super) uncorrelatable: Option<String>,
}

fn walk(schema: &Value, node: Option<&Node>, path: &str, place: &Place, found: &mut Found) {
    let before = found.schema.len();
    keywords(schema, path, place, found);
    if is(schema, "uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        found
            .schema
            .push(Error::forbidden(format!("{path}.uniqueItems"), detail));
    }
    children(schema, node, path, place, found);
    lists::check(schema, path, &mut found.schema);
    let clean = found.schema.len() == before;
    rules::check(schema, node.filter(|_| clean), path, place, found);
}

/// Keywords of OpenAPI that are not supported.
fn keywords(schema: &Value, path: &str, place: &Place, found: &mut Found) {
    let kind = schema.str_at(&["type"]);
    if !kind.is_empty() {
        one_of(&format!("{path}.type"), kind, &TYPES, &mut found.schema);
    }
    let mut forbid = |name: &str, detail: String| {
        found
            .schema
            .push(Error::forbidden(format!("{path}.{name}"), detail))
    };
    if let (Some(_), Some(why)) = (present(schema, "default"), &place.no_defaults) {
        forbid("default", format!("must not be set {why}"));
    }
    for name in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        let is_set = present(schema, name).is_some_and(|value| match value {
            Value::Str(text) => !text.is_empty() || name == "$ref",
            Value::Object(map) => !map.is_empty() || matches!(name, "dependencies" | "additionalItems"),
            _ => true,
        });
        if is_set {
            forbid(name, format!("{name} is not supported"));
        }
    }
    if kind == "null" {
        forbid(
            "type",
            "type cannot be set to null, use nullable as an alternative".into(),
        );
    }
    if matches!(schema.get("items"), Some(Value::Array(items)) if !items.is_empty()) {
        forbid("items", "items must be a schema object and not an array".into());
    }
    if place.in_meta && is(schema, "x-kubernetes-embedded-resource") {
        forbid(
            "x-kubernetes-embedded-resource",
            "must not be used inside of resource meta".into(),
        );
    }
}

fn children(schema: &Value, node: Option<&Node>, path: &str, place: &Place, found: &mut Found) {
    let below = Place {
        root: false,
        ..place.clone()
    };
    if let Some(additional) = present(schema, "additionalProperties") {
        let has_fields = properties(schema).next().is_some();
        if has_fields && *additional != Value::Bool(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            found
                .schema
                .push(Error::forbidden(format!("{path}.additionalProperties"), detail));
        }
        if matches!(additional, Value::Object(_)) {
            let mut below = below.clone();
            if place.in_meta {
                below.no_defaults = Some("inside additionalProperties applying to object metadata".into());
            }
            let node = node.and_then(|node| node.additional.node());
            walk(
                additional,
                node,
                &format!("{path}.additionalProperties"),
                &below,
                found,
            );
        }
    }
    for (name, field) in properties(schema) {
        let mut below = below.clone();
        let is_resource = place.root || is(schema, "x-kubernetes-embedded-resource");
        if is_resource && matches!(name, "metadata" | "kind" | "apiVersion") {
            below.in_meta = true;
            if place.root {
                below.no_defaults = Some(format!("in top-level {name}"));
            }
        }
        let node = node.and_then(|node| node.field(name));
        walk(field, node, &format!("{path}.properties[{name}]"), &below, found);
    }
    if let Some(not) = present(schema, "not") {
        walk(not, None, &format!("{path}.not"), &below, found);
    }
    for name in ["allOf", "oneOf", "anyOf"] {
        for (at, part) in schema.list_at(&[name]).iter().enumerate() {
            walk(part, None, &format!("{path}.{name}[{at}]"), &below, found);
        }
    }
    if let Some(items) = present(schema, "items").filter(|items| matches!(items, Value::Object(_))) {
        let mut below = below.clone();
        if schema.str_at(&["x-kubernetes-list-type"]) != "map" && below.uncorrelatable.is_none() {
            below.uncorrelatable = Some(path.to_owned());
        }
        walk(
            items,
            node.and_then(|node| node.items.as_deref()),
            &format!("{path}.items"),
            &below,
            found,
        );
    }
}
