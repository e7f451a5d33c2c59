//! What a cluster serves, by the words that people have for it.

use anyhow::{Context as _, bail};
use futures::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResource};
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::{ApiResource, GroupVersionKind};
use model::object_key::split_api_version;

/// So many groups are asked about at a time.
const AT_A_TIME: usize = 8;

/// One resource in one version.
pub(crate) struct Resource {
    pub(crate) resource: ApiResource,
    pub(crate) is_namespaced: bool,
    /// All words for it, in lower case.
    words: Vec<String>,
}

/// All resources, those of the core group first, and of each group in the version that the cluster prefers.
pub(crate) struct Served(Vec<Resource>);

impl Served {
    /// Asks the cluster.
    pub(crate) async fn by(client: &Client) -> anyhow::Result<Served> {
        let core = client.list_core_api_resources("v1").await;
        let core = core.context("the cluster does not say what it serves")?;
        let groups = client.list_api_groups().await;
        let groups = groups
            .context("the cluster does not say which groups it serves")?
            .groups;
        let mut versions: Vec<String> = groups.iter().filter_map(preferred).collect();
        let others = groups.iter().flat_map(|group| &group.versions);
        let others: Vec<String> = others
            .map(|version| version.group_version.clone())
            .filter(|version| !versions.contains(version))
            .collect();
        versions.extend(others);
        let lists = futures::stream::iter(&versions)
            .map(|version| client.list_api_group_resources(version))
            .buffered(AT_A_TIME);
        // A group whose own server is away hides no other.
        let lists: Vec<_> = lists.filter_map(|list| async move { list.ok() }).collect().await;
        let all = std::iter::once(core).chain(lists);
        let resources = all.flat_map(|list| {
            let version = list.group_version;
            let served = list.resources.into_iter();
            served.filter_map(move |resource| Resource::new(&version, resource))
        });
        Ok(Served(resources.collect()))
    }

    /// The resource of a word such as `deploy`, `Deployment`, `deployments.apps` or `deployments.v1.apps`.
    pub(crate) fn named(&self, word: &str) -> anyhow::Result<&Resource> {
        let word = word.to_lowercase();
        let (name, place) = word.split_once('.').unwrap_or((&word, ""));
        let found = self.0.iter().find(|served| {
            let ApiResource { group, version, .. } = &served.resource;
            let is_here = place.is_empty() || place == group || place == format!("{version}.{group}");
            is_here && served.words.iter().any(|own| own == name)
        });
        match found {
            Some(found) => Ok(found),
            None => bail!("the cluster has no resource type {word:?}: `kubectl api-resources` lists them"),
        }
    }

    /// The resource of a kind, in a version or any.
    pub(crate) fn kind(&self, group: &str, version: Option<&str>, kind: &str) -> Option<&Resource> {
        self.0.iter().find(|served| {
            let resource = &served.resource;
            resource.group == group
                && version.is_none_or(|version| resource.version == version)
                && resource.kind.eq_ignore_ascii_case(kind)
        })
    }

    /// The resource of an `apiVersion` and a kind.
    pub(crate) fn of(&self, api_version: &str, kind: &str) -> anyhow::Result<&Resource> {
        let (group, version) = split_api_version(api_version);
        let found = self.kind(group, Some(version), kind);
        found.with_context(|| format!("the cluster has no kind {kind:?} in {api_version:?}"))
    }
}

fn preferred(group: &APIGroup) -> Option<String> {
    let version = group.preferred_version.as_ref().or(group.versions.first());
    version.map(|version| version.group_version.clone())
}

impl Resource {
    fn new(group_version: &str, served: APIResource) -> Option<Resource> {
        if served.name.contains('/') || !served.verbs.iter().any(|verb| verb == "get") {
            return None;
        }
        let (group, version) = split_api_version(group_version);
        let kind = GroupVersionKind::gvk(group, version, &served.kind);
        let words = [&served.name, &served.singular_name, &served.kind];
        let short = served.short_names.iter().flatten();
        Some(Resource {
            resource: ApiResource::from_gvk_with_plural(&kind, &served.name),
            is_namespaced: served.namespaced,
            words: words
                .into_iter()
                .chain(short)
                .map(|word| word.to_lowercase())
                .collect(),
        })
    }

    /// Its objects; the namespace counts where they have one.
    pub(crate) fn objects(&self, client: Client, namespace: &str) -> Api<DynamicObject> {
        match self.is_namespaced {
            true => Api::namespaced_with(client, namespace, &self.resource),
            false => Api::all_with(client, &self.resource),
        }
    }
}
