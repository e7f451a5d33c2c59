//! The definitions on a cluster, embedded or real, and the types against the schemas.

#![allow(clippy::unwrap_used)]

mod agreement;
mod defaults;
mod definitions;
mod older;
mod rules;
mod sample;
mod served;
mod shown;
