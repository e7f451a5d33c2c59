//! One stored object.

use bytes::Bytes;
use model::{Str, Value, json};

use super::Draft;

/// An object's place in its table: `namespace/name`, or `name` alone in cluster scope.
///
/// One string, so that objects are ordered as in the real store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub(super) Str);

impl Key {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        match namespace {
            "" => Key(name.into()),
            namespace => {
                let mut text = Str::with_capacity(namespace.len() + name.len() + 1);
                text.push_str(namespace);
                text.push('/');
                text.push_str(name);
                Key(text)
            }
        }
    }

    /// The key after a text from a continue token.
    pub(crate) fn from_text(text: &str) -> Self {
        Key(text.into())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn name(&self) -> &str {
        self.0.split_once('/').map_or(self.0.as_str(), |(_, name)| name)
    }

    pub(crate) fn namespace(&self) -> &str {
        self.0.split_once('/').map_or("", |(namespace, _)| namespace)
    }
}

/// What is asked about an object without reading it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    pub uid: Str,
    pub labels: Box<[(Str, Str)]>,
    /// Values for field selectors besides name and namespace.
    pub fields: Box<[(Str, Str)]>,
    pub owners: Box<[Owner]>,
    pub deleting: bool,
}

/// An owner reference, as garbage collection and the simulator need it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Owner {
    pub api_version: Str,
    pub kind: Str,
    pub name: Str,
    pub uid: Str,
    pub blocks: bool,
    /// Whether it is the one that manages the object.
    pub controller: bool,
}

/// A stored object: its bytes without `apiVersion` and `kind`.
#[derive(Debug)]
pub(crate) struct Object {
    pub key: Key,
    pub revision: u64,
    pub bytes: Bytes,
    pub meta: Meta,
}

impl Object {
    /// Gives a draft its revision and turns it into bytes.
    pub(crate) fn seal(key: Key, revision: u64, mut draft: Draft) -> Self {
        if let Some(map) = draft.value.as_object_mut() {
            map.remove("apiVersion");
            map.remove("kind");
        }
        match revision {
            // A dry run of a creation: there is no revision to tell.
            0 => drop(draft.value.remove_at(&["metadata", "resourceVersion"])),
            revision => draft
                .value
                .set_at(&["metadata", "resourceVersion"], revision.to_string()),
        }
        let bytes = Bytes::from(json::to_vec(&draft.value));
        Object {
            key,
            revision,
            bytes,
            meta: draft.meta,
        }
    }

    /// The same object at another revision.
    pub(crate) fn resealed(&self, revision: u64) -> Self {
        let draft = Draft {
            value: self.value(),
            meta: self.meta.clone(),
        };
        Object::seal(self.key.clone(), revision, draft)
    }

    /// The object without `apiVersion` and `kind`.
    pub(crate) fn value(&self) -> Value {
        json::parse(&self.bytes).expect("the store holds what our own writer wrote")
    }

    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        pair(&self.meta.labels, key)
    }

    pub(crate) fn field(&self, key: &str) -> Option<&str> {
        match key {
            "metadata.name" => Some(self.key.name()),
            "metadata.namespace" => Some(self.key.namespace()),
            key => pair(&self.meta.fields, key),
        }
    }
}

fn pair<'a>(pairs: &'a [(Str, Str)], key: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(k, _)| k == key)
        .map(|(_, value)| value.as_str())
}

impl Meta {
    /// Reads the metadata of an object; `fields` are its selectable fields.
    pub(crate) fn of(value: &Value, fields: Vec<(Str, Str)>) -> Self {
        let empty = Value::Null;
        let metadata = value.get("metadata").unwrap_or(&empty);
        let labels = metadata.get("labels").and_then(Value::as_object);
        let labels = labels.into_iter().flat_map(|map| map.iter());
        let owners = metadata.list_at(&["ownerReferences"]).iter().map(|owner| Owner {
            api_version: owner.str_at(&["apiVersion"]).into(),
            kind: owner.str_at(&["kind"]).into(),
            name: owner.str_at(&["name"]).into(),
            uid: owner.str_at(&["uid"]).into(),
            blocks: owner
                .get("blockOwnerDeletion")
                .and_then(Value::as_bool)
                .unwrap_or(false),
            controller: owner.get("controller").and_then(Value::as_bool).unwrap_or(false),
        });
        Meta {
            uid: metadata.str_at(&["uid"]).into(),
            labels: labels
                .map(|(key, text)| (key.into(), text.as_str().unwrap_or_default().into()))
                .collect(),
            fields: fields.into(),
            owners: owners.collect(),
            deleting: metadata.get("deletionTimestamp").is_some(),
        }
    }
}
