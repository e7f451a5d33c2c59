//! The kinds that every cluster has: how they are read, completed, prepared and checked, so that what this server stores
//! and returns is what the real one (v1.35) does.
//!
//! Everything here is pure: it works on a [`model::Value`] and the [`smd::Schema`] that is passed in. [`Kinds`] is where
//! to start; an object goes through [`smd::go`], [`default`], [`admission`], [`prepare`] and [`validate`], in this order.

pub mod admission;
pub mod convert;
mod counter;
pub mod default;
mod fields;
pub mod prepare;
pub mod reset;
pub mod select;
pub mod service;
mod strategy;
pub mod traits;
pub mod validate;

use model::{Map, Value};
pub use strategy::Kinds;

/// Writes who asks for a certificate into a new `CertificateSigningRequest`. `extra` maps names to lists of texts.
pub fn set_requester(request: &mut Value, username: &str, uid: &str, groups: &[String], extra: &Map) {
    for (key, text) in [("username", username), ("uid", uid)] {
        if !text.is_empty() {
            request.set_at(&["spec", key], text);
        }
    }
    if !groups.is_empty() {
        request.set_at(
            &["spec", "groups"],
            groups.iter().map(String::as_str).collect::<Value>(),
        );
    }
    if !extra.is_empty() {
        request.set_at(&["spec", "extra"], extra.clone());
    }
}
