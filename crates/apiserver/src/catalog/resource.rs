//! One served resource and its subresources.

use std::fmt;

use model::Str;

/// A resource as one version of a group serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// API group, empty for the core group.
    pub group: Str,
    /// Version in the group.
    pub version: Str,
    /// Its name in paths: `deployments`.
    pub plural: Str,
    /// Its name for one object: `deployment`.
    pub singular: Str,
    /// Kind of its objects.
    pub kind: Str,
    /// Kind of its lists.
    pub list_kind: Str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Abbreviations that clients accept.
    pub short_names: Vec<Str>,
    /// Groups of resources it belongs to, such as `all`.
    pub categories: Vec<Str>,
    /// What can be done with it, in the order discovery tells it.
    pub verbs: Vec<Str>,
    /// Its subresources, in the order discovery tells them.
    pub subresources: Vec<Subresource>,
    /// Where its objects are kept.
    pub storage: StorageId,
    /// The fingerprint of the stored version that discovery tells; empty where nothing is stored.
    pub storage_hash: Str,
    /// Where the resource comes from.
    pub origin: Origin,
}

/// A part of an object with a path of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// Its name in paths: `status`, `scale`, `token`, ...
    pub name: Str,
    /// Group of what it answers with.
    pub group: Str,
    /// Version of what it answers with.
    pub version: Str,
    /// Kind of what it answers with.
    pub kind: Str,
    /// What can be done with it.
    pub verbs: Vec<Str>,
}

/// Names one collection of stored objects. Versions of a resource share it, and so do resources that show the same
/// objects in two groups (`events` of the core group and of `events.k8s.io`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageId {
    /// Group that owns the collection.
    pub group: Str,
    /// Plural name of the collection.
    pub plural: Str,
}

/// Where a resource comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is part of the server.
    Builtin,
    /// A CustomResourceDefinition added it.
    Custom,
}

impl Resource {
    /// What its objects hold as `apiVersion`: `v1`, `apps/v1`.
    pub fn api_version(&self) -> Str {
        api_version(&self.group, &self.version)
    }

    /// Whether `verb` can be done with the resource itself.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }

    /// The subresource called `name`.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|sub| sub.name == name)
    }

    /// The path of the resource without a namespace: `/apis/apps/v1/deployments`.
    pub fn path(&self) -> String {
        format!(
            "{}/{}",
            group_version_path(&self.group, &self.version),
            self.plural
        )
    }
}

impl Subresource {
    /// What its objects hold as `apiVersion`.
    pub fn api_version(&self) -> Str {
        api_version(&self.group, &self.version)
    }

    /// Whether `verb` can be done with it.
    pub fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }
}

impl fmt::Display for StorageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_str() {
            "" => f.write_str(&self.plural),
            group => write!(f, "{}.{group}", self.plural),
        }
    }
}

/// `v1` for the core group, `apps/v1` for others.
pub fn api_version(group: &str, version: &str) -> Str {
    match group {
        "" => Str::new(version),
        group => Str::from(format!("{group}/{version}")),
    }
}

/// The root of the paths of a group's version: `/api/v1`, `/apis/apps/v1`.
pub fn group_version_path(group: &str, version: &str) -> String {
    match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    }
}
