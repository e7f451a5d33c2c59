//! What a server says of the kinds that it serves.

use std::collections::{HashMap, HashSet};

use model::{Str, Value};
use tokio::time::Instant;

use super::budget::Charge;
use super::error::Error;
use super::resource::Resource;

/// What is served, as of one time.
pub(super) struct Table {
    pub(super) kinds: Kinds,
    pub(super) at: Instant,
    /// The changes that were known when the server was asked.
    pub(super) changes: u64,
    /// The part of the cluster's budget that it takes.
    pub(super) _charge: Charge,
}

/// The kinds that are served.
#[derive(Default)]
pub(super) struct Kinds {
    /// By group and kind; the preferred version comes first.
    served: HashMap<(Str, Str), Vec<Resource>>,
    /// Groups and versions whose own server has not answered: what is not among the kinds may be served all the same.
    silent: HashSet<(Str, Str)>,
}

impl Kinds {
    pub(super) fn find(&self, group: &str, version: Option<&str>, kind: &str) -> Option<&Resource> {
        let versions = self.served.get(&(Str::new(group), Str::new(kind)))?;
        match version {
            Some(version) => versions.iter().find(|resource| resource.version == version),
            None => versions.first(),
        }
    }

    /// The number of kinds, each version counted.
    pub(super) fn count(&self) -> usize {
        self.served.values().map(Vec::len).sum()
    }

    /// The memory that they take, about.
    pub(super) fn size(&self) -> usize {
        let size = |resource: &Resource| {
            let Resource {
                group,
                version,
                kind,
                plural,
                ..
            } = resource;
            let texts = 2 * (group.len() + kind.len()) + version.len() + plural.len();
            2 * size_of::<Resource>() + texts
        };
        self.served.values().flatten().map(size).sum()
    }

    /// All groups with versions (`apps/v1`), and the kinds in them (`apps/v1/Deployment`), sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let resources = self.served.values().flatten();
        let names = resources.flat_map(|resource| {
            let version = resource.api_version();
            [format!("{version}/{}", resource.kind), version]
        });
        let names: std::collections::BTreeSet<String> = names.collect();
        names.into_iter().collect()
    }

    /// Why a kind was not found: it is not served, or nobody knows at the moment.
    pub(super) fn missing(&self, group: &str, version: Option<&str>, kind: &str) -> Error {
        let is_asked = |asked: &&(Str, Str)| {
            let (silent, in_version) = asked;
            *silent == group && version.is_none_or(|version| *in_version == version)
        };
        let is_silent = self.silent.iter().find(is_asked).is_some();
        let version = version.unwrap_or("*");
        let version = match group {
            "" => version.to_owned(),
            group => format!("{group}/{version}"),
        };
        let kind = kind.to_owned();
        match is_silent {
            true => Error::KindUnknown { version, kind },
            false => Error::NoSuchKind { version, kind },
        }
    }

    /// The server of a group does not answer in this version.
    pub(super) fn is_silent(&mut self, group: Str, version: Str) {
        self.silent.insert((group, version));
    }

    /// Reads an `APIGroupDiscoveryList`.
    pub(super) fn aggregated(&mut self, answer: &Value) {
        for group in answer.list_at(&["items"]) {
            let name = group.str_at(&["metadata", "name"]);
            for version in group.list_at(&["versions"]) {
                if version.str_at(&["freshness"]) == "Stale" {
                    self.is_silent(name.into(), version.str_at(&["version"]).into());
                }
                for resource in version.list_at(&["resources"]) {
                    self.add(Resource {
                        group: name.into(),
                        version: version.str_at(&["version"]).into(),
                        kind: resource.str_at(&["responseKind", "kind"]).into(),
                        plural: resource.str_at(&["resource"]).into(),
                        namespaced: resource.str_at(&["scope"]) == "Namespaced",
                        watchable: watchable(resource),
                    });
                }
            }
        }
    }

    /// Reads an `APIResourceList`.
    pub(super) fn listed(&mut self, group: &Str, version: &Str, list: &Value) {
        for resource in list.list_at(&["resources"]) {
            let plural = resource.str_at(&["name"]);
            if plural.contains('/') {
                continue;
            }
            self.add(Resource {
                group: group.clone(),
                version: version.clone(),
                kind: resource.str_at(&["kind"]).into(),
                plural: plural.into(),
                namespaced: resource.get("namespaced").and_then(Value::as_bool) == Some(true),
                watchable: watchable(resource),
            });
        }
    }

    fn add(&mut self, resource: Resource) {
        if resource.kind.is_empty() || resource.plural.is_empty() {
            return;
        }
        let kind = (resource.group.clone(), resource.kind.clone());
        let versions = self.served.entry(kind).or_default();
        // Of two resources with one kind the first is meant.
        if versions.iter().all(|known| known.version != resource.version) {
            versions.push(resource);
        }
    }
}

