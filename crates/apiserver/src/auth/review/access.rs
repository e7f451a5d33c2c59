//! May I, or somebody else, do this?

use model::quote::quote;
use model::{Map, Str, Value};

use super::{AUTHORIZATION, Context, Review, selectors};
use crate::auth::attributes::{Attributes, Resource};
use crate::auth::user::User;
use crate::error::{Error, Result};
use crate::field;

/// The fields of metadata, in the order in which messages show them.
const METADATA: [&str; 9] = [
    "name",
    "generateName",
    "namespace",
    "resourceVersion",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

pub(super) fn answer(review: Review, body: &Value, context: &Context<'_>) -> Result<Value> {
    let mut answer = review.echo(body);
    if review == Review::LocalSubjectAccess {
        adopt_namespace(&mut answer, context.namespace)?;
    }
    let errors = validate(review, &answer);
    if !errors.is_empty() {
        // The real server fills in the kind of what it decoded, which is empty.
        return Err(Error::invalid(AUTHORIZATION, "", "", &errors));
    }
    let spec = answer.get("spec").cloned().unwrap_or_default();
    let user = match review {
        Review::SelfSubjectAccess => context.user.clone(),
        _ => subject(&spec),
    };
    let decision = context.rbac.authorize(&attributes(&spec, &user));
    let mut status = Map::new();
    status.insert("allowed", decision.allowed);
    let problems = selectors::problems(&spec);
    for (key, text) in [("reason", decision.reason()), ("evaluationError", problems)] {
        if !text.is_empty() {
            status.insert(key, text);
        }
    }
    answer.set_at(&["status"], status);
    Ok(answer)
}

fn adopt_namespace(answer: &mut Value, namespace: &str) -> Result<()> {
    match answer.str_at(&["metadata", "namespace"]) {
        "" => answer.set_at(&["metadata", "namespace"], namespace),
        own if own == namespace => {}
        _ => {
            let message =
                "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Error::bad_request(message));
        }
    }
    Ok(())
}

fn subject(spec: &Value) -> User {
    let texts = |value: &Value| {
        value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(Str::new)
            .collect()
    };
    let extra = spec.at(&["extra"]).and_then(Value::as_object);
    User {
        name: Str::new(spec.str_at(&["user"])),
        uid: Str::new(spec.str_at(&["uid"])),
        groups: spec.at(&["groups"]).map(texts).unwrap_or_default(),
        extra: extra
            .into_iter()
            .flat_map(Map::iter)
            .map(|(key, value)| (Str::new(key), texts(value)))
            .collect(),
    }
}

fn attributes<'a>(spec: &'a Value, user: &'a User) -> Attributes<'a> {
    match part(spec, "resourceAttributes") {
        Some(wanted) => {
            let text = |key| wanted.str_at(&[key]);
            let resource = Resource {
                group: text("group"),
                resource: text("resource"),
                subresource: text("subresource"),
                namespace: text("namespace"),
                name: text("name"),
            };
            Attributes::resource(user, text("verb"), resource)
        }
        None => {
            let text = |key| spec.str_at(&["nonResourceAttributes", key]);
            Attributes::path(user, text("verb"), text("path"))
        }
    }
}

fn part<'a>(spec: &'a Value, key: &str) -> Option<&'a Value> {
    spec.get(key).filter(|part| !part.is_null())
}

fn validate(review: Review, object: &Value) -> Vec<field::Error> {
    let none = Value::object();
    let spec = object.get("spec").unwrap_or(&none);
    let (resource, path) = (
        part(spec, "resourceAttributes"),
        part(spec, "nonResourceAttributes"),
    );
    let mut errors = Vec::new();
    match (resource, path) {
        (Some(_), Some(path)) => {
            let why = "cannot be specified in combination with resourceAttributes";
            errors.push(invalid_path("spec.nonResourceAttributes", path, why));
        }
        (None, None) => {
            let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            errors.push(field::Error::invalid(
                "spec.resourceAttributes",
                &Value::Null,
                why,
            ));
        }
        _ => {}
    }
    let names_nobody = spec.str_at(&["user"]).is_empty() && spec.list_at(&["groups"]).is_empty();
    if review != Review::SelfSubjectAccess && names_nobody {
        let why = "at least one of user or group must be specified";
        errors.push(field::Error::invalid("spec.user", &Value::str(""), why));
    }
    errors.extend(resource.into_iter().flat_map(selectors::validate));
    errors.extend(validate_metadata(review, object));
    if review != Review::LocalSubjectAccess {
        return errors;
    }
    let wanted = resource.map(|resource| resource.str_at(&["namespace"]));
    if let Some(wanted) = wanted.filter(|wanted| *wanted != object.str_at(&["metadata", "namespace"])) {
        let why = "must match metadata.namespace";
        errors.push(field::Error::invalid(
            "spec.resourceAttributes.namespace",
            &Value::str(wanted),
            why,
        ));
    }
    errors.extend(path.map(|path| {
        invalid_path(
            "spec.nonResourceAttributes",
            path,
            "disallowed on this kind of request",
        )
    }));
    errors
}

/// A review has no identity, so its metadata is empty, but for what the server itself puts there.
fn validate_metadata(review: Review, object: &Value) -> Option<field::Error> {
    let metadata = object.get("metadata")?;
    let why = match review {
        Review::LocalSubjectAccess => "must be empty except for namespace",
        _ => "must be empty",
    };
    let filled = |key: &&str| match metadata.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::Str(text)) => !text.is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    };
    let present: Vec<&str> = METADATA.into_iter().filter(filled).collect();
    let allowed = |key: &&str| match *key {
        "managedFields" => true,
        "namespace" => review == Review::LocalSubjectAccess,
        _ => false,
    };
    if present.iter().all(allowed) {
        return None;
    }
    let mut shown = Map::new();
    for key in present {
        shown.push(Str::new(key), metadata.get(key).cloned().unwrap_or_default());
    }
    Some(field::Error::invalid("metadata", &Value::Object(shown), why))
}

/// The real server prints its own type here, whose field names differ from those of the API.
fn invalid_path(place: &str, path: &Value, why: &str) -> field::Error {
    let shown = |key| quote(path.str_at(&[key]));
    let value = format!("{{\"Path\":{},\"Verb\":{}}}", shown("path"), shown("verb"));
    field::Error {
        kind: field::Kind::Invalid,
        field: place.into(),
        value,
        detail: why.into(),
    }
}
