//! What Sluice relies on in a Kubernetes API. See the library's documentation.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod apply;
mod apply_conflicts;
mod apply_refused;
mod create;
mod delete;
mod deviations;
mod discovery;
mod errors;
mod field_validation;
mod managed_fields;
mod paging;
mod patch_json;
mod patch_merge;
mod patch_strategic;
mod read;
mod resource_version;
mod selectors;
mod update;
