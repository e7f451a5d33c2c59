//! The crate seen from outside.

#![allow(clippy::unwrap_used)]

mod patch;
mod recorded;
mod schema;
