//! The source controllers.

pub(crate) mod bad_input;
pub(crate) mod bed;
mod bucket;
mod conditions;
pub(crate) mod events;
mod fields;
pub(crate) mod follow;
mod git_include;
mod git_repository;
mod gone;
mod helm_chart;
mod helm_chart_files;
mod helm_chart_oci;
mod helm_chart_shared;
mod helm_repository;
mod identity;
mod intervals;
mod logged;
mod oci_repository;
mod progress;
mod reasons;
mod storage;
mod surroundings;
mod tenancy;
mod trust;
