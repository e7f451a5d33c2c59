//! Going from client-side to server-side apply with `kubectl`.
//!
//! Client-side apply keeps what it applied in an annotation and owns its fields as an updater. When `kubectl` first
//! applies on the server, what stands unchanged in the annotation is its own and no conflict; from then on the
//! annotation follows each apply, so that going back is possible.

use model::{Value, json};

use super::Typing;
use crate::fieldset::FieldSet;
use crate::typed::Duplicates;

/// The manager whose applies are treated so.
pub(super) const KUBECTL: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// All annotations of an object together may not be larger than this.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The fields that the annotation shows to be `kubectl`'s: those that the live object still holds as applied.
pub(super) fn own_fields(typing: &Typing<'_>, live: &Value) -> Option<FieldSet> {
    let text = annotation(live)?;
    let applied = json::parse(text.as_bytes()).ok()?;
    if applied.str_at(&["apiVersion"]) != typing.api_version || applied.str_at(&["kind"]).is_empty() {
        return None;
    }
    let is_valid = |object| typing.ty.validate(object, Duplicates::Forbidden).is_ok();
    if !is_valid(live) || !is_valid(&applied) {
        return None;
    }
    let mut own = typing.ty.field_set(&applied);
    let comparison = typing.ty.compare(&applied, live);
    for changed in [&comparison.modified, &comparison.added, &comparison.removed] {
        own.subtract(changed);
    }
    Some(own)
}

/// Writes what was applied into the annotation, if there is one.
pub(super) fn follow(object: &mut Value, applied: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut applied = applied.clone();
    match applied.at_mut(&["metadata", "annotations"]) {
        Some(Value::Object(annotations)) => drop(annotations.remove(ANNOTATION)),
        _ => drop(applied.remove_at(&["metadata", "annotations"])),
    }
    let mut text = json::to_string(&applied);
    text.push('\n');
    let Some(annotations) = object
        .at_mut(&["metadata", "annotations"])
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    annotations.insert(ANNOTATION, text);
    let size = |(name, value): (&str, &Value)| name.len() + value.as_str().map_or(0, str::len);
    if annotations.iter().map(size).sum::<usize>() > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let text = object.at(&["metadata", "annotations", ANNOTATION])?.as_str()?;
    (!text.is_empty()).then_some(text)
}
