//! What a unit should be in the cluster: its manifests in the form in which they are applied, and by which rules they are
//! compared.

use std::sync::Arc;

use model::{Manifest, Time};

use crate::diff::{IgnoreRules, drop_unreadable_authority};
use crate::observe::{Observer, rules_of};
use crate::plan::{self, Desired, Options};
use crate::unit::{ReconciliationSettings, SyncUnit};

use super::Shared;

impl Shared {
    /// What this run asks for. An operation that is gone on with began when it began: the names of its hooks say so.
    pub(super) fn options(&self, unit: &SyncUnit, revision: &str) -> Options {
        let stored = unit.status.operation.as_deref();
        let under_way = stored.filter(|stored| !stored.phase.is_final());
        let started = under_way.map_or_else(|| (self.now)(), |stored| stored.started);
        let mut options = unit.policy.options.clone();
        options.namespace.clone_from(&unit.destination.namespace);
        options.started = Some(Time::new(started));
        match &unit.operation {
            Some(operation) => options.only.clone_from(&operation.only),
            // Hooks belong to a new revision. What only puts right what somebody else has changed runs none, and neither does a process
            // that finds the revision applied by one before it, whose operation is not stored everywhere.
            None => {
                let was_applied = stored.is_some() || !revision.is_empty();
                options.argo.skip_hooks |= was_applied && unit.status.revision == revision;
            }
        }
        options
    }

    /// The objects of a unit as they will be in the cluster.
    pub(super) async fn desired(
        &self,
        unit: &SyncUnit,
        observer: &Observer<'_>,
        manifests: &[Manifest],
        options: &Options,
        revision: &str,
    ) -> Vec<Desired> {
        let settings = self.settings();
        let strategy = &unit.policy.strategy;
        let mut manifests = managed(&settings, manifests);
        if unit.is_deleting() {
            manifests.retain(|manifest| strategy.runs_at_deletion(manifest.value()));
        }
        let mut desired = observer.scoped(manifests).await;
        if strategy.normalise {
            for desired in &mut desired {
                let object = Arc::make_mut(&mut desired.object);
                self.normaliser.normalise(object);
                drop_unreadable_authority(object);
            }
        }
        let mut desired = plan::prepare(desired, strategy, options, revision);
        desired
            .iter_mut()
            .for_each(|desired| mark(desired, unit, &settings));
        desired
    }

    /// Differences that do not count: those of all units, of some kinds, and of this unit.
    pub(super) fn ignored(&self, unit: &SyncUnit) -> IgnoreRules {
        let settings = self.settings();
        let mut ignored = settings.ignore.clone();
        for (kind, special) in &settings.overrides {
            ignored = ignored.and(&special.ignore.clone().only_for(&kind.group, &kind.kind));
        }
        ignored.and(&unit.policy.ignore)
    }

    /// What comparisons of a unit's objects depend on besides the objects.
    pub(super) fn rules(&self, unit: &SyncUnit) -> u64 {
        rules_of(&unit.policy.manager, &unit.policy.takeover, &self.ignored(unit))
    }
}

/// The manifests that the engine looks after.
fn managed(settings: &ReconciliationSettings, manifests: &[Manifest]) -> Vec<Manifest> {
    let excluded = |manifest: &Manifest| settings.filter.excludes(manifest.group(), manifest.kind());
    manifests
        .iter()
        .filter(|manifest| !excluded(manifest))
        .cloned()
        .collect()
}

/// Marks an object as the unit's.
fn mark(desired: &mut Desired, unit: &SyncUnit, settings: &ReconciliationSettings) {
    let object = Arc::make_mut(&mut desired.object);
    if let Some(instance) = settings.instance_of(&unit.id) {
        instance.mark(object);
    }
    unit.policy.strategy.ownership.mark(object);
    desired.digest = plan::objects::digest(object);
}
