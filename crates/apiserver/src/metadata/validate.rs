//! What is wrong with the metadata of an object.

use model::Value;

use super::{label, of};
use crate::builtin::validate::name;
use crate::field::{Error, Kind};

const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// The problems of a new object's metadata. `name_problems` is the kind's rule for names.
pub(crate) fn validate_create(
    object: &Value,
    namespaced: bool,
    name_problems: &dyn Fn(&str) -> Vec<String>,
) -> Vec<Error> {
    let mut errors = Vec::new();
    let name = object.str_at(&["metadata", "name"]);
    let generate = object.str_at(&["metadata", "generateName"]);
    if !generate.is_empty() {
        // A trailing dash or dot is fine there: a random ending follows.
        let probe = format!("{}a", generate.trim_end_matches('-'));
        errors.extend(
            name_problems(&probe)
                .into_iter()
                .map(|text| Error::invalid("metadata.generateName", &generate.into(), text)),
        );
    }
    match name {
        "" => errors.push(Error::required(
            "metadata.name",
            "name or generateName is required",
        )),
        name => errors.extend(
            name_problems(name)
                .into_iter()
                .map(|text| Error::invalid("metadata.name", &name.into(), text)),
        ),
    }
    errors.extend(shared(object, namespaced));
    errors
}

/// Finalizers of built-in kinds are standard ones or have a domain.
pub(crate) fn validate_finalizers(object: &Value) -> Vec<Error> {
    const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
    let names = super::finalizers(object).enumerate();
    let wrong = names.filter(|(_, name)| !name.contains('/') && !STANDARD.contains(name));
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    wrong
        .map(|(at, name)| Error::invalid(format!("metadata.finalizers[{at}]"), &name.into(), detail))
        .collect()
}

/// The problems of an update's metadata.
pub(crate) fn validate_update(object: &Value, old: &Value, namespaced: bool) -> Vec<Error> {
    let mut errors = shared(object, namespaced);
    let (new_meta, old_meta) = (of(object), of(old));
    if old_meta.contains_key("deletionTimestamp") {
        errors.extend(new_finalizers(object, old));
    }
    if object.str_at(&["metadata", "resourceVersion"]).is_empty() {
        let detail = "must be specified for an update";
        errors.push(Error::invalid("metadata.resourceVersion", &"".into(), detail));
    }
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let (new, old) = (new_meta.get(field), old_meta.get(field));
        if new != old {
            let found = new.cloned().unwrap_or_else(|| missing(field));
            errors.push(Error::invalid(
                format!("metadata.{field}"),
                &found,
                "field is immutable",
            ));
        }
    }
    errors
}

fn missing(field: &str) -> Value {
    match field {
        "name" | "namespace" | "uid" => "".into(),
        _ => Value::Null,
    }
}

fn new_finalizers(object: &Value, old: &Value) -> Option<Error> {
    let had: Vec<&str> = super::finalizers(old).collect();
    let mut added: Vec<&str> = super::finalizers(object)
        .filter(|name| !had.contains(name))
        .collect();
    added.sort_unstable();
    added.dedup();
    if added.is_empty() {
        return None;
    }
    let list: Vec<String> = added.iter().map(|name| format!("{name:?}")).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        list.join(", ")
    );
    Some(Error::forbidden("metadata.finalizers", detail))
}

fn shared(object: &Value, namespaced: bool) -> Vec<Error> {
    let mut errors = Vec::new();
    let namespace = object.str_at(&["metadata", "namespace"]);
    match (namespaced, namespace) {
        (true, "") => errors.push(Error::required("metadata.namespace", "")),
        (true, namespace) => {
            let invalid = |text| Error::invalid("metadata.namespace", &namespace.into(), text);
            errors.extend(name::label(namespace).into_iter().map(invalid));
        }
        (false, "") => {}
        (false, _) => errors.push(Error::forbidden("metadata.namespace", "not allowed on this type")),
    }
    errors.extend(labels(object));
    errors.extend(annotations(object));
    errors.extend(owners(object));
    errors.extend(finalizers(object));
    errors
}

fn labels(object: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    for (key, value) in object
        .at(&["metadata", "labels"])
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.iter())
    {
        let invalid = |found: &str, text| Error::invalid("metadata.labels", &found.into(), text);
        errors.extend(
            label::key_problems(key)
                .into_iter()
                .map(|text| invalid(key, text)),
        );
        let value = value.as_str().unwrap_or_default();
        errors.extend(
            label::value_problems(value)
                .into_iter()
                .map(|text| invalid(value, text)),
        );
    }
    errors
}

fn annotations(object: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in object
        .at(&["metadata", "annotations"])
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.iter())
    {
        size += key.len() + value.as_str().map_or(0, str::len);
        let problems = label::key_problems(&key.to_lowercase());
        errors.extend(
            problems
                .into_iter()
                .map(|text| Error::invalid("metadata.annotations", &key.into(), text)),
        );
    }
    if size > ANNOTATIONS_LIMIT {
        errors.push(Error {
            kind: Kind::TooLong,
            field: "metadata.annotations".into(),
            value: String::new(),
            detail: format!("may not be more than {ANNOTATIONS_LIMIT} bytes"),
        });
    }
    errors
}

fn owners(object: &Value) -> Vec<Error> {
    const FIELD: &str = "metadata.ownerReferences";
    let owners = object.list_at(&["metadata", "ownerReferences"]);
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for owner in owners {
        for (field, text) in [
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if owner.str_at(&[field]).is_empty() {
                errors.push(Error::invalid(format!("{FIELD}.{field}"), &"".into(), text));
            }
        }
        let version = owner.str_at(&["apiVersion"]);
        if version.is_empty() || version.ends_with('/') {
            errors.push(Error::invalid(
                format!("{FIELD}.apiVersion"),
                &version.into(),
                "version must not be empty",
            ));
        }
        if owner.get("controller").and_then(Value::as_bool) != Some(true) {
            continue;
        }
        let this = format!("{}/{}", owner.str_at(&["kind"]), owner.str_at(&["name"]));
        match &controller {
            None => controller = Some(this),
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                errors.push(Error::invalid(FIELD, &as_go_orders(owners), detail));
            }
        }
    }
    errors
}

/// Owner references as Go writes them: fields in the order of the type.
fn as_go_orders(owners: &[Value]) -> Value {
    let order = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let ordered = owners.iter().map(|owner| {
        let mut map = model::Map::new();
        for field in order {
            if let Some(value) = owner.get(field) {
                map.push(field.into(), value.clone());
            }
        }
        Value::Object(map)
    });
    ordered.collect()
}

fn finalizers(object: &Value) -> Vec<Error> {
    const FIELD: &str = "metadata.finalizers";
    let mut errors = Vec::new();
    for name in super::finalizers(object) {
        errors.extend(
            label::key_problems(name)
                .into_iter()
                .map(|text| Error::invalid(FIELD, &name.into(), text)),
        );
    }
    let both = ["orphan", "foregroundDeletion"]
        .iter()
        .all(|wanted| super::finalizers(object).any(|name| name == *wanted));
    if both {
        let list = object
            .at(&["metadata", "finalizers"])
            .cloned()
            .unwrap_or_default();
        errors.push(Error::invalid(
            FIELD,
            &list,
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
    errors
}
