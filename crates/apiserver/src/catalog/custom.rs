//! The resources that CustomResourceDefinitions add.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::Str;
use sha2::{Digest, Sha256};

use super::{Origin, Resource, StorageId, Subresource};

/// What the catalog needs to know of a CustomResourceDefinition whose names were accepted and that is established.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomDefinition {
    /// API group.
    pub group: Str,
    /// Name in paths.
    pub plural: Str,
    /// Name of one object; the kind in lower case where empty.
    pub singular: Str,
    /// Kind of the objects.
    pub kind: Str,
    /// Kind of the lists; the kind with `List` where empty.
    pub list_kind: Str,
    /// Abbreviations.
    pub short_names: Vec<Str>,
    /// Categories.
    pub categories: Vec<Str>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether it is being deleted: its objects can then no longer be written.
    pub terminating: bool,
    /// Its versions.
    pub versions: Vec<CustomVersion>,
}

/// One version of a [`CustomDefinition`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomVersion {
    /// Its name.
    pub name: Str,
    /// Whether clients can use it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// Whether there is a `status` subresource.
    pub status: bool,
    /// Whether there is a `scale` subresource.
    pub scale: bool,
}

const VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
const TERMINATING_VERBS: &[&str] = &["delete", "deletecollection", "get", "list", "watch"];
const SUBRESOURCE_VERBS: &[&str] = &["get", "patch", "update"];

impl CustomDefinition {
    /// One resource for each served version.
    pub(super) fn resources(&self) -> impl Iterator<Item = Arc<Resource>> + '_ {
        // The real server looks for the stored version among the served ones only.
        let stored = self
            .versions
            .iter()
            .find(|version| version.served && version.storage);
        let hash = stored
            .map(|version| storage_hash(&self.group, &version.name, &self.kind))
            .unwrap_or_default();
        let served = self.versions.iter().filter(|version| version.served);
        served.map(move |version| Arc::new(self.resource(version, hash.clone())))
    }

    fn resource(&self, version: &CustomVersion, storage_hash: Str) -> Resource {
        Resource {
            group: self.group.clone(),
            version: version.name.clone(),
            plural: self.plural.clone(),
            singular: match self.singular.is_empty() {
                true => self.kind.to_lowercase(),
                false => self.singular.clone(),
            },
            kind: self.kind.clone(),
            list_kind: match self.list_kind.is_empty() {
                true => Str::from(format!("{}List", self.kind)),
                false => self.list_kind.clone(),
            },
            namespaced: self.namespaced,
            short_names: self.short_names.clone(),
            categories: self.categories.clone(),
            verbs: words(if self.terminating {
                TERMINATING_VERBS
            } else {
                VERBS
            }),
            subresources: self.subresources(version),
            storage: StorageId {
                group: self.group.clone(),
                plural: self.plural.clone(),
            },
            storage_hash,
            origin: Origin::Custom,
        }
    }

    fn subresources(&self, version: &CustomVersion) -> Vec<Subresource> {
        let status = version.status.then(|| Subresource {
            name: "status".into(),
            group: self.group.clone(),
            version: version.name.clone(),
            kind: self.kind.clone(),
            verbs: words(SUBRESOURCE_VERBS),
        });
        let scale = version.scale.then(|| Subresource {
            name: "scale".into(),
            group: "autoscaling".into(),
            version: "v1".into(),
            kind: "Scale".into(),
            verbs: words(SUBRESOURCE_VERBS),
        });
        status.into_iter().chain(scale).collect()
    }
}

/// The fingerprint of a stored version that discovery tells.
fn storage_hash(group: &str, version: &str, kind: &str) -> Str {
    let digest = Sha256::digest(format!("{group}/{version}/{kind}"));
    Str::from(STANDARD.encode(&digest[..8]))
}

fn words(words: &[&str]) -> Vec<Str> {
    words.iter().copied().map(Str::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_storage_hash_is_the_one_the_real_server_tells() {
        assert_eq!(storage_hash("", "v1", "ConfigMap"), "qFsyl6wFWjQ=");
        assert_eq!(storage_hash("", "v1", "Pod"), "xPOwRZ+Yhw8=");
    }
}
