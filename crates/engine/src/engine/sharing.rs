//! Objects that several units want: nobody deletes them, and nobody fights over them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::ObjectKey;
use tokio::time::Instant;

use crate::cluster::{self, Cluster};
use crate::plan::{self, Action, Candidate, Desired, Live, Plan, Step, Verdict};
use crate::unit::{Place, Status, SyncUnit};

use super::Shared;
use super::UnitEventKind;
use super::clusters::Handle;
use super::heard::Hearing;
use super::known::Known;

/// How long after a failure the store is asked again which units there are.
const ASK_AGAIN: Duration = Duration::from_secs(5);

impl Shared {
    /// There is a unit. What it has counts from now on, also before it was looked at for the first time.
    pub(super) fn expect(&self, unit: &SyncUnit) {
        self.heard.expect(&unit.id);
        self.known.relocate(unit, &self.heard);
        if let Some(place) = &unit.status.place
            && !self.known.claims.knows(&unit.id)
        {
            self.had(unit, realm_of(place));
        }
    }

    /// What a unit has, or was known to want, counts from the beginning, also if its source cannot be read. That holds where the status
    /// records that it was in this cluster, and for what is not [unproven](Status::unproven). Any other inventory may be that of another
    /// cluster, or written by somebody else: it counts once the server has [accepted](Shared::judged) the objects, or if it does before
    /// another unit [prunes](Shared::prove_claims) them.
    pub(super) fn had(&self, unit: &SyncUnit, realm: &str) {
        let Status {
            place,
            inventory,
            wanted,
            unproven,
            ..
        } = &unit.status;
        let is_here = place.as_ref().is_some_and(|place| realm_of(place) == realm);
        let unproven: HashSet<&ObjectKey> = unproven.iter().collect();
        let keys = inventory.entries.iter().map(|entry| &entry.id.0);
        let has = keys.map(|key| (key.clone(), is_here && !unproven.contains(key)));
        let wants = wanted.iter().filter(|_| is_here).cloned();
        self.known.claims.had(&unit.id, realm, has, wants);
    }

    /// A status that says which objects nothing but the inventory speaks for.
    pub(super) fn with_proof(&self, unit: &str, mut status: Status) -> Status {
        if self.known.claims.knows(unit) {
            let keys = status.inventory.entries.iter().map(|entry| &entry.id.0);
            status.unproven = self.known.claims.without_say(unit, keys);
            let nothing = self.known.claims.without_say(unit, status.wanted.iter());
            status.wanted.retain(|key| !nothing.contains(key));
        }
        status
    }

    /// A unit lists these objects from now on, to last or not. All that it has to do with are returned; others who have to do with them too are
    /// looked at if that changes anything for them. What the unit lists counts once the server has [accepted](Shared::judged) it.
    pub(super) fn claim(
        &self,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        wants: HashMap<ObjectKey, bool>,
    ) -> HashSet<ObjectKey> {
        let has = unit.status.inventory.entries.iter();
        let has = has.map(|entry| entry.id.0.clone());
        let realm = cluster.realm();
        let concerned = self
            .known
            .claims
            .set(&unit.id, realm, wants.clone().into_iter(), has.clone());
        for other in concerned {
            self.status.add(other.to_string());
        }
        let mut objects: HashSet<ObjectKey> = wants.into_keys().collect();
        objects.extend(has);
        known.memory.keep(&objects);
        objects
    }

    /// Takes note of what the server has accepted from a unit and what it has refused. From then on it is known what the unit wants, unless
    /// the server did not answer about something.
    pub(super) fn judged(&self, unit: &SyncUnit, desired: &[Desired]) {
        let key = |desired: &Desired| desired.key(&unit.destination.namespace);
        let judged = desired.iter().filter_map(|desired| match desired.verdict {
            Verdict::Accepted => Some((key(desired), true)),
            Verdict::Refused => Some((key(desired), false)),
            Verdict::Unasked | Verdict::Unanswered => None,
        });
        for other in self.known.claims.judged(&unit.id, judged) {
            self.status.add(other.to_string());
        }
        let is_answered = |desired: &Desired| desired.verdict != Verdict::Unanswered;
        if desired.iter().all(is_answered) {
            self.is_heard(unit);
        }
    }

    /// Takes note of what an operation that goes on was planned with: the server has accepted that, maybe from a process before this one.
    pub(super) fn judged_before(&self, unit: &SyncUnit, known: &Known) {
        let state = known.state.lock();
        if state.stop.is_some() {
            // Something else is wanted by now.
            return;
        }
        if let Some(plan) = state.plan() {
            let is_accepted = |step: &&Step| {
                step.action == Action::Unchanged || (step.action.applies() && step.apply.verified)
            };
            let accepted = plan.steps().filter(is_accepted);
            let accepted = accepted.map(|step| (step.key.clone(), true));
            for other in self.known.claims.judged(&unit.id, accepted) {
                self.status.add(other.to_string());
            }
        }
        drop(state);
        self.is_heard(unit);
    }

