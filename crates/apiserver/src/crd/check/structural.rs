//! Whether a schema is structural: the type of every value is known, and logic does not add to it.

use model::Value;

use super::is;
use crate::field::Error;
use model::regexp::Regexp;

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// All that keeps a schema from being structural, in the order of the messages.
pub(super) fn check(schema: &Value, path: &str) -> Vec<Error> {
    let mut errors = Vec::new();
    node(schema, Level::Root, path, &mut errors);
    completeness(schema, schema, path, path, &mut errors);
    errors.sort_by_key(ToString::to_string);
    errors
}

fn node(schema: &Value, level: Level, path: &str, errors: &mut Vec<Error>) {
    let kind = schema.str_at(&["type"]);
    let items = present(schema, "items");
    if kind == "array" && items.is_none() {
        errors.push(Error::required(format!("{path}.items"), "must be specified"));
    }
    if let Some(items) = items {
        node(items, Level::Item, &format!("{path}.items"), errors);
    }
    for (name, field) in properties(schema) {
        node(field, Level::Field, &format!("{path}.properties[{name}]"), errors);
    }
    if let Some(additional) = present(schema, "additionalProperties") {
        let path = format!("{path}.additionalProperties");
        if level == Level::Root {
            errors.push(Error::forbidden(path.as_str(), "must not be used at the root"));
        }
        if matches!(additional, Value::Object(_)) {
            node(additional, Level::Field, &path, errors);
        }
    }
    extensions(schema, path, errors);
    let skip = Skip {
        any_of: is_int_or_string(schema),
        all_of: first_all_of_is_int_or_string(schema),
    };
    values(schema, skip, path, errors);
    type_of(schema, level, path, errors);
    metadata(schema, level, path, errors);
}

fn extensions(schema: &Value, path: &str, errors: &mut Vec<Error>) {
    let int_or_string = is(schema, "x-kubernetes-int-or-string");
    for name in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if int_or_string && is(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(Error::invalid(
                format!("{path}.{name}"),
                &Value::Bool(true),
                detail,
            ));
        }
    }
}

fn type_of(schema: &Value, level: Level, path: &str, errors: &mut Vec<Error>) {
    let kind = schema.str_at(&["type"]);
    let type_path = format!("{path}.type");
    let embedded = is(schema, "x-kubernetes-embedded-resource");
    let preserves = is(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match kind {
            "" => Error::required(type_path.as_str(), detail),
            kind => Error::invalid(type_path.as_str(), &Value::str(kind), detail),
        });
    } else if kind.is_empty() && !is(schema, "x-kubernetes-int-or-string") && !preserves {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(Error::required(type_path.as_str(), detail));
    }
    if embedded && present(schema, "additionalProperties").is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(Error::forbidden(format!("{path}.additionalProperties"), detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(Error::invalid(
            type_path,
            &Value::str(kind),
            "must be object at the root",
        ));
    }
    if embedded && !preserves && properties(schema).next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(Error::required(format!("{path}.properties"), detail));
    }
}

