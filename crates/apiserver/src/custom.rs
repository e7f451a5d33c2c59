//! A CustomResourceDefinition as the verbs see it: its versions with their strategies and types.

use std::sync::Arc;

use model::{Str, Value};
use smd::schema::{Gvk, UnknownFields};
use smd::{Schema, TypeId};

use crate::catalog::{CustomDefinition, CustomVersion, api_version, version_order};
use crate::crd::{Definition, Shared, Version};
use crate::error::{Error, Result};

/// A definition that is served.
pub(crate) struct Custom {
    definition: Definition,
    versions: Vec<Typed>,
    /// It is being deleted: its objects can no longer be written.
    terminating: bool,
}

/// One version with its types.
pub(crate) struct Typed {
    pub version: Arc<Version>,
    pub api_version: Str,
    pub schema: Arc<Schema>,
    pub ty: TypeId,
    /// The schema as the definition has it.
    raw: Option<Value>,
}

impl Custom {
    /// Reads a definition that was checked and established. `builtin` has the types of Kubernetes itself.
    pub(crate) fn read(crd: &Value, shared: &Shared, builtin: &Schema) -> Self {
        let definition = Definition::read(crd, shared);
        let raws = crd.list_at(&["spec", "versions"]).iter();
        let raws = raws.map(|version| version.at(&["schema", "openAPIV3Schema"]).cloned());
        let preserve = crd
            .at(&["spec", "preserveUnknownFields"])
            .and_then(Value::as_bool)
            == Some(true);
        let unknown = if preserve {
            UnknownFields::Preserve
        } else {
            UnknownFields::Prune
        };
        let versions = definition.versions.iter().zip(raws).map(|(version, raw)| {
            let gvk = Gvk {
                group: definition.group.clone(),
                version: version.name.clone(),
                kind: definition.names.kind.clone(),
            };
            let schema = Schema::from_structural(raw.as_ref(), gvk.clone(), unknown, builtin);
            let ty = schema
                .kinds
                .get(&gvk)
                .copied()
                .expect("the schema was made for this kind");
            Typed {
                version: Arc::clone(version),
                api_version: api_version(&gvk.group, &gvk.version),
                schema: Arc::new(schema),
                ty,
                raw,
            }
        });
        let versions = versions.collect();
        let terminating = crd.at(&["metadata", "deletionTimestamp"]).is_some();
        Custom {
            definition,
            versions,
            terminating,
        }
    }

    /// What the catalog needs to know.
    pub(crate) fn catalog_entry(&self) -> CustomDefinition {
        let names = &self.definition.names;
        let versions = self.versions.iter().map(|typed| CustomVersion {
            name: typed.version.name.clone(),
            served: typed.version.served,
            storage: typed.version.storage,
            status: typed.version.status,
            scale: typed.version.scale.is_some(),
        });
        CustomDefinition {
            group: self.definition.group.clone(),
            plural: names.plural.clone(),
            singular: names.singular.clone(),
            kind: names.kind.clone(),
            list_kind: names.list_kind.clone(),
            short_names: names.short_names.clone(),
            categories: names.categories.clone(),
            namespaced: self.definition.namespaced,
            terminating: self.terminating,
            versions: versions.collect(),
        }
    }

    /// Makes a stored object one of a version.
    pub(crate) fn show(&self, object: &mut Value, version: &Version) {
        self.definition.show(object, version);
    }

    /// Makes an object of a version one that can be stored.
    pub(crate) fn store(&self, object: &mut Value, version: &Version) {
        self.definition.store(object, version);
    }

    /// Refuses a version that only a webhook could make of the stored objects.
    pub(crate) fn check_conversion(&self, version: &str) -> Result<()> {
        let version = self.version(version).ok_or_else(Error::no_such_path)?;
        self.definition.check_conversion(&version.version)
    }

    /// The version called `name`.
    pub(crate) fn version(&self, name: &str) -> Option<&Typed> {
        self.versions.iter().find(|typed| typed.version.name == name)
    }

    /// All other versions, also those that are not served: managed fields may be of them.
    pub(crate) fn other_versions<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Typed> {
        self.versions
            .iter()
            .filter(move |typed| typed.version.name != name)
    }

    /// The schema of a version as the definition has it.
    pub(crate) fn schema(&self, version: &str) -> Option<Value> {
        self.version(version)?.raw.clone()
    }

    /// What clients of a deprecated version are told.
    pub(crate) fn deprecation(&self, name: &str) -> Option<String> {
        let version = &self.version(name)?.version;
        let own = version.deprecation_warning.clone()?;
        let said = own != format!("{}/{name} {} is deprecated", version.group, version.kind);
        let better = self.versions.iter().map(|typed| &typed.version).find(|other| {
            let newer = version_order::by_preference(&other.name, name) == std::cmp::Ordering::Less;
            other.served && other.deprecation_warning.is_none() && newer
        });
        match better.filter(|_| !said) {
            Some(better) => Some(format!(
                "{own}; use {}/{} {}",
                version.group, better.name, version.kind
            )),
            None => Some(own),
        }
    }

    /// The scale of an object.
    pub(crate) fn scale(&self, version: &str, object: &Value) -> Result<Value> {
        let version = self.version(version).ok_or_else(Error::no_such_path)?;
        version
            .version
            .scale
            .as_ref()
            .ok_or_else(Error::no_such_path)?
            .get(object)
    }

    /// Sets the replicas of an object to those of a scale.
    pub(crate) fn set_scale(&self, version: &str, object: &mut Value, scale: &Value) -> Result<()> {
        let version = self.version(version).ok_or_else(Error::no_such_path)?;
        let paths = version.version.scale.as_ref().ok_or_else(Error::no_such_path)?;
        paths.set(object, scale);
        Ok(())
    }

    /// Where the number of wanted replicas is.
    pub(crate) fn replicas_path(&self, version: &str) -> Vec<&str> {
        let scale = self
            .version(version)
            .and_then(|typed| typed.version.scale.as_ref());
        scale
            .map(|scale| scale.spec_replicas.iter().map(Str::as_str).collect())
            .unwrap_or_default()
    }

    /// The first version that clients can use.
    pub(crate) fn first_served(&self) -> Option<&Str> {
        let served = self.versions.iter().find(|typed| typed.version.served);
        served.map(|typed| &typed.version.name)
    }

    /// Whether versions may differ in content, so that stored objects are not the bytes clients get.
    pub(crate) fn has_several_versions(&self) -> bool {
        self.versions.len() > 1
    }
}
