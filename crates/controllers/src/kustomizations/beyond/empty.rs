//! `sluice.dev/prune-empty`: whether a build without objects prunes everything.
//!
//! With Flux it does, and so it does here by default: the directory may have been emptied on purpose. It may also be the wrong path, a
//! broken generator or a bad merge. `deny` has such a build refused, and what is in the cluster stays until the build has objects again
//! or the annotation goes. A Kustomization that is deleted itself is not guarded.

use engine::plan::ALLOW_EMPTY;

use super::{PREFIX, PRUNE_EMPTY, Unclear};

/// Returns whether a value denies it.
pub(super) fn denied(value: Option<&str>) -> Result<bool, Unclear> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        Some("deny") => Ok(true),
        None | Some("allow") => Ok(false),
        Some(_) => Err(Unclear {
            name: PRUNE_EMPTY.to_owned(),
            why: "it is neither \"deny\" nor \"allow\"".to_owned(),
        }),
    }
}

/// Adds the annotation to what the engine says of a refused build.
pub(in super::super) fn with_remedy(errors: &str) -> String {
    errors.replace(
        ALLOW_EMPTY,
        &format!("if this is meant, set the annotation {PREFIX}{PRUNE_EMPTY}: allow"),
    )
}
