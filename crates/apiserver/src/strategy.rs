//! What differs from kind to kind when objects are written.

use model::{Str, Value};

use crate::error::Result;
use crate::field;

/// The part of an object that a request writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The object itself: `status` is kept as it was where the kind has that subresource.
    Main,
    /// The `status` subresource: everything else is kept as it was.
    Status,
}

/// How objects of one kind and version are read, completed and checked.
///
/// All functions are pure; metadata that every kind shares (names, labels, owners, generation's start, timestamps,
/// managed fields) is handled by the caller.
pub trait Strategy: Send + Sync {
    /// Brings what a client sent into the form the server keeps: checks the types of fields, drops unknown ones and
    /// empty ones as the real decoder does. Returns the paths of unknown fields (`spec.replica`).
    ///
    /// # Errors
    /// A `BadRequest` whose message tells which field has the wrong type.
    fn decode(&self, object: &mut Value) -> Result<Vec<String>>;

    /// Fills in defaults. Called after decoding and again after each merge of a patch.
    fn default(&self, object: &mut Value);

    /// Readies a new object: drops `status` where it is a subresource, sets `metadata.generation` where the kind has one.
    /// Its `metadata.name`, `uid` and `creationTimestamp` are set already.
    fn prepare_create(&self, object: &mut Value);

    /// Readies an update: keeps the other part as it was and raises `metadata.generation` where the spec changed.
    fn prepare_update(&self, part: Part, object: &mut Value, old: &Value);

    /// All that is wrong with a new object, besides its metadata.
    fn validate_create(&self, object: &Value) -> Vec<field::Error>;

    /// All that is wrong with an update, besides its metadata.
    fn validate_update(&self, part: Part, object: &Value, old: &Value) -> Vec<field::Error>;

    /// The problems of metadata names: by default a DNS subdomain.
    fn validate_name(&self, name: &str) -> Vec<String>;

    /// Non-fatal remarks for the client (`Warning` header) about an accepted object.
    fn warnings(&self, _object: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The name under which values for the field selector `label` are found among [`Strategy::selectable`], which is
    /// nearly always `label` itself.
    ///
    /// # Errors
    /// The message for a client that selects by a field it cannot select by.
    fn field_label<'a>(&self, label: &'a str) -> std::result::Result<&'a str, String> {
        match label {
            "metadata.name" | "metadata.namespace" => Ok(label),
            _ => Err(format!(
                "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )),
        }
    }

    /// Values for field selectors besides `metadata.name` and `metadata.namespace`.
    fn selectable(&self, _object: &Value) -> Vec<(Str, Str)> {
        Vec::new()
    }
}
