//! `sluice.dev/prune-empty`: whether a build without objects prunes everything.
//!
//! With Flux it does, and so it does here by default: the directory may have been emptied on purpose. It may also be the wrong path, a
//! broken generator or a bad merge. `deny` has such a build refused, and what is in the cluster stays until the build has objects again
//! or the annotation goes. A Kustomization that is deleted itself is not guarded.

use super::{PRUNE_EMPTY, Unclear};

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
