//! What a write does to an object and to `metadata.managedFields`, as in the API server.
//!
//! # Flow
//!
//! A request that is no apply (create, update, the other patches) brings the whole new object; [`update`] finds out
//! which fields it changed and makes the request's manager their owner. An apply brings only the fields its manager
//! cares about; [`apply`] merges them into the live object, removes what this manager applied before and now left
//! out, and refuses to change what others own unless told to.
//!
//! Both work on objects in the version of the request. Where they stand in the pipeline of a write:
//!
//! 1. decode the request and fill in defaults; for an apply only decode it;
//! 2. [`update`] with the live object, or [`apply`], whose result is decoded and gets defaults;
//! 3. admission, preparation (reset of fields, generation), validation;
//! 4. [`keep_times`] for updates and patches, so that a write that changes nothing but times is none at all.
//!
//! # Guarantees
//!
//! Applying the same twice changes nothing: the second result equals the live object. Entries of managed fields whose
//! set did not change keep their time.

mod apply;
mod cap;
mod conflict;
mod entry;
mod last_applied;
mod prune;
mod reset;
mod scale;
mod settle;
mod strip;
mod time;
mod update;

use model::Value;

pub use apply::{ApplyError, apply};
pub use conflict::{Conflict, Conflicts};
pub use entry::{EntryError, validate_entries};
pub use reset::{Reset, Step};
pub use scale::{Replicas, from_scale, to_scale};
pub use time::keep_times;
pub use update::update;

use crate::typed::TypeRef;

/// The kind of object that is written.
#[derive(Clone, Copy, Debug)]
pub struct Typing<'a> {
    /// Its type in the version of the request.
    pub ty: TypeRef<'a>,
    /// That version: `apps/v1`.
    pub api_version: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// Whether the real server has a struct for it.
    pub origin: Origin,
    /// The other versions of the kind, served or not, all with the same content (`None` conversion). Managers of built-in
    /// kinds whose version is neither here nor the request's are dropped, as those of versions that are gone.
    pub other_versions: &'a [Version<'a>],
}

/// Where a kind comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Kubernetes itself: new objects are compared with an empty struct, in which nested structs are there.
    BuiltIn,
    /// A custom resource definition: new objects are compared with an empty map.
    Custom,
}

/// A kind's type in one version.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// The version: `apps/v1`.
    pub api_version: &'a str,
    /// The type.
    pub ty: TypeRef<'a>,
}

/// Who writes, and what.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The field manager; empty means `unknown`.
    pub manager: &'a str,
    /// The subresource that is written (`status`), empty for the object itself.
    pub subresource: &'a str,
    /// What a write to this (sub)resource cannot change.
    pub reset: &'a Reset,
    /// The time of the write: `2024-05-01T10:00:00Z`.
    pub now: &'a str,
}

/// What an apply does with fields that others own and that it would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is changed; the conflicts are the error.
    Fail,
    /// The fields are taken over (`force=true`).
    Force,
}

impl<'a> Typing<'a> {
    fn type_at(&self, api_version: &str) -> Option<TypeRef<'a>> {
        if api_version == self.api_version {
            return Some(self.ty);
        }
        let same = self
            .other_versions
            .iter()
            .find(|version| version.api_version == api_version);
        same.map(|version| version.ty)
    }

    /// What a new object is compared with.
    fn empty(&self) -> Value {
        let mut empty = match self.origin {
            Origin::BuiltIn => self.ty.zero(),
            Origin::Custom => Value::object(),
        };
        empty.set_at(&["apiVersion"], self.api_version);
        empty.set_at(&["kind"], self.kind);
        empty
    }
}

/// A version and kind as Go prints them: `apps/v1, Kind=Deployment`, `/v1, Kind=Pod`.
fn gvk(version: &str, kind: &str) -> String {
    let slash = if version.contains('/') { "" } else { "/" };
    format!("{slash}{version}, Kind={kind}")
}

/// A copy of `object` without its managed fields, which are mostly as large as the rest.
fn without_managed_fields(object: &Value) -> Value {
    let Value::Object(fields) = object else {
        return object.clone();
    };
    let copy = fields.iter().map(|(name, value)| match value {
        Value::Object(metadata) if name == "metadata" => {
            let kept = metadata.iter().filter(|(name, _)| *name != "managedFields");
            (
                name,
                Value::Object(kept.map(|(name, value)| (name, value.clone())).collect()),
            )
        }
        value => (name, value.clone()),
    });
    Value::Object(copy.collect())
}
