//! What holds for all units.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cache::Assess;
use crate::cluster::Budget;
use crate::diff::IgnoreRules;
use crate::plan::{GroupKind, Instance};

/// What holds for all units. It can be changed while the engine runs: only what it touches is done again.
#[derive(Clone, Default)]
pub struct ReconciliationSettings {
    /// A label that every object is given, with the unit's id as its value (see [`Instance`]). Watches then only see what is ours,
    /// and an object that has the label of another unit is not pruned. Without it, all objects of the kinds that units have are
    /// watched.
    pub instance_label: Option<String>,
    /// What the engine leaves alone.
    pub filter: ResourceFilter,
    /// Differences that do not count, in any unit.
    pub ignore: IgnoreRules,
    /// What is special about kinds.
    pub overrides: BTreeMap<GroupKind, ResourceOverride>,
    /// The memory that each cluster may take that [others vouch for](super::Access::vouched_by). One that needs more fails and is tried
    /// again later. Clusters that this process knows by itself have no budget.
    pub remote_budget: Budget,
}

/// What the engine leaves alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceFilter {
    /// Objects of these kinds are neither watched, applied nor pruned.
    pub excluded: Vec<GroupKind>,
}

/// What is special about a kind.
#[derive(Clone, Default)]
pub struct ResourceOverride {
    /// How its health is told, in all units that have no [rules of their own](super::Policy::health) for it.
    pub health: Option<Arc<dyn Assess>>,
    /// Differences of its objects that do not count.
    pub ignore: IgnoreRules,
}

impl ReconciliationSettings {
    /// The label that a unit's objects are given, if there is one.
    pub(crate) fn instance_of(&self, unit: &str) -> Option<Instance> {
        let label = self.instance_label.as_deref()?;
        Some(Instance::new(label, unit))
    }
}

impl ResourceFilter {
    /// Whether objects of this kind are left alone.
    pub fn excludes(&self, group: &str, kind: &str) -> bool {
        let mut excluded = self.excluded.iter();
        excluded.any(|other| other.group == group && other.kind == kind)
    }
}
