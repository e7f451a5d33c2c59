//! What the cache keeps of an object.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use model::{Health, ObjectKey, Str, Value};

use super::assess::Assessed;
use super::content;
use super::owner::{self, Owner};
use super::settings::KindSettings;
use super::standard::Standard;
use super::uid::Uid;
use crate::cluster::{Charge, Detail, Resource};

/// What the cache keeps of an object: what decisions need, not the object. It is one state of the object; a change makes a
/// new entry.
pub struct Entry {
    id: Arc<Id>,
    uid: Uid,
    resource_version: Str,
    generation: i64,
    owners: Box<[Owner]>,
    labels: Box<[(Str, Str)]>,
    content: u128,
    health: Option<Health>,
    created: i64,
    deleting: bool,
    detail: Detail,
    more: Option<Box<More>>,
    /// The part of the cluster's budget that it takes, if the cluster has one.
    charge: Option<Box<Charge>>,
}

/// What few objects have.
#[derive(Default)]
struct More {
    object: Option<Arc<Value>>,
    claims: Box<[Str]>,
    healths: Box<[(Standard, Option<Health>)]>,
}

/// Which object. It is shared by all states of the object, and its texts by all objects.
pub(super) struct Id {
    pub(super) kind: Arc<Kind>,
    pub(super) namespace: Arc<str>,
    pub(super) name: Str,
}

/// A kind as it is watched, shared by all its objects.
pub(super) struct Kind {
    pub(super) group: Str,
    pub(super) kind: Str,
    pub(super) api_version: Str,
}

impl Kind {
    pub(super) fn of(resource: &Resource) -> Kind {
        Kind {
            group: resource.group.clone(),
            kind: resource.kind.clone(),
            api_version: resource.api_version().into(),
        }
    }
}

impl Id {
    pub(super) fn key(&self) -> ObjectKey {
        ObjectKey {
            group: self.kind.group.clone(),
            kind: self.kind.kind.clone(),
            namespace: Str::new(&*self.namespace),
            name: self.name.clone(),
        }
    }
}

impl Entry {
    /// What is kept of an object that was assessed.
    pub(super) fn new(id: Arc<Id>, assessed: Assessed, detail: Detail, settings: &KindSettings) -> Entry {
        let Assessed {
            object,
            health,
            healths,
        } = assessed;
        let metadata = |key: &str| object.str_at(&["metadata", key]);
        let created: Option<Timestamp> = metadata("creationTimestamp").parse().ok();
        let mut entry = Entry {
            uid: Uid::new(metadata("uid")),
            resource_version: metadata("resourceVersion").into(),
            generation: object
                .at(&["metadata", "generation"])
                .and_then(Value::as_i64)
                .unwrap_or_default(),
            owners: owner::owners(&object),
            labels: settings.labels_of(&object),
            content: content::digest(&object),
            health,
            created: created.map_or(0, Timestamp::as_second),
            deleting: object.at(&["metadata", "deletionTimestamp"]).is_some(),
            detail,
            more: None,
            charge: None,
            id,
        };
        let claims = owner::claim_templates(&object);
        let keep = settings.keep(&entry, &object);
        if keep || !claims.is_empty() || !healths.is_empty() {
            entry.more = Some(Box::new(More {
                object: keep.then(|| Arc::new(stripped(object))),
                claims,
                healths: healths.into(),
            }));
        }
        entry
    }

    /// The memory that it takes, about, with its places in the maps of the store.
    pub(super) fn size(&self) -> usize {
        const PLACES: usize = 128;
        let owner = |owner: &Owner| {
            let by = size_of::<Owner>() + owner.name.len() + owner.uid.size();
            2 * by + owner.group.len() + owner.kind.len() + PLACES
        };
        let label = |(key, value): &(Str, Str)| size_of::<(Str, Str)>() + key.len() + value.len();
        let message = |health: Option<&Health>| health.map_or(0, |health| health.message.len());
        let mut size = size_of::<Entry>() + size_of::<Id>() + PLACES;
        size += self.id.name.len() + self.id.namespace.len() + self.resource_version.len() + self.uid.size();
        size += self.owners.iter().map(owner).sum::<usize>();
        size += self.labels.iter().map(label).sum::<usize>();
        size += message(self.health.as_ref());
        if let Some(more) = &self.more {
            let claim = |claim: &Str| size_of::<Str>() + claim.len();
            let own = |(_, health): &(Standard, Option<Health>)| {
                size_of::<(Standard, Option<Health>)>() + message(health.as_ref())
            };
            size += size_of::<More>() + more.claims.iter().map(claim).sum::<usize>();
            size += more.healths.iter().map(own).sum::<usize>();
            size += more.object.as_ref().map_or(0, |object| size_of_value(object));
        }
        size
    }

