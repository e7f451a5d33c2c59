//! What the real server checks beyond types: which values are allowed, what may not change, how objects may be named.
//!
//! Objects that come here are decoded and defaulted: fields have the right types, and those the server always fills in
//! are there.

pub mod name;

use model::Value;
use smd::schema::Gvk;

use crate::field;
use crate::strategy::Part;

/// All that is wrong with a new object of `gvk`, besides its metadata.
pub fn create(gvk: &Gvk, object: &Value) -> Vec<field::Error> {
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apiregistration.k8s.io", "APIService") => name::api_service(object),
        _ => Vec::new(),
    }
}

/// All that is wrong with an update of `old` to `object`, besides its metadata.
pub fn update(gvk: &Gvk, part: Part, object: &Value, old: &Value) -> Vec<field::Error> {
    let _ = (gvk, part, object, old);
    Vec::new()
}

/// The problems of `name` as the name of an object of `gvk`.
///
/// Names that depend on the rest of the object (`APIService`, `CustomResourceDefinition`) are checked by [`create`].
pub fn name(gvk: &Gvk, name: &str) -> Vec<String> {
    name::problems(name::rule(&gvk.group, &gvk.kind), name)
}
