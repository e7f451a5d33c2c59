//! The integration tests of this crate, as one program.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod auth;
mod builtin;
mod catalog;
mod crd;
mod discovery;
mod fault;
mod hostile;
mod jsonpath;
mod openapi;
mod requests;
mod simulator;
mod table;
mod validate;
