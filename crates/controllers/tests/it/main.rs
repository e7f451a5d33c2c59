//! The controllers on a cluster, embedded or real, against servers of the test kit.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod deviations;
mod flux;
mod flux_helm;
mod flux_kustomize;
mod helm_releases;
mod kustomizations;
mod names;
mod real;
mod rows;
mod sources;
mod tenancy;
