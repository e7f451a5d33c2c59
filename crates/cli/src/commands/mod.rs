//! The subcommands.

pub(crate) mod apiserver;
pub(crate) mod artifact;
pub(crate) mod build;
pub(crate) mod controller;
pub(crate) mod kustomize;
mod pflag;
pub(crate) mod up;
