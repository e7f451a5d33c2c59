//! YAML, with its comments, as go-yaml v3 and SOPS read and write it.

mod comments;
mod layout;
mod read;
mod scalar;
mod write;

pub(super) use read::read;
pub(super) use write::write;
