//! Files that the real SOPS has encrypted, read here.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod detect;
mod fixtures;
mod hostile;
mod import;
mod kit;
mod program;
mod unlock;
