//! What every resource has, also those inside of others: type and metadata.

use std::sync::Arc;

use model::Value;
use smd::{Schema, TypeId};

use super::schema::Node;
use crate::builtin::validate::name;
use crate::field;
use smd::go::GoTypes;

/// How metadata is read.
#[derive(Clone)]
pub(crate) struct MetadataType {
    types: Arc<GoTypes>,
    object_meta: TypeId,
}

impl MetadataType {
    /// The type of metadata in `schema`, the types of Kubernetes itself; `None` where it has none.
    pub(crate) fn new(schema: &Schema, types: Arc<GoTypes>) -> Option<Self> {
        let object_meta = schema.named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")?;
        Some(MetadataType { types, object_meta })
    }

    /// Brings the metadata of a resource into the form the server keeps. Returns the paths of unknown fields.
    ///
    /// # Errors
    /// Go's message for a field of the wrong type.
    pub(crate) fn decode(&self, object: &mut Value, path: &str) -> Result<Vec<String>, String> {
        let Some(metadata) = object.get_mut("metadata") else {
            return Ok(Vec::new());
        };
        let unknown = self.types.decode(self.object_meta, metadata)?;
        if metadata.get("creationTimestamp").is_some_and(Value::is_null) {
            metadata.make_object().remove("creationTimestamp");
        }
        let prefix = if path.is_empty() {
            String::new()
        } else {
            format!("{path}.")
        };
        Ok(unknown
            .into_iter()
            .map(|field| format!("{prefix}metadata.{field}"))
            .collect())
    }
}

impl std::fmt::Debug for MetadataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MetadataType")
    }
}

/// Reads the metadata of all resources inside of an object. Returns the paths of unknown fields.
///
/// # Errors
/// The first thing of the wrong type.
pub(crate) fn coerce(
    object: &mut Value,
    schema: &Node,
    metadata: &MetadataType,
) -> Result<Vec<String>, field::Error> {
    let mut unknown = Vec::new();
    walk(object, schema, "", metadata, &mut unknown)?;
    Ok(unknown)
}

fn walk(
    value: &mut Value,
    schema: &Node,
    path: &str,
    metadata: &MetadataType,
    unknown: &mut Vec<String>,
) -> Result<(), field::Error> {
    if !schema.embedded_below && !schema.embedded {
        return Ok(());
    }
    if schema.embedded && matches!(value, Value::Object(_)) {
        for name in ["apiVersion", "kind"] {
            if let Some(found) = value.get(name).filter(|found| found.as_str().is_none()) {
                return Err(field::Error::invalid(
                    child(path, name),
                    found,
                    "must be a string",
                ));
            }
        }
        let before = value.get("metadata").cloned().unwrap_or_default();
        let found = metadata
            .decode(value, path)
            .map_err(|why| field::Error::invalid(child(path, "metadata"), &before, why))?;
        unknown.extend(found);
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                if let Some(node) = schema.field(key) {
                    walk(value, node, &child(path, key), metadata, unknown)?;
                } else if let Some(node) = schema.additional.node() {
                    walk(value, node, &format!("{path}[{key}]"), metadata, unknown)?;
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &schema.items else { return Ok(()) };
            for (at, item) in items.iter_mut().enumerate() {
                walk(item, node, &format!("{path}[{at}]"), metadata, unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// All that is wrong with the type and metadata of resources inside of an object.
pub(crate) fn validate(object: &Value, schema: &Node) -> Vec<field::Error> {
    let mut errors = Vec::new();
    validate_below(object, schema, "", &mut errors);
    errors
}

fn validate_below(value: &Value, schema: &Node, path: &str, errors: &mut Vec<field::Error>) {
    if !schema.embedded_below && !schema.embedded {
        return;
    }
    match value {
        Value::Object(map) => {
            if schema.embedded {
                validate_resource(value, path, errors);
            }
            for (key, value) in map.iter() {
                if let Some(node) = schema.field(key) {
                    validate_below(value, node, &child(path, key), errors);
                } else if let Some(node) = schema.additional.node() {
                    validate_below(value, node, &format!("{path}[{key}]"), errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = &schema.items else { return };
            for (at, item) in items.iter().enumerate() {
                validate_below(item, node, &format!("{path}[{at}]"), errors);
            }
        }
        _ => {}
    }
}

fn validate_resource(value: &Value, path: &str, errors: &mut Vec<field::Error>) {
    let missing = ["apiVersion", "kind"]
        .into_iter()
        .filter(|name| value.get(name).is_none());
    errors.extend(missing.map(|name| field::Error::required(child(path, name), "")));
    let mut invalid = |name: &str, value: &Value, detail: String| {
        errors.push(field::Error::invalid(child(path, name), value, detail));
    };
    for name in ["apiVersion", "kind"] {
        match value.get(name) {
            None => {}
            Some(Value::Str(text)) if text.is_empty() => {
                invalid(name, &Value::str(""), "must not be empty".into())
            }
            Some(Value::Str(text)) if name == "apiVersion" && text.matches('/').count() > 1 => {
                invalid(
                    name,
                    &Value::str(text),
                    format!("unexpected GroupVersion string: {text}"),
                );
            }
            Some(Value::Str(text)) if name == "kind" => {
                let problems = name::label_1035(&text.to_lowercase());
                if !problems.is_empty() {
                    let detail = format!(
                        "may have mixed case, but should otherwise match: {}",
                        problems.join(",")
                    );
                    invalid(name, &Value::str(text), detail);
                }
            }
            Some(Value::Str(_)) => {}
            Some(other) => invalid(name, other, "must be a string".into()),
        }
    }
    if value.get("metadata").is_some() {
        errors.extend(metadata_errors(value, path));
    }
}

/// What is wrong with labels, annotations and names.
fn metadata_errors(value: &Value, path: &str) -> Vec<field::Error> {
    let path = child(path, "metadata");
    let mut errors = Vec::new();
    let name = value.str_at(&["metadata", "name"]);
    for problem in if name.is_empty() {
        Vec::new()
    } else {
        name::path_segment(name)
    } {
        errors.push(field::Error::invalid(
            format!("{path}.name"),
            &Value::str(name),
            problem,
        ));
    }
    let pairs = |field: &str| {
        let map = value.at(&["metadata", field]).and_then(Value::as_object);
        map.into_iter()
            .flat_map(model::Map::iter)
            .map(|(key, value)| (key.to_owned(), value.clone()))
    };
    for (key, text) in pairs("labels") {
        let path = format!("{path}.labels");
        for problem in model::label::key_problems(&key) {
            errors.push(field::Error::invalid(path.as_str(), &Value::str(&key), problem));
        }
        for problem in model::label::value_problems(text.as_str().unwrap_or_default()) {
            errors.push(field::Error::invalid(path.as_str(), &text, problem));
        }
    }
    for (key, _) in pairs("annotations") {
        for problem in model::label::key_problems(&key.to_lowercase()) {
            errors.push(field::Error::invalid(
                format!("{path}.annotations"),
                &Value::str(&key),
                problem,
            ));
        }
    }
    errors
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
