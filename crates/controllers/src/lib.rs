//! The controllers: each takes a custom resource, turns its spec into a request, has it run, and turns the outcome into a
//! status. What all of them share is the [`kit`].

mod artifacts;
mod clusters;
pub mod helm_releases;
pub mod kit;
pub mod kustomizations;
pub mod sources;

pub use clusters::KubeconfigRules;
