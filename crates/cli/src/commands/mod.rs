//! The subcommands.

pub(crate) mod apiserver;
pub(crate) mod up;
