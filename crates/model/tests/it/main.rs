//! What the words of `model` promise, one module per module of the crate.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod convert;
mod json;
mod label;
mod selector;
