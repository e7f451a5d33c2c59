//! The subcommands.

pub(crate) mod apiserver;
