//! The words every part of Sluice shares, and [`Value`], the compact object tree that builders, merges and diffs
//! work on.
//!
//! This crate does no I/O, reads no clock and depends on no other crate of the workspace.

pub mod artifact;
pub mod convert;
pub mod digest;
pub mod event;
pub mod glob;
pub mod health;
pub mod inventory;
pub mod json;
pub mod label;
pub mod manifest;
pub mod object_key;
pub mod quote;
pub mod regexp;
pub mod revision;
pub mod selector;
pub mod semver;
pub mod time;
pub mod value;

pub use artifact::Artifact;
pub use digest::Digest;
pub use event::Event;
pub use health::Health;
pub use inventory::Inventory;
pub use manifest::Manifest;
pub use object_key::ObjectKey;
pub use revision::Revision;
pub use time::Time;
pub use value::{Map, Str, Value};
