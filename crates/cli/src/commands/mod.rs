//! The subcommands.

pub(crate) mod apiserver;
pub(crate) mod artifact;
pub(crate) mod build;
mod cluster;
pub(crate) mod controller;
pub(crate) mod kustomize;
pub(crate) mod objects;
mod pflag;
mod table;
pub(crate) mod up;
