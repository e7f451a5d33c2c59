//! The order of what is printed: as it came, or the legacy order, with namespaces first and webhooks last.

use std::cmp::Ordering;

use crate::config::SortOptions;
use crate::id::{Gvk, ResId};
use crate::resmap::ResMap;
use crate::schema::Schema;

/// The kinds that come first and last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindOrder<'k> {
    first: &'k [&'k str],
    last: &'k [&'k str],
}

/// kustomize's own order.
pub(crate) const DEFAULT_ORDER: KindOrder<'static> = KindOrder {
    first: &[
        "Namespace",
        "ResourceQuota",
        "StorageClass",
        "CustomResourceDefinition",
        "ServiceAccount",
        "PodSecurityPolicy",
        "Role",
        "ClusterRole",
        "RoleBinding",
        "ClusterRoleBinding",
        "ConfigMap",
        "Secret",
        "Endpoints",
        "Service",
        "LimitRange",
        "PriorityClass",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Deployment",
        "StatefulSet",
        "CronJob",
        "PodDisruptionBudget",
    ],
    last: &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
};

impl KindOrder<'_> {
    /// Negative for kinds that come first, positive for those that come last.
    pub(crate) fn rank(&self, kind: &str) -> i64 {
        let position = |kinds: &[&str]| kinds.iter().rposition(|known| *known == kind);
        if let Some(at) = position(self.last) {
            return at as i64 + 1;
        }
        position(self.first).map_or(0, |at| at as i64 - self.first.len() as i64)
    }
}

/// Sorts as a kustomization asks for.
pub(crate) fn sort(resources: &mut ResMap, options: &SortOptions, schema: &Schema) -> Result<(), String> {
    match (options.order.as_str(), &options.legacy) {
        ("legacy", None) => legacy(resources, DEFAULT_ORDER, schema),
        ("legacy", Some(kinds)) => {
            let first: Vec<&str> = kinds.first.iter().map(String::as_str).collect();
            let last: Vec<&str> = kinds.last.iter().map(String::as_str).collect();
            let order = KindOrder {
                first: &first,
                last: &last,
            };
            legacy(resources, order, schema);
        }
        ("fifo", None) => {}
        ("fifo", Some(_)) => {
            return Err(
                "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not \
                 'legacy'"
                    .to_owned(),
            );
        }
        _ => return Err("the field 'sortOptions.order' must be one of [fifo, legacy]".to_owned()),
    }
    Ok(())
}

/// Sorts in the legacy order.
pub(crate) fn legacy(resources: &mut ResMap, order: KindOrder<'_>, schema: &Schema) {
    resources.sort_by_cached_key(|resource| {
        let id = resource.id(schema);
        let rank = order.rank(&id.gvk.kind);
        // Among namespaces the core kind comes first, although its group would sort last.
        let foreign = id.gvk.kind == "Namespace" && !id.gvk.group.is_empty();
        SortKey { rank, foreign, id }
    });
}

/// What decides the place of a resource.
#[derive(PartialEq, Eq)]
struct SortKey {
    rank: i64,
    foreign: bool,
    id: ResId,
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.id, &other.id);
        self.rank
            .cmp(&other.rank)
            .then(self.foreign.cmp(&other.foreign))
            .then_with(|| kind_text(&a.gvk).cmp(kind_text(&b.gvk)))
            .then_with(|| place_text(a).cmp(place_text(b)))
    }
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
    if text.is_empty() { missing } else { text }
}

/// `GROUP_VERSION_KIND`, which is what kustomize compares.
fn kind_text(gvk: &Gvk) -> impl Iterator<Item = u8> {
    let parts = [
        or(&gvk.group, "~G"),
        "_",
        or(&gvk.version, "~V"),
        "_",
        or(&gvk.kind, "~K"),
    ];
    parts.into_iter().flat_map(str::bytes)
}

/// `NAMESPACE|NAME`
fn place_text(id: &ResId) -> impl Iterator<Item = u8> {
    let parts = [or(&id.namespace, "~X"), "|", or(&id.name, "~N")];
    parts.into_iter().flat_map(str::bytes)
}
