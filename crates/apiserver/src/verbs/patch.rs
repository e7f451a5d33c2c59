//! Changing objects by patches, in four forms.

use std::sync::Arc;

use model::{Value, json};
use smd::patch::Checking;
use smd::patch::json::{Limits, Patch as JsonPatch};

use super::Call;
use super::options::{Validation, WriteOptions};
use super::patched;
use super::update::check_name;
use super::write::{Update, Writer};
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::http::{content, negotiate};
use crate::store::{Key, Object};
use crate::strategy::Part;

/// A patch as it came.
pub(super) enum Patch {
    Json(JsonPatch),
    Merge(Value),
    Strategic(Value),
    Apply { value: Value, complaints: Vec<String> },
}

/// Answers a `PATCH` of an object or its status.
pub(crate) fn patch(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    let options = WriteOptions::read(call.request, "PatchOptions")?;
    let checking = if options.validation == Validation::Ignore {
        Checking::Lax
    } else {
        Checking::Strict
    };
    let patch = read(call, &options, checking)?;
    if call.target.subresource == "scale" {
        return super::scale::patch(call, &options, |scale| apply_plain(call, &patch, checking, scale));
    }
    let writer = Writer {
        state: call.state,
        served: &call.served,
        namespace: call.namespace(),
        options: &options,
    };
    if let Patch::Apply { value, complaints } = &patch {
        let (object, created) = apply(call, &writer, value, complaints)?;
        return Answer::of(call, representation, if created { 201 } else { 200 }, &object);
    }
    let object = writer.update(&call.key(), call.part(), |old| {
        let patched = apply_plain(call, &patch, checking, old)?;
        let object = patched::read(call, &options, &patch, patched)?;
        call.state.check_escalation(call, &object)?;
        Ok(Update { object, owned: false })
    })?;
    Answer::of(call, representation, 200, &object)
}

fn read(call: &Call<'_>, options: &WriteOptions, checking: Checking) -> Result<Patch> {
    let media = call
        .request
        .header("content-type")
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let custom = call.served.definition.is_some();
    let body = &call.request.body;
    match media {
        "application/json-patch+json" => {
            let (patch, complaints) =
                JsonPatch::read(&content::decode_patch(body)?, checking, Limits::SERVER)
                    .map_err(patch_error)?;
            options.complain(call, &complaints)?;
            Ok(Patch::Json(patch))
        }
        "application/merge-patch+json" => Ok(Patch::Merge(content::decode_patch(body)?)),
        "application/strategic-merge-patch+json" if !custom => {
            let patch = json::parse(body).map_err(|error| Error::bad_request(error.to_string()))?;
            Ok(Patch::Strategic(patch))
        }
        "application/apply-patch+yaml" => {
            let value = content::decode_applied(body)?;
            Ok(Patch::Apply {
                value,
                complaints: content::applied_complaints(body),
            })
        }
        "application/strategic-merge-patch+json" => Err(content::unsupported(&[
            "application/json-patch+json",
            "application/merge-patch+json",
            "application/apply-patch+yaml",
        ])),
        _ => Err(Error::new(
            415,
            "UnsupportedMediaType",
            "415: Unsupported Media Type",
        )),
    }
}

/// Applies any patch but a server-side apply.
fn apply_plain(call: &Call<'_>, patch: &Patch, checking: Checking, old: &Value) -> Result<Value> {
    let mut value = old.clone();
    let done = match patch {
        Patch::Json(patch) => patch.apply(&mut value),
        Patch::Merge(patch) => smd::patch::merge::apply(&mut value, patch, checking),
        Patch::Strategic(patch) => {
            smd::patch::strategic::apply(&mut value, patch, &call.served.schema, call.served.ty)
        }
        Patch::Apply { .. } => {
            return Err(Error::bad_request(
                "server-side apply is not possible on this subresource",
            ));
        }
    };
    done.map_err(patch_error)?;
    Ok(value)
}

