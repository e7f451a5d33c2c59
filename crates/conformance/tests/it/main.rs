//! What Sluice relies on in a Kubernetes API. See the library's documentation.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod access;
mod apply;
mod apply_conflicts;
mod apply_refused;
mod create;
mod custom_resources;
mod custom_versions;
mod defaults;
mod defaults_workloads;
mod definitions;
mod delete;
mod deviations;
mod discovery;
mod errors;
mod field_validation;
mod finalizers;
mod garbage;
mod identity;
mod immutable;
mod managed_fields;
mod namespaces;
mod odd_requests;
mod paging;
mod patch_json;
mod patch_merge;
mod patch_strategic;
mod read;
mod representations;
mod resource_version;
mod selectors;
mod subresources;
mod update;
mod validation;
mod validation_workloads;
mod watch;
