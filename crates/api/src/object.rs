//! A custom resource: metadata around a spec and a status.

use std::borrow::Cow;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::Definition;
use crate::schema::Described;

/// What a kind is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The API group.
    pub group: &'static str,
    /// The version that is stored and that controllers read.
    pub version: &'static str,
    /// `GitRepository`
    pub kind: &'static str,
    /// `gitrepositories`
    pub plural: &'static str,
    /// `gitrepo`
    pub short: &'static [&'static str],
}

impl Names {
    /// `source.toolkit.fluxcd.io/v1`
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }
}

/// The fields of an object.
pub type Fields = Map<String, Value>;

/// The spec of a kind, and with it the kind.
pub trait Spec:
    Described + Clone + Debug + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The status of the kind.
    type Status: Described + Clone + Debug + Default + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// What the kind is called.
    const NAMES: Names;

    /// What a cluster must be told to serve the kind.
    fn definition() -> Definition;

    /// Reads an object: calls [`read`].
    ///
    /// Each kind implements this itself: the compiler then translates the decoder of a kind once, in this crate. A provided method, or
    /// `Deserialize`, would be translated again in every crate and for every format that objects are read from.
    ///
    /// # Errors
    /// If a field has a value that its type does not hold.
    fn read(object: &Fields) -> Result<Object<Self>, ReadError>;
}

/// An object of a kind. `GitRepository` is `Object<GitRepositorySpec>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object<S: Spec> {
    /// Name, namespace, labels and what else all objects have.
    pub metadata: ObjectMeta,
    /// What is wanted. The schemas do not ask for it.
    pub spec: S,
    /// What is.
    pub status: Option<S::Status>,
}

impl<S: Spec> Object<S> {
    /// An object with nothing but a name and a spec.
    pub fn new(name: &str, spec: S) -> Self {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        };
        Object {
            metadata,
            spec,
            status: None,
        }
    }

    /// In that namespace.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.metadata.namespace = Some(namespace.to_owned());
        self
    }
}

/// A field of an object has a value that its type does not hold.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ReadError {
    /// `spec.dependsOn[1].name`
    path: String,
    problem: serde_json::Error,
}

impl ReadError {
    /// Whether a field is missing. The message then has no value of the object.
    pub fn is_of_a_missing_field(&self) -> bool {
        self.problem.to_string().starts_with("missing field")
    }
}

/// Reads an object of a kind. What the object does not have has its zero value.
///
/// # Errors
/// If a field has a value that its type does not hold.
pub fn read<S: Spec>(object: &Fields) -> Result<Object<S>, ReadError> {
    Ok(Object {
        metadata: part(object, "metadata")?.unwrap_or_default(),
        spec: part(object, "spec")?.unwrap_or_default(),
        status: part::<Option<S::Status>>(object, "status")?.flatten(),
    })
}

/// Reads a part of an object. If this fails, it is read again, to find the field.
fn part<T: DeserializeOwned>(object: &Fields, name: &str) -> Result<Option<T>, ReadError> {
    let Some(value) = object.get(name) else {
        return Ok(None);
    };
    match T::deserialize(value) {
        Ok(part) => Ok(Some(part)),
        Err(problem) => Err(serde_path_to_error::deserialize::<_, T>(value).map_or_else(
            |error| ReadError {
                path: match error.path().iter().next() {
                    Some(_) => format!("{name}.{}", error.path()),
                    None => name.to_owned(),
                },
                problem: error.into_inner(),
            },
            |_| ReadError {
                path: name.to_owned(),
                problem,
            },
        )),
    }
}

impl<'de, S: Spec> Deserialize<'de> for Object<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::deserialize(deserializer)?;
        S::read(&object).map_err(D::Error::custom)
    }
}

impl<S: Spec> Serialize for Object<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut object = serializer.serialize_struct("Object", 5)?;
        object.serialize_field("apiVersion", &S::NAMES.api_version())?;
        object.serialize_field("kind", S::NAMES.kind)?;
        object.serialize_field("metadata", &self.metadata)?;
        object.serialize_field("spec", &self.spec)?;
        match &self.status {
            Some(status) => object.serialize_field("status", status)?,
            None => object.skip_field("status")?,
        }
        object.end()
    }
}

impl<S: Spec> kube::Resource for Object<S> {
    type DynamicType = ();
    type Scope = kube::core::NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        S::NAMES.kind.into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        S::NAMES.group.into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        S::NAMES.version.into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        S::NAMES.plural.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