    /// It is known what a unit wants.
    pub(super) fn is_heard(&self, unit: &SyncUnit) {
        self.go_on(self.heard.told(&unit.id));
    }

    /// Everything is forgotten about a unit that is gone. What it applied stays, and may be another's now.
    pub(super) fn forget(&self, unit: &str) {
        for other in self.known.forget(unit) {
            self.status.add(other.to_string());
        }
        self.go_on(self.heard.forget(unit));
        self.seen(None, unit);
        self.clusters.forget_unused();
        // What it waits for may take hours: whoever takes it up finds that it is gone.
        self.operations.add(unit.to_owned());
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

    /// Notes which cluster a unit is in. Who waits in another realm does not wait for it any more.
    pub(super) fn locate(&self, unit: &SyncUnit, known: &Known, cluster: &Handle) {
        let located = self.clusters.while_there(cluster, || {
            let before = known.state.lock().located.replace(Arc::clone(cluster));
            (self.heard.locate(&unit.id, cluster.realm()), before)
        });
        if let Some((waiting, _)) = located {
            self.go_on(waiting);
        }
    }

    /// Whether whoever carries out this plan in a cluster has to wait, before it deletes anything, until all other units of that cluster
    /// were looked at, and until when at most.
    pub(super) async fn hear(self: &Arc<Self>, plan: &Plan, cluster: &Handle) -> Option<Instant> {
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
                    return Some(Instant::now() + ASK_AGAIN);
                }
            }
        }
        match self.heard.hear(&plan.unit, cluster.realm(), &plan.revision) {
            Hearing::Over => {
                self.prove_claims(plan).await;
                None
            }
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

/// The realm of a place. Statuses of earlier versions have none: in the cluster of the engine it is the endpoint.
fn realm_of(place: &Place) -> &str {
    match place.realm.as_str() {
        "" => &place.endpoint,
        realm => realm,
    }
}

#[cfg(test)]
mod tests {
    use kube::client::Body;
    use model::ObjectKey;

    use crate::Engine;
    use crate::unit::{
        Destination, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Place, Policy,
        ReconciliationSettings, Source, Status, SyncUnit,
    };

    struct Nothing;

    impl ManifestGenerator for Nothing {
        fn generate<'a>(
            &'a self,
            _: &'a SyncUnit,
            _: Option<&'a str>,
            _: bool,
        ) -> futures::future::BoxFuture<'a, Result<Generated, Failure>> {
            Box::pin(async { Err(Failure::new("there is no source")) })
        }
    }

    /// A unit that wanted a ConfigMap in a cluster at one address before.
    fn unit(id: &str, realm: &str) -> SyncUnit {
        let wanted = ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "default".into(),
            name: "app".into(),
        };
        let place = Place {
            cluster: id.to_owned(),
            endpoint: "https://one.example".to_owned(),
            realm: realm.to_owned(),
        };
        SyncUnit {
            id: id.to_owned(),
            tenant: String::new(),
            status: Status {
                place: Some(place),
                wanted: vec![wanted],
                ..Status::default()
            },
            source: Source::default(),
            destination: Destination::default(),
            operation: None,
            policy: Policy::default(),
        }
    }

    /// Whoever writes a kubeconfig can name any address. Its objects must not keep those of others from being deleted.
    #[tokio::test]
    async fn units_share_objects_from_the_beginning_only_in_one_realm() {
        let service = tower::service_fn(|_: http::Request<Body>| async {
            Ok::<_, std::convert::Infallible>(http::Response::new(Body::empty()))
        });
        let client = kube::Client::new(service, "default");
        let engine = Engine::new(
            ReconciliationSettings::default(),
            OneCluster::new(client),
            Nothing,
            MemoryStore::new([]),
        );
        let (shared, forged) = (&engine.shared, "https://one.example by mallory");
        for (id, realm) in [("own", "https://one.example"), ("mallory", forged)] {
            shared.expect(&unit(id, realm));
        }
        assert!(shared.known.claims.shared("own").is_empty());
        shared.expect(&unit("eve", forged));
        assert_eq!(shared.known.claims.shared("eve").len(), 1);
        // A status of an earlier version has no realm.
        shared.expect(&unit("earlier", ""));
        assert_eq!(shared.known.claims.shared("own").len(), 1);
    }
}
