//! A custom resource: metadata around a spec and a status.

use std::borrow::Cow;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

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
}

/// An object of a kind. `GitRepository` is `Object<GitRepositorySpec>`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(bound = "S: Spec")]
pub struct Object<S: Spec> {
    /// Name, namespace, labels and what else all objects have.
    #[serde(default)]
    pub metadata: ObjectMeta,
    /// What is wanted. The schemas do not ask for it.
    #[serde(default)]
    pub spec: S,
    /// What is.
    #[serde(default = "Option::default")]
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
