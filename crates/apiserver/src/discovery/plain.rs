//! Discovery documents of one group or version each.

use model::{Map, Value, value};

use crate::catalog::{Catalog, Group, Resource, Subresource, Version, api_version};

/// `/api`: the versions of the core group.
pub(super) fn core_versions(catalog: &Catalog, server_address: &str) -> Value {
    let core = catalog.groups().iter().filter(|group| group.name.is_empty());
    let versions: Value = core
        .flat_map(|group| &group.versions)
        .map(|version| version.name.clone())
        .collect();
    value!({
        "kind": "APIVersions",
        "versions": versions,
        "serverAddressByClientCIDRs": [{ "clientCIDR": "0.0.0.0/0", "serverAddress": server_address }],
    })
}

/// `/apis`: all groups but the core group.
pub(super) fn groups(catalog: &Catalog) -> Value {
    let named = catalog.groups().iter().filter(|group| !group.name.is_empty());
    let groups: Value = named.map(group_fields).collect();
    value!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/{group}`.
pub(super) fn group(group: &Group) -> Value {
    let mut fields = group_fields(group);
    fields.insert("kind", "APIGroup");
    fields.insert("apiVersion", "v1");
    Value::Object(fields)
}

fn group_fields(group: &Group) -> Map {
    let reference = |version: &Version| value!({ "groupVersion": (api_version(&group.name, &version.name)), "version": (version.name.clone()) });
    let mut fields = Map::new();
    fields.insert("name", group.name.clone());
    fields.insert(
        "versions",
        group.versions.iter().map(reference).collect::<Value>(),
    );
    if let Some(preferred) = group.preferred() {
        fields.insert("preferredVersion", reference(preferred));
    }
    fields
}

/// `/api/v1` and `/apis/{group}/{version}`.
pub(super) fn resources(group: &str, version: &Version) -> Value {
    let mut entries = Vec::new();
    for resource in &version.resources {
        entries.push(resource_entry(resource));
        entries.extend(
            resource
                .subresources
                .iter()
                .map(|sub| subresource_entry(resource, sub)),
        );
    }
    let mut fields = Map::new();
    fields.insert("kind", "APIResourceList");
    // The core group's list has none, as it is older than the field.
    if !group.is_empty() {
        fields.insert("apiVersion", "v1");
    }
    fields.insert("groupVersion", api_version(group, &version.name));
    fields.insert("resources", entries);
    Value::Object(fields)
}

fn resource_entry(resource: &Resource) -> Value {
    let mut entry = Map::new();
    entry.insert("name", resource.plural.clone());
    entry.insert("singularName", resource.singular.clone());
    entry.insert("namespaced", resource.namespaced);
    entry.insert("kind", resource.kind.clone());
    entry.insert("verbs", resource.verbs.iter().cloned().collect::<Value>());
    for (key, words) in [
        ("shortNames", &resource.short_names),
        ("categories", &resource.categories),
    ] {
        if !words.is_empty() {
            entry.insert(key, words.iter().cloned().collect::<Value>());
        }
    }
    if !resource.storage_hash.is_empty() {
        entry.insert("storageVersionHash", resource.storage_hash.clone());
    }
    Value::Object(entry)
}

fn subresource_entry(resource: &Resource, sub: &Subresource) -> Value {
    let mut entry = Map::new();
    entry.insert("name", format!("{}/{}", resource.plural, sub.name));
    entry.insert("singularName", "");
    entry.insert("namespaced", resource.namespaced);
    if (&sub.group, &sub.version) != (&resource.group, &resource.version) {
        entry.insert("group", sub.group.clone());
        entry.insert("version", sub.version.clone());
    }
    entry.insert("kind", sub.kind.clone());
    entry.insert("verbs", sub.verbs.iter().cloned().collect::<Value>());
    Value::Object(entry)
}