    /// It takes this part of the cluster's budget for as long as anybody holds it.
    pub(super) fn pay(&mut self, charge: Charge) {
        self.charge = charge.is_metered().then(|| Box::new(charge));
    }

    /// Which object it is.
    pub fn key(&self) -> ObjectKey {
        self.id.key()
    }

    /// The API version it is watched in.
    pub fn api_version(&self) -> &str {
        &self.id.kind.api_version
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        &self.id.kind.kind
    }

    /// Its namespace; empty for objects of the whole cluster.
    pub fn namespace(&self) -> &str {
        &self.id.namespace
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.id.name
    }

    /// Its uid.
    pub fn uid(&self) -> &Uid {
        &self.uid
    }

    /// Its version.
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }

    /// How often what it is meant to be was changed; 0 for kinds that do not count it.
    pub fn generation(&self) -> i64 {
        self.generation
    }

    /// Whose it is, by its owner references and by what is known of some kinds.
    pub fn owners(&self) -> &[Owner] {
        &self.owners
    }

    /// The value of one of the labels that the settings ask for.
    pub fn label(&self, key: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The labels that the settings ask for.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// A digest of everything but `status` and what the server keeps count of. Of metadata alone where only that is
    /// watched.
    pub fn content(&self) -> u128 {
        self.content
    }

    /// How it is doing; nothing where the rules say nothing of its kind, or only its metadata is watched.
    pub fn health(&self) -> Option<&Health> {
        self.health.as_ref()
    }

    /// How it is doing by a standard; nothing where it was not assessed by it yet, since nobody who follows it has it, or has it
    /// for so short a time that the objects are still being looked at again.
    pub fn health_by(&self, standard: &Standard) -> Option<Option<&Health>> {
        let standard = standard.of(&self.id.kind.group, &self.id.kind.kind);
        if standard.is_plain() {
            return Some(self.health());
        }
        let mut healths = self.healths().iter();
        let (_, health) = healths.find(|(known, _)| *known == standard)?;
        Some(health.as_ref())
    }

    fn healths(&self) -> &[(Standard, Option<Health>)] {
        self.more.as_ref().map(|more| &*more.healths).unwrap_or_default()
    }

    /// Whether it is being deleted.
    pub fn deleting(&self) -> bool {
        self.deleting
    }

    /// When it was created.
    pub fn created(&self) -> Option<Timestamp> {
        (self.created != 0)
            .then(|| Timestamp::from_second(self.created).ok())
            .flatten()
    }

    /// How much of it is watched.
    pub fn detail(&self) -> Detail {
        self.detail
    }

    /// The object without its managed fields, if the settings ask for it.
    pub fn object(&self) -> Option<&Arc<Value>> {
        self.more.as_ref()?.object.as_ref()
    }

    /// Of a StatefulSet, the names of its claim templates.
    pub(super) fn claims(&self) -> &[Str] {
        self.more.as_ref().map(|more| &*more.claims).unwrap_or_default()
    }

    pub(super) fn id(&self) -> &Arc<Id> {
        &self.id
    }

    /// Whether nothing that anybody would want to hear of lies between two states. Who has a new standard looks at everything by
    /// it anyway.
    pub(super) fn is_like(&self, other: &Entry) -> bool {
        let differs = |(standard, health): &(Standard, Option<Health>)| {
            let mut others = other.healths().iter();
            others.any(|(same, other)| same == standard && other != health)
        };
        self.content == other.content
            && !self.healths().iter().any(differs)
            && self.health == other.health
            && self.deleting == other.deleting
            && self.uid == other.uid
            && self.detail == other.detail
            && self.labels == other.labels
            && self.object().is_some() == other.object().is_some()
    }
}

/// The memory that a value takes, about.
fn size_of_value(value: &Value) -> usize {
    let inside = match value {
        Value::Str(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_value).sum(),
        Value::Object(map) => {
            let pairs = map.iter();
            let pair = |(key, value): (&str, &Value)| size_of::<Str>() + key.len() + size_of_value(value);
            pairs.map(pair).sum()
        }
        _ => 0,
    };
    size_of::<Value>() + inside
}

fn stripped(mut object: Value) -> Value {
    object.remove_at(&["metadata", "managedFields"]);
    object
}

/// The object itself is not shown: it may be a Secret.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("key", &format_args!("{}", self.key()))
            .field("resource_version", &self.resource_version)
            .field("health", &self.health)
            .field("deleting", &self.deleting)
            .finish_non_exhaustive()
    }
}
