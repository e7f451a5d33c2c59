//! What was applied, so that it can be pruned.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{ObjectKey, Str};

/// The objects that one unit applied, as `status.inventory` holds them, in the order they were applied.
///
/// What is read may have entries that stand for no object, since somebody has edited it. They are left out: all others must not
/// be lost with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// One entry per object.
    #[serde(default, deserialize_with = "readable")]
    pub entries: Vec<Entry>,
}

/// One object of an inventory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Which object.
    pub id: Id,
    /// The version it was applied in. It does not tell objects apart.
    #[serde(rename = "v")]
    pub version: String,
}

/// An object key in the form of an inventory: `<namespace>_<name>_<group>_<kind>`.
///
/// Names of RBAC objects may hold colons, which stand as `__`. Underscores in names are taken as they are: neither namespaces nor
/// groups and kinds have any. Whether a key [reads back](Id::reads_back) as it is has to be asked of RBAC objects with two underscores in a
/// row.
///
/// **Deviation**: in names of other kinds `__` is no colon; Flux writes them as we do, and then reads a colon.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub ObjectKey);

/// Why a text is no entry of an inventory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("inventory entry {id:?} {problem}")]
pub struct Error {
    id: String,
    problem: &'static str,
}

impl Inventory {
    /// Whether the object is in it.
    pub fn contains(&self, key: &ObjectKey) -> bool {
        self.entries.iter().any(|entry| entry.id.0 == *key)
    }

    /// The entries whose objects are not in `other`: what is to be pruned, if `other` is the newer one.
    pub fn without(&self, other: &Inventory) -> Vec<&Entry> {
        let kept: HashSet<&Id> = other.entries.iter().map(|entry| &entry.id).collect();
        self.entries
            .iter()
            .filter(|entry| !kept.contains(&entry.id))
            .collect()
    }
}

impl Id {
    /// Whether the text stands for this object and for no other.
    pub fn reads_back(&self) -> bool {
        let key = &self.0;
        let has_underscore = [&key.namespace, &key.name, &key.group, &key.kind]
            .iter()
            .any(|part| part.contains('_'));
        !has_underscore || self.to_string().parse().as_ref() == Ok(self)
    }
}

/// The entries that can be read.
fn readable<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Entry>, D::Error> {
    #[derive(Deserialize)]
    struct Text {
        #[serde(default)]
        id: String,
        #[serde(default)]
        v: String,
    }
    let texts = Option::<Vec<Text>>::deserialize(deserializer)?.unwrap_or_default();
    let entries = texts.into_iter().filter_map(|text| {
        let id = text.id.parse().ok()?;
        Some(Entry { id, version: text.v })
    });
    Ok(entries.collect())
}

fn may_have_colons(key: &ObjectKey) -> bool {
    key.group == "rbac.authorization.k8s.io"
        && matches!(
            key.kind.as_str(),
            "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding"
        )
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectKey {
            group,
            kind,
            namespace,
            name,
        } = &self.0;
        if may_have_colons(&self.0) {
            return write!(f, "{namespace}_{}_{group}_{kind}", name.replace(':', "__"));
        }
        write!(f, "{namespace}_{name}_{group}_{kind}")
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self, Error> {
        let error = |problem| Error {
            id: id.to_owned(),
            problem,
        };
        let malformed = || error("must look like <namespace>_<name>_<group>_<kind>");
        let (namespace, rest) = id.split_once('_').ok_or_else(malformed)?;
        let (rest, kind) = rest.rsplit_once('_').ok_or_else(malformed)?;
        let (name, group) = rest.rsplit_once('_').ok_or_else(malformed)?;
        if name.is_empty() {
            return Err(error("has no name"));
        }
        if kind.is_empty() {
            return Err(error("has no kind"));
        }
        let mut key = ObjectKey {
            group: Str::new(group),
            kind: Str::new(kind),
            namespace: Str::new(namespace),
            name: Str::new(name),
        };
        if may_have_colons(&key) {
            key.name = Str::from(name.replace("__", ":"));
        }
        Ok(Id(key))
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
