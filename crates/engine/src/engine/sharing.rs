//! Objects that several units want: nobody deletes them, and nobody fights over them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::ObjectKey;
use tokio::time::Instant;

use crate::cluster::{self, Cluster};
use crate::plan::{self, Action, Candidate, Live, Plan};
use crate::unit::SyncUnit;

use super::Shared;
use super::UnitEventKind;
use super::clusters::Handle;
use super::heard::Hearing;
use super::known::Known;

/// How long after a failure the store is asked again which units there are.
const LIST_AGAIN: Duration = Duration::from_secs(5);

impl Shared {
    /// There is a unit. What it has counts from now on, also before it was looked at for the first time.
    pub(super) fn expect(&self, unit: &SyncUnit) {
        self.heard.expect(&unit.id);
        if let Some(place) = &unit.status.place
            && !self.known.claims.knows(&unit.id)
        {
            self.had(unit, &place.endpoint);
        }
    }

    /// What a unit has, or was known to want, counts from the beginning, also if its source cannot be read.
    pub(super) fn had(&self, unit: &SyncUnit, endpoint: &str) {
        let has = unit.status.inventory.entries.iter();
        let has = has.map(|entry| entry.id.0.clone());
        let wants = unit.status.wanted.iter().cloned();
        self.known.claims.had(&unit.id, endpoint, has, wants);
    }

    /// A unit wants these objects from now on, to last or not. All that it has to do with are returned; others who have to do with them too are
    /// looked at if that changes anything for them.
    pub(super) fn claim(
        &self,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        wants: HashMap<ObjectKey, bool>,
    ) -> HashSet<ObjectKey> {
        let has = unit.status.inventory.entries.iter();
        let has = has.map(|entry| entry.id.0.clone());
        let endpoint = cluster.endpoint();
        let concerned = self
            .known
            .claims
            .set(&unit.id, endpoint, wants.clone().into_iter(), has.clone());
        for other in concerned {
            self.status.add(other.to_string());
        }
        self.go_on(self.heard.told(&unit.id));
        let mut objects: HashSet<ObjectKey> = wants.into_keys().collect();
        objects.extend(has);
        known.memory.keep(&objects);
        objects
    }

    /// Everything is forgotten about a unit that is gone. What it applied stays, and may be another's now.
    pub(super) fn forget(&self, unit: &str) {
        for other in self.known.forget(unit) {
            self.status.add(other.to_string());
        }
        self.go_on(self.heard.forget(unit));
        self.seen(None, unit);
    }

    /// Those that have waited for others and do not have to any more go on, before all others: that these were heard counts for a while
    /// only, and the queue may be longer.
    pub(super) fn go_on(&self, waiting: Vec<Arc<str>>) {
        for unit in waiting {
            self.operations.add_first(unit.to_string());
            self.status.add_first(unit.to_string());
        }
    }

    /// The objects of a unit that others want too. Of what it does not want any more, definitions of kinds are among them of which others have
    /// objects: these would go with them.
    pub(super) async fn shared(
        &self,
        unit: &SyncUnit,
        cluster: &Cluster,
        candidates: &[Candidate],
    ) -> HashMap<ObjectKey, plan::Shared> {
        let mut shared = self.known.claims.shared(&unit.id);
        let definitions = candidates.iter().map(|candidate| &candidate.key);
        for key in definitions.filter(|key| key.kind == "CustomResourceDefinition") {
            let Some((plural, group)) = key.name.split_once('.') else {
                continue;
            };
            for (kind, other) in self.known.claims.in_group(&unit.id, group) {
                let resource = match cluster.preferred(group, &kind).await {
                    Ok(resource) => Some(resource),
                    // It has no objects.
                    Err(cluster::Error::NoSuchKind { .. }) => continue,
                    Err(_) => None,
                };
                // Whatever cannot be told is taken for one of them: nothing is deleted by that.
                if resource.is_none_or(|resource| resource.plural == plural) {
                    let other = plan::Shared {
                        unit: other.to_string(),
                        has: false,
                        holds: false,
                    };
                    shared.entry(key.clone()).or_insert(other);
                }
            }
        }
        shared
    }

    /// Whether whoever carries out this plan has to wait, before it deletes anything, until all other units were looked at, and until
    /// when at most.
    pub(super) async fn hear(&self, plan: &Plan) -> Option<Instant> {
        let prunes = plan
            .steps()
            .any(|step| matches!(step.action, Action::Prune { .. }));
        if !prunes {
            self.heard.pass(&plan.unit);
            return None;
        }
        if !self.heard.is_waiting(&plan.unit, &plan.revision) {
            match self.units.list().await {
                // There may be some that nobody has told of.
                Ok(units) => units.iter().for_each(|unit| self.expect(unit)),
                Err(error) => {
                    let error = format!("nothing is deleted before all units are known: {error}");
                    self.tell(&plan.unit, UnitEventKind::Failed, error);
                    return Some(Instant::now() + LIST_AGAIN);
                }
            }
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

    /// Which of these objects of a unit other units want too, one line for each of those units.
    pub(super) fn warnings<'a>(
        &self,
        unit: &str,
        keys: impl IntoIterator<Item = &'a ObjectKey>,
    ) -> Vec<String> {
        let shared: HashMap<ObjectKey, plan::Shared> = self.known.claims.shared(unit);
        let mut by_unit: BTreeMap<&str, Vec<&ObjectKey>> = BTreeMap::new();
        for key in keys {
            if let Some(shared) = shared.get(key) {
                by_unit.entry(&shared.unit).or_default().push(key);
            }
        }
        let line = |(other, mut keys): (&str, Vec<&ObjectKey>)| {
            keys.sort();
            let objects = match keys.len() {
                1 => format!("{} is", keys[0]),
                more => format!("{} and {} more are", keys[0], more - 1),
            };
            format!("{objects} part of units {unit:?} and {other:?}")
        };
        by_unit.into_iter().map(line).collect()
    }
}
