//! The `scale` subresource of custom resources.

use model::{Map, Str, Value, value};

use crate::error::{Error, Result};
use crate::field;

/// Where an object keeps what its scale tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Path of the wanted number of replicas.
    pub spec_replicas: Vec<Str>,
    /// Path of the number that there are.
    pub status_replicas: Vec<Str>,
    /// Path of the selector of the pods, as text; empty where there is none.
    pub selector: Vec<Str>,
}

impl Scale {
    /// Reads the subresource from a definition.
    pub fn read(scale: &Value) -> Option<Scale> {
        if scale.is_null() {
            return None;
        }
        let path = |name| match scale.str_at(&[name]) {
            "" => Vec::new(),
            text => text
                .strip_prefix('.')
                .unwrap_or(text)
                .split('.')
                .map(Str::from)
                .collect(),
        };
        Some(Scale {
            spec_replicas: path("specReplicasPath"),
            status_replicas: path("statusReplicasPath"),
            selector: path("labelSelectorPath"),
        })
    }

    /// The `Scale` object of a custom resource.
    ///
    /// # Errors
    /// Where the object has no replicas, or has something else in their place.
    pub fn get(&self, object: &Value) -> Result<Value> {
        let wanted = number(object, &self.spec_replicas).map_err(Error::internal)?;
        let Some(wanted) = wanted else {
            let path = self.spec_replicas.join(".");
            return Err(Error::internal(format!(
                "the spec replicas field \".{path}\" does not exist"
            )));
        };
        let present = number(object, &self.status_replicas)
            .map_err(Error::internal)?
            .unwrap_or_default();
        let mut metadata = Map::new();
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            if let Some(value) = object.at(&["metadata", field]) {
                metadata.insert(field, value.clone());
            }
        }
        let mut scale = value!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": metadata,
            "spec": {},
            "status": { "replicas": present },
        });
        // Zero replicas are not written in the spec.
        if wanted != 0 {
            scale.set_at(&["spec", "replicas"], wanted);
        }
        let selector = text(object, &self.selector).map_err(Error::internal)?;
        if !selector.is_empty() {
            scale.set_at(&["status", "selector"], selector);
        }
        Ok(scale)
    }

    /// Sets the replicas of a custom resource to those of a `Scale` object. Whether the number makes sense is found out
    /// when the resource is validated.
    pub fn set(&self, object: &mut Value, scale: &Value) {
        let replicas = scale
            .at(&["spec", "replicas"])
            .and_then(Value::as_i64)
            .unwrap_or_default();
        let path: Vec<&str> = self.spec_replicas.iter().map(Str::as_str).collect();
        object.set_at(&path, replicas);
    }

    /// What is wrong with the numbers and the selector that the paths lead to.
    pub(super) fn validate(&self, object: &Value, with_spec: bool) -> Vec<field::Error> {
        let mut errors = Vec::new();
        let paths = [(&self.spec_replicas, with_spec), (&self.status_replicas, true)];
        for (path, _) in paths.into_iter().filter(|(_, used)| *used) {
            let field = format!(".{}", path.join("."));
            let (value, detail) = match number(object, path) {
                Err(why) => (0, why),
                Ok(Some(value)) if value < 0 => (value, "should be a non-negative integer".into()),
                Ok(Some(value)) if value > i64::from(i32::MAX) => {
                    (value, format!("should be less than or equal to {}", i32::MAX))
                }
                Ok(_) => continue,
            };
            errors.push(field::Error::invalid(field, &Value::Int(value), detail));
        }
        if let Err(why) = text(object, &self.selector) {
            let field = format!(".{}", self.selector.join("."));
            errors.push(field::Error::invalid(field, &Value::str(""), why));
        }
        errors
    }
}

/// The whole number at the end of a path; `None` where there is nothing.
fn number(object: &Value, path: &[Str]) -> std::result::Result<Option<i64>, String> {
    match lookup(object, path)? {
        None => Ok(None),
        Some(Value::Int(number)) => Ok(Some(*number)),
        Some(other) => Err(wrong_type(path, other, "int64")),
    }
}

fn text<'v>(object: &'v Value, path: &[Str]) -> std::result::Result<&'v str, String> {
    if path.is_empty() {
        return Ok("");
    }
    match lookup(object, path)? {
        None => Ok(""),
        Some(Value::Str(text)) => Ok(text),
        Some(other) => Err(wrong_type(path, other, "string")),
    }
}

fn lookup<'v>(object: &'v Value, path: &[Str]) -> std::result::Result<Option<&'v Value>, String> {
    let mut value = object;
    for (at, key) in path.iter().enumerate() {
        match value {
            Value::Object(map) => match map.get(key) {
                Some(next) => value = next,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => return Err(wrong_type(&path[..at + 1], other, "map[string]interface{}")),
        }
    }
    Ok(Some(value))
}

fn wrong_type(path: &[Str], value: &Value, wanted: &str) -> String {
    use smd::patch::go_text;
    let found = match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    let path = path.join(".");
    format!(
        ".{path} accessor error: {} is of the type {found}, expected {wanted}",
        go_text::plain(value)
    )
}
