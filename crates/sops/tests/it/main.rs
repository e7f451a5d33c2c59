//! Files that the real SOPS has encrypted, read here.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod kit;
mod program;
