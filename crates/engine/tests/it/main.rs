//! The engine from outside.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod cache;
mod cluster;
mod diff;
mod engine;
mod health;
mod plan;
mod rows;
mod tenancy;
mod unit;