/// The versions of the core group in an `APIVersions`.
pub(super) fn core_versions(answer: &Value) -> Vec<(Str, Str)> {
    let versions = answer.list_at(&["versions"]).iter();
    versions
        .filter_map(Value::as_str)
        .map(|version| ("".into(), version.into()))
        .collect()
}

/// The group-versions in an `APIGroupList`, of each group the preferred one first.
pub(super) fn group_versions(answer: &Value) -> Vec<(Str, Str)> {
    let mut found = Vec::new();
    for group in answer.list_at(&["groups"]) {
        let name = Str::new(group.str_at(&["name"]));
        let preferred = group.str_at(&["preferredVersion", "version"]);
        let versions = group.list_at(&["versions"]).iter();
        let mut versions: Vec<&str> = versions.map(|version| version.str_at(&["version"])).collect();
        versions.sort_by_key(|version| *version != preferred);
        found.extend(versions.into_iter().map(|version| (name.clone(), version.into())));
    }
    found
}

fn watchable(resource: &Value) -> bool {
    let has = |verb: &str| {
        resource
            .list_at(&["verbs"])
            .iter()
            .any(|found| found.as_str() == Some(verb))
    };
    has("list") && has("watch")
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn the_preferred_version_comes_first_in_old_servers_too() {
        let groups = value!({ "kind": "APIGroupList", "groups": [{
            "name": "autoscaling",
            "versions": [{ "version": "v1" }, { "version": "v2" }],
            "preferredVersion": { "version": "v2" },
        }]});
        let versions = group_versions(&groups);
        assert_eq!(
            versions,
            [
                ("autoscaling".into(), "v2".into()),
                ("autoscaling".into(), "v1".into())
            ]
        );
        let mut kinds = Kinds::default();
        for (group, version) in &versions {
            let list = value!({ "resources": [
                { "name": "horizontalpodautoscalers", "kind": "HorizontalPodAutoscaler", "namespaced": true, "verbs": ["get", "list", "watch"] },
                { "name": "horizontalpodautoscalers/status", "kind": "HorizontalPodAutoscaler", "namespaced": true, "verbs": ["get"] },
            ]});
            kinds.listed(group, version, &list);
        }
        let found = &kinds.served[&("autoscaling".into(), "HorizontalPodAutoscaler".into())];
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].version.as_str(), found[0].namespaced, found[0].watchable),
            ("v2", true, true)
        );
    }

    #[test]
    fn nobody_knows_what_a_group_serves_whose_server_is_down() {
        let mut kinds = Kinds::default();
        kinds.aggregated(&value!({ "kind": "APIGroupDiscoveryList", "items": [{
            "metadata": { "name": "example.com" },
            "versions": [
                { "version": "v2", "freshness": "Stale", "resources": [] },
                { "version": "v1", "freshness": "Current", "resources": [
                    { "resource": "widgets", "responseKind": { "kind": "Widget" }, "scope": "Namespaced", "verbs": ["get"] },
                ]},
            ],
        }]}));
        let missing = |version, kind| kinds.missing("example.com", version, kind);
        assert!(kinds.find("example.com", None, "Widget").is_some());
        assert!(matches!(missing(Some("v2"), "Widget"), Error::KindUnknown { .. }));
        assert!(matches!(missing(None, "Gadget"), Error::KindUnknown { .. }));
        assert!(matches!(missing(Some("v1"), "Gadget"), Error::NoSuchKind { .. }));
        let elsewhere = kinds.missing("apps", None, "Gadget");
        assert!(matches!(elsewhere, Error::NoSuchKind { .. }) && missing(None, "Gadget").is_transient());
    }
}
