//! The subcommands.

pub(crate) mod apiserver;
pub(crate) mod artifact;
pub(crate) mod up;
