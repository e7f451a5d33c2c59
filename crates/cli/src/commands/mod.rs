//! The subcommands.

pub(crate) mod apiserver;
pub(crate) mod artifact;
pub(crate) mod build;
mod cluster;
pub(crate) mod completion;
pub(crate) mod controller;
pub(crate) mod create;
pub(crate) mod debug;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod failure;
pub(crate) mod helm;
pub(crate) mod install;
pub(crate) mod installation;
pub(crate) mod kustomize;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod objects;
mod pflag;
pub(crate) mod plan;
mod served;
pub(crate) mod stats;
mod table;
pub(crate) mod trace;
pub(crate) mod tree;
pub(crate) mod uninstall;
pub(crate) mod up;
