//! The resources that are part of the server, read from data that was taken from a real one.

use std::sync::Arc;

use model::Str;
use serde::Deserialize;

use super::{Origin, Resource, StorageId, Subresource};

/// Written by `cargo xtask generate resources`.
const DATA: &[u8] = include_bytes!("../../data/resources.json");

/// A resource as the data has it. What follows from the rest is left out there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    group: Str,
    version: Str,
    plural: Str,
    singular: Str,
    kind: Str,
    namespaced: bool,
    #[serde(default)]
    short_names: Vec<Str>,
    #[serde(default)]
    categories: Vec<Str>,
    verbs: Vec<Str>,
    #[serde(default)]
    storage_hash: Str,
    #[serde(default)]
    subresources: Vec<SubEntry>,
}

/// A subresource as the data has it; group and version stand there only where they differ from the resource's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubEntry {
    name: Str,
    group: Option<Str>,
    version: Option<Str>,
    kind: Str,
    verbs: Vec<Str>,
}

/// All built-in resources, in discovery order.
pub(super) fn resources() -> Vec<Arc<Resource>> {
    let entries: Vec<Entry> = serde_json::from_slice(DATA).expect("the embedded data is tested");
    entries
        .into_iter()
        .map(|entry| Arc::new(entry.resource()))
        .collect()
}

impl Entry {
    fn resource(self) -> Resource {
        let subresources = self.subresources.into_iter().map(|sub| Subresource {
            name: sub.name,
            group: sub.group.unwrap_or_else(|| self.group.clone()),
            version: sub.version.unwrap_or_else(|| self.version.clone()),
            kind: sub.kind,
            verbs: sub.verbs,
        });
        Resource {
            subresources: subresources.collect(),
            storage: storage(&self.group, &self.plural),
            storage_hash: self.storage_hash,
            list_kind: Str::from(format!("{}List", self.kind)),
            group: self.group,
            version: self.version,
            plural: self.plural,
            singular: self.singular,
            kind: self.kind,
            namespaced: self.namespaced,
            short_names: self.short_names,
            categories: self.categories,
            verbs: self.verbs,
            origin: Origin::Builtin,
        }
    }
}

/// Both `events` resources show the same objects.
fn storage(group: &Str, plural: &Str) -> StorageId {
    let group = match (group.as_str(), plural.as_str()) {
        ("events.k8s.io", "events") => Str::default(),
        _ => group.clone(),
    };
    StorageId {
        group,
        plural: plural.clone(),
    }
}
