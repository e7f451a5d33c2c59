//! Structured merge as the Kubernetes API server does it: field sets, managed fields, server-side apply, and the
//! three patch forms, against a [`Schema`] that is passed in.
//!
//! This crate does no I/O and reads no clock: times are arguments.

pub mod patch;
pub mod schema;

pub use schema::{Schema, TypeId};
