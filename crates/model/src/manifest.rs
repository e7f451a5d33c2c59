//! What a builder hands to the engine.

use std::fmt;
use std::sync::Arc;

use crate::object_key::split_api_version;
use crate::{ObjectKey, Value};

/// An object to be applied: a [`Value`] that is known to have an `apiVersion`, a `kind` and a name, and the place it was
/// read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    value: Value,
    origin: Option<Origin>,
}

/// Where a manifest was read: `apps/web.yaml:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file. Many manifests share one.
    pub file: Arc<str>,
    /// The line it begins on; the first line is 1.
    pub line: usize,
}

/// Why a value is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", Place(.origin))]
pub struct Error {
    /// Where the value was read.
    pub origin: Option<Origin>,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What a value lacks to be a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is no map.
    #[error("a manifest must be an object, not {0}")]
    NotAnObject(&'static str),
    /// One of the fields is missing, empty or no string. `named` is what is known of the object, or empty.
    #[error("{field} of the manifest{} must be a non-empty string", Named(.named))]
    Missing {
        /// `apiVersion`, `kind` or `metadata.name`.
        field: &'static str,
        /// The object as far as it can be named.
        named: String,
    },
}

impl Manifest {
    /// Checks that `value` is an object that can be applied.
    pub fn new(value: Value, origin: Option<Origin>) -> Result<Self, Error> {
        match problem(&value) {
            Some(problem) => Err(Error { origin, problem }),
            None => Ok(Manifest { value, origin }),
        }
    }

    /// The same for an object that may have a `generateName` in the place of a name, as hooks do: whoever applies it names it.
    ///
    /// # Errors
    /// What is missing.
    pub fn unnamed(value: Value, origin: Option<Origin>) -> Result<Self, Error> {
        let generated = !value.str_at(&["metadata", "generateName"]).is_empty();
        match problem(&value) {
            Some(Problem::Missing { field, .. }) if generated && field == "metadata.name" => {
                Ok(Manifest { value, origin })
            }
            Some(problem) => Err(Error { origin, problem }),
            None => Ok(Manifest { value, origin }),
        }
    }

    /// The object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The object, without the place it came from.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Changes the object and checks it again.
    pub fn edit(mut self, change: impl FnOnce(&mut Value)) -> Result<Self, Error> {
        change(&mut self.value);
        Manifest::new(self.value, self.origin)
    }

    /// Where it was read, if it was.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Which object it is.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::of(&self.value)
    }

    /// The group and version: `apps/v1`.
    pub fn api_version(&self) -> &str {
        self.value.str_at(&["apiVersion"])
    }

    /// The group: `apps`; empty for the core group.
    pub fn group(&self) -> &str {
        split_api_version(self.api_version()).0
    }

    /// The version: `v1`.
    pub fn version(&self) -> &str {
        split_api_version(self.api_version()).1
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        self.value.str_at(&["kind"])
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.value.str_at(&["metadata", "name"])
    }

    /// The namespace; empty if the manifest says none.
    pub fn namespace(&self) -> &str {
        self.value.str_at(&["metadata", "namespace"])
    }
}

fn problem(value: &Value) -> Option<Problem> {
    if value.as_object().is_none() {
        return Some(Problem::NotAnObject(value.type_name()));
    }
    let required = [
        ("apiVersion", &["apiVersion"][..]),
        ("kind", &["kind"]),
        ("metadata.name", &["metadata", "name"]),
    ];
    let (field, _) = required
        .into_iter()
        .find(|(_, path)| value.str_at(path).is_empty())?;
    let key = ObjectKey::of(value);
    let named = if key.kind.is_empty() && key.name.is_empty() {
        String::new()
    } else {
        key.to_string()
    };
    Some(Problem::Missing { field, named })
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// `web.yaml:3: ` or nothing.
struct Place<'a>(&'a Option<Origin>);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |origin| write!(f, "{origin}: "))
    }
}

/// ` Deployment/web` or nothing.
struct Named<'a>(&'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", self.0)
        }
    }
}
