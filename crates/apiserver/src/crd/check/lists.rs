//! How a schema says that lists and maps are merged.

use model::Value;

use super::structural::present;
use super::{is, one_of};
use crate::field::Error;

/// `x-kubernetes-list-type` and `x-kubernetes-map-type`.
pub(super) fn check(schema: &Value, path: &str, errors: &mut Vec<Error>) {
    let kind = schema.str_at(&["type"]);
    if present(schema, "x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let path = format!("{path}.x-kubernetes-preserve-unknown-fields");
        errors.push(Error::invalid(
            path,
            &Value::Bool(false),
            "must be true or undefined",
        ));
    }
    let needs_type = |wanted: &str, extension: &str| {
        let detail = format!("must be {wanted} if {extension} is specified");
        match kind {
            "" => Error::required(format!("{path}.type"), detail),
            kind => Error::invalid(format!("{path}.type"), &Value::str(kind), detail),
        }
    };
    if let Some(map_type) = present(schema, "x-kubernetes-map-type") {
        let name = "x-kubernetes-map-type";
        if kind != "object" {
            errors.push(needs_type("object", name));
        }
        one_of(
            &format!("{path}.{name}"),
            map_type.as_str().unwrap_or_default(),
            &["atomic", "granular"],
            errors,
        );
    }
    let list_type = present(schema, "x-kubernetes-list-type").and_then(Value::as_str);
    let name = "x-kubernetes-list-type";
    if let Some(list_type) = list_type {
        if kind != "array" {
            errors.push(needs_type("array", name));
        } else if list_type == "set" {
            set_items(schema, path, errors);
        }
        one_of(
            &format!("{path}.{name}"),
            list_type,
            &["atomic", "set", "map"],
            errors,
        );
    }
    let keys = schema.list_at(&["x-kubernetes-list-map-keys"]);
    if !keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => Error::required(format!("{path}.{name}"), detail),
            Some(found) => Error::invalid(format!("{path}.{name}"), &Value::str(found), detail),
        });
    }
    if list_type == Some("map") {
        map_items(schema, keys, path, errors);
    }
    not_nullable(schema, list_type, path, errors);
}

/// Elements of sets are compared as a whole.
fn set_items(schema: &Value, path: &str, errors: &mut Vec<Error>) {
    let Some(items) = present(schema, "items") else {
        return;
    };
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list_type = present(items, "x-kubernetes-list-type");
    let value = list_type.cloned().unwrap_or_default();
    match items.str_at(&["type"]) {
        "array" if list_type.is_some_and(|found| found.as_str() != Some("atomic")) => {
            errors.push(Error::invalid(
                format!("{path}.items.x-kubernetes-list-type"),
                &value,
                detail,
            ));
        }
        "object" if items.str_at(&["x-kubernetes-map-type"]) != "atomic" => {
            errors.push(Error::invalid(
                format!("{path}.items.x-kubernetes-map-type"),
                &value,
                detail,
            ));
        }
        _ => {}
    }
}

/// Elements of maps are objects, and their keys are fields with a single value.
fn map_items(schema: &Value, keys: &[Value], path: &str, errors: &mut Vec<Error>) {
    let keys_path = format!("{path}.x-kubernetes-list-map-keys");
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(Error::required(keys_path.as_str(), detail));
    }
    let Some(items) = present(schema, "items") else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(Error::required(format!("{path}.items"), detail));
        return;
    };
    let kind = items.str_at(&["type"]);
    if kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(Error::invalid(
            format!("{path}.items.type"),
            &Value::str(kind),
            detail,
        ));
        return;
    }
    let shown: Value = keys.to_vec().into();
    for (at, key) in keys.iter().enumerate() {
        let name = key.as_str().unwrap_or_default();
        match items.at(&["properties", name]) {
            Some(field) if matches!(field.str_at(&["type"]), "array" | "object") => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let path = format!("{path}.items.properties[{name}].type");
                errors.push(Error::invalid(path, &Value::str(kind), detail));
            }
            Some(_) => {}
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(Error::invalid(keys_path.as_str(), &shown, detail));
            }
        }
        if keys[..at].contains(key) {
            errors.push(Error::invalid(
                keys_path.as_str(),
                &shown,
                "must not contain duplicate entries",
            ));
        }
    }
}

/// Elements that are told apart cannot be null, nor can their keys be missing.
fn not_nullable(schema: &Value, list_type: Option<&str>, path: &str, errors: &mut Vec<Error>) {
    let Some(list_type) = list_type.filter(|found| matches!(*found, "set" | "map")) else {
        return;
    };
    let Some(items) = present(schema, "items") else {
        return;
    };
    if is(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(Error::forbidden(format!("{path}.items.nullable"), detail));
    }
    if list_type != "map" {
        return;
    }
    for key in schema.list_at(&["x-kubernetes-list-map-keys"]) {
        let name = key.as_str().unwrap_or_default();
        let Some(field) = items.at(&["properties", name]) else {
            continue;
        };
        let path = format!("{path}.items.properties[{name}]");
        let required = items.list_at(&["required"]).contains(key);
        if !required && present(field, "default").is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                          property";
            errors.push(Error::required(format!("{path}.default"), detail));
        }
        if is(field, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(Error::forbidden(format!("{path}.nullable"), detail));
        }
    }
}
