//! What comes of a patch, read as the object it should be.
//!
//! The real server refuses a result that is no such object in another way than a body that is none: it names neither
//! kind nor object, but shows the patch or what came of it.

use model::{Value, json};
use smd::patch::go_text;

use super::Call;
use super::create::read_reporting;
use super::options::{Validation, WriteOptions};
use super::patch::Patch;
use super::update::check_name;
use crate::error::{Error, Result};
use crate::field;
use crate::http::content;

/// Brings the result of a patch into the form the server keeps.
pub(super) fn read(
    call: &Call<'_>,
    options: &WriteOptions,
    patch: &Patch,
    mut patched: Value,
) -> Result<Value> {
    let resource = &call.served.resource;
    if matches!(patch, Patch::Strategic(_)) {
        // Such a patch is merged into the object's type, which has no say in which type it is.
        patched.set_at(&["apiVersion"], resource.api_version());
        patched.set_at(&["kind"], resource.kind.as_str());
    }
    let lax = WriteOptions {
        validation: Validation::Ignore,
        ..options.clone()
    };
    let strict = options.validation == Validation::Strict;
    let shown = || match patch {
        Patch::Strategic(patch) => go_text::plain(patch),
        _ => json::to_string(&patched),
    };
    if let Some(why) = content::type_problem(&patched) {
        return Err(refused(shown(), why));
    }
    let (object, unknown) = read_reporting(call, if strict { &lax } else { options }, patched.clone())
        .map_err(|error| match unreadable(call, &error) {
            Some(why) => refused(shown(), explained(patch, why)),
            None => error,
        })?;
    if strict && !unknown.is_empty() {
        let unknown: Vec<String> = unknown
            .iter()
            .map(|path| format!("unknown field \"{path}\""))
            .collect();
        let detail = format!("strict decoding error: {}", unknown.join(", "));
        return Err(refused(shown(), detail));
    }
    check_name(call, object.str_at(&["metadata", "name"]))?;
    Ok(object)
}

fn refused(shown: String, detail: String) -> Error {
    Error::invalid(
        "",
        "",
        "",
        &[field::Error::invalid("patch", &shown.into(), detail)],
    )
}

/// Why an object cannot be read as its kind, where that is what the error says.
fn unreadable<'a>(call: &Call<'_>, error: &'a Error) -> Option<&'a str> {
    let resource = &call.served.resource;
    let (version, kind) = (&resource.version, &resource.kind);
    let custom = call.served.definition.is_some();
    let start = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: ");
    error.message.strip_prefix(&start).filter(|_| !custom)
}

/// The reason in the words of the code that a patch goes through: a strategic merge is not read as JSON.
fn explained(patch: &Patch, why: &str) -> String {
    match patch {
        Patch::Strategic(_) => restored(why).unwrap_or_else(|| why.to_owned()),
        _ => why.to_owned(),
    }
}

/// What the real server says of a value in a strategic merge that JSON would refuse with `why`.
fn restored(why: &str) -> Option<String> {
    let (found, wanted) = why
        .strip_prefix("json: cannot unmarshal ")?
        .split_once(" into Go ")?;
    let (_, wanted) = wanted.rsplit_once(" of type ")?;
    let found = match found.split_once(' ') {
        Some(("number", _)) => "float64",
        _ => match found {
            "number" => "int64",
            "object" => "map",
            "array" => "slice",
            other => other,
        },
    };
    Some(match wanted {
        "string" if found == "int64" => "cannot convert int64 to string".to_owned(),
        wanted if wanted.starts_with("int") && found == "float64" => {
            format!("cannot convert float64 to {wanted}")
        }
        wanted if wanted.starts_with("map[") => format!("cannot restore map from {found}"),
        wanted if wanted.starts_with("[]") => format!("cannot restore slice from {found}"),
        wanted if wanted.contains('.') => format!("cannot restore struct from: {found}"),
        wanted => format!("unrecognized type: {wanted}"),
    })
}

#[cfg(test)]
mod tests {
    use super::restored;

    #[test]
    fn a_wrong_type_in_a_strategic_merge_is_named_as_the_real_server_does() {
        let cases = [
            (
                "string into Go struct field DeploymentSpec.spec.replicas of type int32",
                "unrecognized type: int32",
            ),
            (
                "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
                "cannot convert float64 to int32",
            ),
            (
                "number into Go struct field ObjectMeta.metadata.labels of type string",
                "cannot convert int64 to string",
            ),
            (
                "string into Go struct field PodSpec.spec.containers of type []v1.Container",
                "cannot restore slice from string",
            ),
            (
                "array into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec",
                "cannot restore struct from: slice",
            ),
            (
                "string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
                "cannot restore map from string",
            ),
        ];
        for (why, expected) in cases {
            let why = format!("json: cannot unmarshal {why}");
            assert_eq!(restored(&why).as_deref(), Some(expected), "{why}");
        }
        assert_eq!(restored("illegal base64 data at input byte 0"), None);
    }
}
