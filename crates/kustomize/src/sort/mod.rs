//! The order of what is printed: as it came, or the legacy order, with namespaces first and webhooks last.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

use yaml::node::Text;

use crate::config::SortOptions;
use crate::id::Gvk;
use crate::resmap::ResMap;

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
pub(crate) fn sort(resources: &mut ResMap, options: &SortOptions) -> Result<(), String> {
    match (options.order.as_str(), &options.legacy) {
        ("legacy", None) => legacy(resources, DEFAULT_ORDER),
        ("legacy", Some(kinds)) => {
            let first: Vec<&str> = kinds.first.iter().map(String::as_str).collect();
            let last: Vec<&str> = kinds.last.iter().map(String::as_str).collect();
            let order = KindOrder {
                first: &first,
                last: &last,
            };
            legacy(resources, order);
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
pub(crate) fn legacy(resources: &mut ResMap, order: KindOrder<'_>) {
    let mut kinds: HashMap<Gvk, Rc<KindKey>> = HashMap::new();
    resources.sort_by_cached_key(|resource| {
        let gvk = resource.gvk();
        let kind = match kinds.get(&gvk) {
            Some(known) => Rc::clone(known),
            None => {
                let new = Rc::new(KindKey::new(&gvk, order));
                kinds.insert(gvk, Rc::clone(&new));
                new
            }
        };
        SortKey {
            kind,
            namespace: resource.shared_namespace(),
            name: resource.shared_name(),
        }
    });
}

/// What decides the place of a kind.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KindKey {
    rank: i64,
    /// Among namespaces the core kind comes first, although its group would sort last.
    foreign: bool,
    /// `GROUP_VERSION_KIND`, which is what kustomize compares.
    text: String,
}

impl KindKey {
    fn new(gvk: &Gvk, order: KindOrder<'_>) -> KindKey {
        let (group, version, kind) = (or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K"));
        KindKey {
            rank: order.rank(&gvk.kind),
            foreign: gvk.kind == "Namespace" && !gvk.group.is_empty(),
            text: format!("{group}_{version}_{kind}"),
        }
    }
}

/// What decides the place of a resource.
#[derive(PartialEq, Eq)]
struct SortKey {
    kind: Rc<KindKey>,
    namespace: Text,
    name: Text,
}

impl SortKey {
    /// `NAMESPACE|NAME`
    fn place(&self) -> impl Iterator<Item = u8> {
        let parts = [or(&self.namespace, "~X"), "|", or(&self.name, "~N")];
        parts.into_iter().flat_map(str::bytes)
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.kind
            .cmp(&other.kind)
            .then_with(|| self.place().cmp(other.place()))
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
