//! Objects that several units want: nobody deletes them, and nobody fights over them.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::ObjectKey;
use tokio::time::Instant;

use crate::plan::{self, Action, Live, Plan};
use crate::unit::SyncUnit;

use super::Shared;
use super::clusters::Handle;
use super::heard::Hearing;
use super::known::Known;

impl Shared {
    /// What a unit has counts from the beginning, also if its source cannot be read.
    pub(super) fn had(&self, unit: &SyncUnit, cluster: &Handle) {
        let has = unit.status.inventory.entries.iter();
        let has = has.map(|entry| entry.id.0.clone());
        self.known.claims.had(&unit.id, cluster.endpoint(), has);
    }

    /// A unit wants these objects from now on. All that it has to do with are returned; others who have to do with them too are
    /// looked at if that changes anything for them.
    pub(super) fn claim(
        &self,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        wants: HashSet<ObjectKey>,
    ) -> HashSet<ObjectKey> {
        let has = unit.status.inventory.entries.iter();
        let has = has.map(|entry| entry.id.0.clone());
        let endpoint = cluster.endpoint();
        let concerned = self
            .known
            .claims
            .set(&unit.id, endpoint, wants.iter().cloned(), has.clone());
        for other in concerned {
            self.status.add(other.to_string());
        }
        let mut objects = wants;
        objects.extend(has);
        known.memory.keep(&objects);
        objects
    }

    /// Everything is forgotten about a unit that is gone. What it applied stays, and may be another's now.
    pub(super) fn forget(&self, unit: &str) {
        let concerned = self.known.forget(unit);
        for other in concerned.into_iter().chain(self.heard.forget(unit)) {
            self.status.add(other.to_string());
        }
    }

    /// A unit was looked at: those that have waited for this are looked at again.
    pub(super) fn heard(&self, unit: &str, began: u64) {
        for waiting in self.heard.ends(unit, began) {
            self.status.add(waiting.to_string());
        }
    }

    /// Whether a plan that deletes objects has to wait until all other units were looked at, and until when at most.
    pub(super) fn hear(&self, plan: &Plan) -> Option<Instant> {
        let prunes = plan
            .steps()
            .any(|step| matches!(step.action, Action::Prune { .. }));
        if !prunes {
            self.heard.pass(&plan.unit);
            return None;
        }
        match self.heard.hear(&plan.unit, &plan.revision) {
            Hearing::Over => None,
            Hearing::Wait(others, until) => {
                for other in others {
                    self.status.add(other.to_string());
                }
                Some(until)
            }
        }
    }

    /// Why a live object that is no longer desired stays all the same; nothing if it may be deleted.
    pub(super) fn keeps(&self, unit: &SyncUnit, live: &Live) -> Option<String> {
        let instance = self.settings().instance_of(&unit.id);
        let other = || instance.and_then(|ours| ours.not_ours(live));
        unit.policy.strategy.keeps(live).or_else(other)
    }

    /// Which objects of a plan other units want too, one line for each of those units.
    pub(super) fn warnings(&self, plan: &Plan) -> Vec<String> {
        let shared: HashMap<ObjectKey, plan::Shared> = self.known.claims.shared(&plan.unit);
        let mut by_unit: BTreeMap<&str, Vec<&ObjectKey>> = BTreeMap::new();
        for step in plan.steps() {
            let is_ours =
                step.action.applies() || matches!(step.action, Action::Unchanged | Action::Yield { .. });
            if let Some(shared) = shared.get(&step.key).filter(|_| is_ours) {
                by_unit.entry(&shared.unit).or_default().push(&step.key);
            }
        }
        let line = |(other, mut keys): (&str, Vec<&ObjectKey>)| {
            keys.sort();
            let objects = match keys.len() {
                1 => format!("{} is", keys[0]),
                more => format!("{} and {} more are", keys[0], more - 1),
            };
            format!("{objects} part of units {:?} and {other:?}", plan.unit)
        };
        by_unit.into_iter().map(line).collect()
    }
}
