//! The words every part of Sluice shares, and [`Value`], the compact object tree that builders, merges and diffs
//! work on.
//!
//! This crate does no I/O, reads no clock and depends on no other crate of the workspace.

pub mod convert;
pub mod json;
pub mod label;
pub mod quote;
pub mod selector;
pub mod value;

pub use value::{Map, Str, Value};
