//! Creating objects.

use model::Value;

use super::Call;
use super::options::WriteOptions;
use super::write::Writer;
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::field;
use crate::http::{content, decode, negotiate};
use crate::kinds::split_api_version;

/// Answers a `POST` to a collection.
pub(crate) fn create(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    let options = WriteOptions::read(call.request, "CreateOptions")?;
    let resource = &call.served.resource;
    let decoded = decode(call.state, call.request, &resource.kind)?;
    let object = read_object(call, &options, decoded.value, &decoded.complaints)?;
    let writer = Writer {
        state: call.state,
        served: &call.served,
        namespace: call.namespace(),
        options: &options,
    };
    call.state.check_escalation(call, &object)?;
    for warning in call.served.strategy.warnings(&object) {
        call.warn(warning);
    }
    let object = writer.create(object, false)?;
    Answer::of(call, representation, 201, &object)
}

/// Brings a body into the form the server keeps: kind checked, decoded, with defaults.
pub(crate) fn read_object(
    call: &Call<'_>,
    options: &WriteOptions,
    object: Value,
    complaints: &[String],
) -> Result<Value> {
    options.report(call, &[], complaints)?;
    read_reporting(call, options, object).map(|(object, _)| object)
}

/// As [`read_object`], and the paths of unknown fields.
pub(crate) fn read_reporting(
    call: &Call<'_>,
    options: &WriteOptions,
    mut object: Value,
) -> Result<(Value, Vec<String>)> {
    check_kind(call, &mut object)?;
    let unknown = call.served.strategy.decode(&mut object)?;
    options.report(call, &unknown, &[])?;
    dedup_owners(call, &mut object);
    call.served.strategy.default(&mut object);
    Ok((object, unknown))
}

/// Holds the body's `apiVersion` and `kind` against what the path says; built-in kinds may leave them out.
fn check_kind(call: &Call<'_>, object: &mut Value) -> Result<()> {
    let resource = &call.served.resource;
    let problem = content::type_problem(object);
    let (Some(map), None) = (object.as_object_mut(), &problem) else {
        let problem = problem.unwrap_or_default();
        return Err(content::unrecognized(
            &call.request.body,
            &resource.kind,
            &problem,
        ));
    };
    let expected = resource.api_version();
    let custom = call.served.definition.is_some();
    for (field, expected) in [
        ("apiVersion", expected.as_str()),
        ("kind", resource.kind.as_str()),
    ] {
        let found = map.get(field).and_then(Value::as_str).unwrap_or_default();
        if found.is_empty() && !custom {
            map.insert(field, expected);
        }
    }
    let text = |field: &str| map.get(field).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() {
        let problem = format!("Object 'Kind' is missing in '{}'", model::json::to_string(object));
        return Err(content::unrecognized(
            &call.request.body,
            &resource.kind,
            &problem,
        ));
    }
    if version != expected || kind != resource.kind {
        let name = map
            .get("metadata")
            .and_then(|metadata| metadata.get("name"))
            .and_then(Value::as_str);
        return Err(mismatch(call, version, kind, name.unwrap_or_default()));
    }
    Ok(())
}

fn mismatch(call: &Call<'_>, version: &str, kind: &str, name: &str) -> Error {
    let resource = &call.served.resource;
    if call.served.definition.is_some() {
        let expected = resource.api_version();
        if version == expected {
            let detail = format!("must be {}", resource.kind);
            let error = field::Error::invalid("kind", &kind.into(), detail);
            return Error::invalid(&resource.group, kind, name, &[error]);
        }
        return Error::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        ));
    }
    let (group, short) = split_api_version(version);
    let why = match call.state.kinds().catalog.by_kind(group, short, kind) {
        Some(_) => {
            let package = resource
                .group
                .split('.')
                .next()
                .filter(|name| !name.is_empty())
                .unwrap_or("core");
            format!(
                "converting ({short}.{kind}) to ({package}.{}): unknown conversion",
                resource.kind
            )
        }
        None => format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
        ),
    };
    Error::bad_request(format!(
        "{kind} in version \"{short}\" cannot be handled as a {}: {why}",
        resource.kind
    ))
}

/// Drops owner references that stand twice, with a remark.
fn dedup_owners(call: &Call<'_>, object: &mut Value) {
    let Some(owners) = object
        .at_mut(&["metadata", "ownerReferences"])
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    let mut seen: Vec<Value> = Vec::new();
    let mut doubled: Vec<String> = Vec::new();
    owners.retain(|owner| {
        let known = seen.contains(owner);
        match known {
            true => doubled.push(owner.str_at(&["uid"]).to_owned()),
            false => seen.push(owner.clone()),
        }
        !known
    });
    if !doubled.is_empty() {
        call.warn(format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            doubled.join(", ")
        ));
    }
}
