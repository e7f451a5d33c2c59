//! The kinds that every cluster has: how they are read, completed, prepared and checked, so that what this server stores
//! and returns is what the real one (v1.35) does.
//!
//! Everything here is pure: it works on a [`model::Value`] and the [`smd::Schema`] that is passed in.

pub mod validate;