fn patch_error(error: smd::patch::Error) -> Error {
    match error {
        smd::patch::Error::BadRequest(text) => Error::bad_request(text),
        smd::patch::Error::TooLarge(text) => Error::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: {text}"),
        ),
        smd::patch::Error::Failed(text) => Error::new(500, "", text),
        // What was wrong is not told, nor with which object.
        smd::patch::Error::Unprocessable(_) => Error::new(422, "Invalid", smd::patch::REJECTED),
    }
}

/// Server-side apply. Returns the object and whether it was created.
fn apply(
    call: &Call<'_>,
    writer: &Writer<'_>,
    applied: &Value,
    complaints: &[String],
) -> Result<(Arc<Object>, bool)> {
    check_applied(call, applied)?;
    if writer.options.validation == Validation::Strict && !complaints.is_empty() {
        return Err(Error::bad_request(format!(
            "error strict decoding YAML: {}",
            complaints.join(", ")
        )));
    }
    writer.options.report(call, &[], complaints)?;
    let key = call.key();
    loop {
        if call
            .state
            .store
            .get(&call.served.resource.storage, &key)
            .is_none()
        {
            if call.part() == Part::Status {
                return Err(missing(call, &key));
            }
            match create(call, writer, applied) {
                // Somebody else was faster: apply on top of what is there now.
                Err(error) if error.reason == "AlreadyExists" => continue,
                created => return created.map(|object| (object, true)),
            }
        }
        let updated = writer.update(&key, call.part(), |old| {
            let mut merged =
                call.state
                    .apply(&call.served, Some(old), applied, writer.options, call.part())?;
            call.served.strategy.decode(&mut merged)?;
            call.served.strategy.default(&mut merged);
            call.state.check_escalation(call, &merged)?;
            Ok(Update {
                object: merged,
                owned: true,
            })
        });
        match updated {
            Err(error) if error.code == 404 && call.part() == Part::Main => continue,
            updated => return updated.map(|object| (object, false)),
        }
    }
}

fn create(call: &Call<'_>, writer: &Writer<'_>, applied: &Value) -> Result<Arc<Object>> {
    check_name(call, applied.str_at(&["metadata", "name"]))?;
    if !applied.str_at(&["metadata", "uid"]).is_empty() {
        let resource = &call.served.resource;
        let uid = applied.str_at(&["metadata", "uid"]);
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        return Err(Error::conflict(
            &resource.group,
            &resource.plural,
            &call.target.name,
            &why,
        ));
    }
    let mut object = call
        .state
        .apply(&call.served, None, applied, writer.options, Part::Main)?;
    call.served.strategy.decode(&mut object)?;
    call.served.strategy.default(&mut object);
    call.state.check_escalation(call, &object)?;
    writer.create(object, true)
}

fn missing(call: &Call<'_>, key: &Key) -> Error {
    let resource = &call.served.resource;
    Error::not_found(&resource.group, &resource.plural, key.name())
}

/// What an applied object must have, and must not.
fn check_applied(call: &Call<'_>, applied: &Value) -> Result<()> {
    let resource = &call.served.resource;
    if applied.as_object().is_none() {
        return Err(Error::bad_request(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of \
             type map[string]interface {{}}",
            content::go_name(applied)
        )));
    }
    let (version, kind) = (applied.str_at(&["apiVersion"]), applied.str_at(&["kind"]));
    if version != resource.api_version() || kind != resource.kind {
        let slash = if version.contains('/') { "" } else { "/" };
        return Err(Error::bad_request(format!(
            "invalid object type: {slash}{version}, Kind={kind}"
        )));
    }
    let managed = applied.at(&["metadata", "managedFields"]);
    if managed
        .is_some_and(|fields| fields.as_array().is_none_or(|list| !list.is_empty()) && !fields.is_null())
    {
        return Err(Error::bad_request("metadata.managedFields must be nil"));
    }
    let name = applied.str_at(&["metadata", "name"]);
    if !name.is_empty() {
        check_name(call, name)?;
    }
    let namespace = applied.str_at(&["metadata", "namespace"]);
    if !namespace.is_empty() && namespace != call.namespace() {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Error::bad_request(message));
    }
    Ok(())
}
