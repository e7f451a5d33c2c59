//! The crate seen from outside.

#![allow(clippy::unwrap_used)]

mod arbitrary;
mod changed_types;
mod patch;
mod properties;
mod recorded;
mod scale;
mod schema;
