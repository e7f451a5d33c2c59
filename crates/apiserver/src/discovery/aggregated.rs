//! Discovery of all groups in one document (`apidiscovery.k8s.io/v2`).

use model::{Map, Str, Value, json, value};

use super::accept::{self, Agreed, Target};
use super::{Body, Document, Request, hash};
use crate::catalog::{Catalog, Group, Origin, Resource, Subresource, Version};

/// The only version that is served. As in the real server the beta is gone; clients that know only that one fall back
/// to the plain documents.
const TARGET: Target<'_> = Target {
    group: "apidiscovery.k8s.io",
    version: "v2",
    kind: "APIGroupDiscoveryList",
};

/// The document at `/api` (the core group) or `/apis` (all others), if the client asks for it.
pub(super) fn document(catalog: &Catalog, request: &Request<'_>) -> Option<Document> {
    let agreed = agree(request.accept)?;
    let core = match request.path {
        "/api" | "/api/" => true,
        // With a slash at the end the real server never aggregates.
        "/apis" => false,
        _ => return None,
    };
    let value = list(
        catalog
            .groups()
            .iter()
            .filter(|group| group.name.is_empty() == core),
    );
    let etag = format!("\"{}\"", hash(&json::to_vec(&value)));
    let body = match request.if_none_match == etag {
        true => Body::NotModified,
        false => Body::Json(value),
    };
    Some(Document {
        body,
        content_type: agreed.content_type(),
        etag: Some(etag),
    })
}

/// The plain document is no alternative here: a client that accepts both gets this one.
fn agree(accept: &str) -> Option<Agreed<'_>> {
    let agreed = accept::negotiate(accept, |target| target == Some(TARGET))?;
    agreed.target.is_some().then_some(agreed)
}

fn list<'a>(groups: impl Iterator<Item = &'a Group>) -> Value {
    value!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": (groups.map(group).collect::<Value>()),
    })
}

fn group(group: &Group) -> Value {
    let mut metadata = Map::new();
    if !group.name.is_empty() {
        metadata.insert("name", group.name.clone());
    }
    value!({ "metadata": metadata, "versions": (group.versions.iter().map(version).collect::<Value>()) })
}

fn version(version: &Version) -> Value {
    let resources: Value = version.resources.iter().map(|entry| resource(entry)).collect();
    value!({ "version": (version.name.clone()), "resources": resources, "freshness": "Current" })
}

fn resource(resource: &Resource) -> Value {
    let mut entry = Map::new();
    entry.insert("resource", resource.plural.clone());
    let (group, version) = own_group_version(resource);
    entry.insert("responseKind", response_kind(group, version, &resource.kind));
    entry.insert(
        "scope",
        if resource.namespaced {
            "Namespaced"
        } else {
            "Cluster"
        },
    );
    entry.insert("singularResource", resource.singular.clone());
    insert_words(&mut entry, "verbs", &resource.verbs);
    insert_words(&mut entry, "shortNames", &resource.short_names);
    insert_words(&mut entry, "categories", &resource.categories);
    if !resource.subresources.is_empty() {
        let entries: Value = resource
            .subresources
            .iter()
            .map(|sub| subresource(resource, sub))
            .collect();
        entry.insert("subresources", entries);
    }
    Value::Object(entry)
}

fn subresource(resource: &Resource, sub: &Subresource) -> Value {
    let own = (&sub.group, &sub.version) == (&resource.group, &resource.version);
    let (group, version) = if own {
        own_group_version(resource)
    } else {
        (sub.group.as_str(), sub.version.as_str())
    };
    let mut entry = Map::new();
    entry.insert("subresource", sub.name.clone());
    entry.insert("responseKind", response_kind(group, version, &sub.kind));
    insert_words(&mut entry, "verbs", &sub.verbs);
    Value::Object(entry)
}

/// Built-in resources leave group and version empty where they are those of the document's place.
fn own_group_version(resource: &Resource) -> (&str, &str) {
    match resource.origin {
        Origin::Builtin => ("", ""),
        Origin::Custom => (&resource.group, &resource.version),
    }
}

fn response_kind(group: &str, version: &str, kind: &str) -> Value {
    value!({ "group": group, "version": version, "kind": kind })
}

fn insert_words(entry: &mut Map, key: &str, words: &[Str]) {
    if !words.is_empty() {
        entry.insert(key, words.iter().cloned().collect::<Value>());
    }
}
