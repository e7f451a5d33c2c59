//! What identifies a resource: group, version, kind, name and namespace.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use model::Str;

/// Group, version and kind. Where it selects, an empty part means any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Gvk {
    pub(crate) group: Str,
    pub(crate) version: Str,
    pub(crate) kind: Str,
}

impl Gvk {
    /// Of an `apiVersion` and a `kind`.
    pub(crate) fn new(api_version: &str, kind: &str) -> Gvk {
        let (group, version) = split_api_version(api_version);
        Gvk {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// Whether `selector` means this one.
    pub(crate) fn is_selected_by(&self, selector: &Gvk) -> bool {
        let fits = |wanted: &Str, given: &Str| wanted.is_empty() || wanted == given;
        fits(&selector.kind, &self.kind)
            && fits(&selector.group, &self.group)
            && fits(&selector.version, &self.version)
    }
}

/// The group and version of an `apiVersion`.
pub(crate) fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
    if text.is_empty() { missing } else { text }
}

impl fmt::Display for Gvk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, version) = (or(&self.kind, "[noKind]"), or(&self.version, "[noVer]"));
        write!(f, "{kind}.{version}.{}", or(&self.group, "[noGrp]"))
    }
}

/// What identifies a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ResId {
    pub(crate) gvk: Gvk,
    pub(crate) name: Str,
    pub(crate) namespace: Str,
    /// Whether the schema says that the kind belongs to no namespace.
    pub(crate) cluster_scoped: bool,
}

impl ResId {
    /// The namespace it is in as far as references go.
    pub(crate) fn effective_namespace(&self) -> &str {
        effective_namespace(&self.namespace, self.cluster_scoped)
    }

    /// Whether `selector`, whose empty parts mean any, means this one.
    pub(crate) fn is_selected_by(&self, selector: &ResId) -> bool {
        (selector.name.is_empty() || selector.name == self.name)
            && (selector.namespace.is_empty() || selector.effective_namespace() == self.effective_namespace())
            && self.gvk.is_selected_by(&selector.gvk)
    }
}

impl fmt::Display for ResId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, namespace) = (or(&self.name, "[noName]"), or(&self.namespace, "[noNs]"));
        write!(f, "{}/{name}.{namespace}", self.gvk)
    }
}

/// An identity as a number. Two that differ have the same one with a probability that does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(u64, u64);

impl ResId {
    /// What two resources may not have in common, as a number.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let of = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            self.gvk.hash(&mut hasher);
            self.name.hash(&mut hasher);
            self.effective_namespace().hash(&mut hasher);
            hasher.finish()
        };
        Fingerprint(of(0), of(1))
    }
}

/// The namespace that something with this one is in as far as references go.
pub(crate) fn effective_namespace(written: &str, cluster_scoped: bool) -> &str {
    if cluster_scoped {
        NO_NAMESPACE
    } else {
        or(written, DEFAULT_NAMESPACE)
    }
}

/// What stands in for the namespace of things that have none.
pub(crate) const NO_NAMESPACE: &str = "_non_namespaceable_";
const DEFAULT_NAMESPACE: &str = "default";
