//! What the words of `model` promise, one module per module of the crate.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod artifact;
mod convert;
mod digest;
mod event;
mod health;
mod inventory;
mod json;
mod label;
mod manifest;
mod object_key;
mod regexp;
mod revision;
mod selector;
mod semver;
mod time;