/// What every object has anyway may be described, but hardly changed.
fn metadata(schema: &Value, level: Level, path: &str, errors: &mut Vec<Error>) {
    let is_resource = level == Level::Root || is(schema, "x-kubernetes-embedded-resource");
    for name in ["kind", "apiVersion"] {
        let kind = schema
            .at(&["properties", name])
            .map(|field| field.str_at(&["type"]));
        if let Some(kind) = kind.filter(|kind| is_resource && *kind != "string") {
            let path = format!("{path}.properties[{name}].type");
            errors.push(Error::invalid(path, &Value::str(kind), "must be string"));
        }
    }
    let Some(metadata) = schema.at(&["properties", "metadata"]) else {
        return;
    };
    let path = format!("{path}.properties[metadata]");
    let kind = metadata.str_at(&["type"]);
    if is_resource && kind != "object" {
        errors.push(Error::invalid(
            format!("{path}.type"),
            &Value::str(kind),
            "must be object",
        ));
    }
    if level == Level::Root {
        let only_names = properties(metadata).all(|(name, _)| matches!(name, "name" | "generateName"));
        let empty = |value: &Value| match value {
            Value::Null | Value::Bool(false) => true,
            Value::Str(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        let allowed = ["type", "properties", "default"];
        let nothing_else = metadata.as_object().is_none_or(|map| {
            map.iter()
                .all(|(name, value)| allowed.contains(&name) || empty(value))
        });
        if !only_names || !nothing_else {
            let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
            errors.push(Error::forbidden(path, detail));
        }
    }
}

/// Which alternatives are the known form of `x-kubernetes-int-or-string`, in which types are allowed.
#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    all_of: bool,
}

/// The checks of a node: alternatives and pattern.
fn values(schema: &Value, skip: Skip, path: &str, errors: &mut Vec<Error>) {
    let lists = [("anyOf", skip.any_of), ("allOf", false), ("oneOf", false)];
    for (name, _) in lists.into_iter().filter(|(_, skipped)| !skipped) {
        for (at, part) in schema.list_at(&[name]).iter().enumerate() {
            let skip = Skip {
                any_of: name == "allOf" && at == 0 && skip.all_of,
                all_of: false,
            };
            nested(part, skip, &format!("{path}.{name}[{at}]"), errors);
        }
    }
    if let Some(not) = present(schema, "not") {
        nested(not, Skip::default(), &format!("{path}.not"), errors);
    }
    let pattern = schema.str_at(&["pattern"]);
    if !pattern.is_empty()
        && let Err(error) = Regexp::new(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(Error::invalid(
            format!("{path}.pattern"),
            &Value::str(pattern),
            detail,
        ));
    }
}

/// A node inside of alternatives, which may ask more of values but not say what they are.
fn nested(schema: &Value, skip: Skip, path: &str, errors: &mut Vec<Error>) {
    values(schema, skip, path, errors);
    if let Some(items) = present(schema, "items") {
        nested(items, Skip::default(), &format!("{path}.items"), errors);
    }
    for (name, field) in properties(schema) {
        nested(
            field,
            Skip::default(),
            &format!("{path}.properties[{name}]"),
            errors,
        );
    }
    let mut forbid =
        |name: &str, detail: &str| errors.push(Error::forbidden(format!("{path}.{name}"), detail));
    for name in ["type", "title", "description"] {
        if !schema.str_at(&[name]).is_empty() {
            forbid(name, "must be empty to be structural");
        }
    }
    if present(schema, "additionalProperties").is_some_and(|additional| *additional != Value::Bool(false)) {
        forbid("additionalProperties", "must be undefined to be structural");
    }
    for name in ["default", "x-kubernetes-list-type", "x-kubernetes-map-type"] {
        if present(schema, name).is_some() {
            forbid(name, "must be undefined to be structural");
        }
    }
    let flags = [
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    ];
    for name in flags.into_iter().filter(|name| is(schema, name)) {
        forbid(name, "must be false to be structural");
    }
    for name in ["x-kubernetes-list-map-keys", "x-kubernetes-validations"] {
        if !schema.list_at(&[name]).is_empty() {
            forbid(name, "must be empty to be structural");
        }
    }
    if schema.at(&["properties", "metadata"]).is_some() {
        forbid(
            "properties[metadata]",
            "must not be specified in a nested context",
        );
    }
}

/// Alternatives at the root may only speak of fields that the schema itself has.
fn completeness(checks: &Value, schema: &Value, schema_path: &str, path: &str, errors: &mut Vec<Error>) {
    if let Some(not) = present(checks, "not") {
        nested_completeness(not, Some(schema), schema_path, &format!("{path}.not"), errors);
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        for (at, part) in checks.list_at(&[name]).iter().enumerate() {
            nested_completeness(
                part,
                Some(schema),
                schema_path,
                &format!("{path}.{name}[{at}]"),
                errors,
            );
        }
    }
}

fn nested_completeness(
    checks: &Value,
    schema: Option<&Value>,
    schema_path: &str,
    path: &str,
    errors: &mut Vec<Error>,
) {
    let Some(schema) = schema else {
        errors.push(Error::required(
            schema_path,
            format!("because it is defined in {path}"),
        ));
        return;
    };
    completeness(checks, schema, schema_path, path, errors);
    if let Some(items) = present(checks, "items") {
        let (schema_path, path) = (format!("{schema_path}.items"), format!("{path}.items"));
        nested_completeness(items, present(schema, "items"), &schema_path, &path, errors);
    }
    for (name, field) in properties(checks) {
        let schema_path = format!("{schema_path}.properties[{name}]");
        let path = format!("{path}.properties[{name}]");
        nested_completeness(
            field,
            schema.at(&["properties", name]),
            &schema_path,
            &path,
            errors,
        );
    }
}

fn is_int_or_string(schema: &Value) -> bool {
    let only_type = |part: &Value, name: &str| {
        part.str_at(&["type"]) == name && part.as_object().is_some_and(|map| map.len() == 1)
    };
    match schema.list_at(&["anyOf"]) {
        [first, second] => only_type(first, "integer") && only_type(second, "string"),
        _ => false,
    }
}

fn first_all_of_is_int_or_string(schema: &Value) -> bool {
    schema.list_at(&["allOf"]).first().is_some_and(is_int_or_string)
}

/// The value of a key that is there and not null.
pub(super) fn present<'v>(schema: &'v Value, name: &str) -> Option<&'v Value> {
    schema.get(name).filter(|value| !value.is_null())
}

/// The fields that a schema lists.
pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(model::Map::iter)
}
