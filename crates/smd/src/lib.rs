//! Structured merge as the Kubernetes API server does it: field sets, managed fields, server-side apply, and the
//! three patch forms, against a [`Schema`] that is passed in.
//!
//! This crate does no I/O and reads no clock: times are arguments.
//!
//! Reading order: [`schema`] says what types are, [`fieldset`] who owns which fields, [`typed`] what can be done with
//! a value of a type, and [`managed`] puts them together into what a write does to an object. [`patch`]
//! stands apart, as does [`go`], the form that Go's types give to objects.

pub mod fieldset;
pub mod go;
mod go_text;
pub mod managed;
pub mod patch;
pub mod schema;
pub mod typed;

pub use fieldset::{FieldSet, Path, PathElement};
pub use schema::{Schema, TypeId};
pub use typed::TypeRef;
