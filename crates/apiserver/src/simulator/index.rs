//! Who depends on whom, kept up to date with every change, so that a step finds what it needs without a search.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use model::{Str, Value};

use super::facts::{PodFacts, controller};
use super::selectors::{self, Selectors};
use super::{Kind, Task};
use crate::store::{Change, Key, Object};

/// What is known about the objects.
#[derive(Default)]
pub(super) struct Index {
    pods: BTreeMap<Key, PodFacts>,
    /// By the uid of their controller.
    children: HashMap<Str, BTreeSet<Task>>,
    /// Pods, ReplicaSets and ControllerRevisions that no controller has, by namespace.
    orphans: HashMap<(Kind, Str), BTreeSet<Key>>,
    selectors: Selectors,
    /// The pods that services and disruption budgets select.
    members: HashMap<Task, BTreeSet<Key>>,
    /// The pods that use a claim.
    users: HashMap<Key, BTreeSet<Key>>,
    /// Claims that have no volume.
    unbound: BTreeSet<Key>,
    /// Volumes that no claim has.
    available: BTreeSet<Key>,
    /// Volumes that name a claim.
    reserved: HashMap<Key, BTreeSet<Key>>,
    /// The autoscalers of a workload.
    autoscalers: HashMap<Task, BTreeSet<Key>>,
    /// What an autoscaler scales.
    targets: HashMap<Key, Task>,
    /// The addresses that pods have.
    addresses: HashSet<Str>,
    daemon_sets: BTreeSet<Key>,
    nodes: BTreeSet<Key>,
    services: BTreeSet<Key>,
    ingresses: BTreeSet<Key>,
}

/// Objects to look at.
pub(super) type Affected = Vec<Task>;

impl Index {
    pub(super) fn pod(&self, key: &Key) -> Option<&PodFacts> {
        self.pods.get(key)
    }

    pub(super) fn pods(&self) -> impl Iterator<Item = &PodFacts> {
        self.pods.values()
    }

    /// The objects of `kind` whose controller has this uid.
    pub(super) fn children(&self, uid: &str, kind: Kind) -> impl Iterator<Item = &Key> {
        let all = self.children.get(uid).into_iter().flatten();
        all.filter(move |(own, _)| *own == kind).map(|(_, key)| key)
    }

    /// The objects of `kind` in a namespace that have no controller.
    pub(super) fn orphans(&self, kind: Kind, namespace: &str) -> impl Iterator<Item = &Key> {
        self.orphans.get(&(kind, namespace.into())).into_iter().flatten()
    }

    /// The pods that a service or disruption budget selects.
    pub(super) fn members(&self, kind: Kind, key: &Key) -> impl Iterator<Item = &PodFacts> {
        let keys = self.members.get(&(kind, key.clone())).into_iter().flatten();
        keys.filter_map(|key| self.pods.get(key))
    }

    /// The pods that use a claim.
    pub(super) fn users(&self, claim: &Key) -> impl Iterator<Item = &PodFacts> {
        let keys = self.users.get(claim).into_iter().flatten();
        keys.filter_map(|key| self.pods.get(key))
    }

    /// The volumes that no claim has.
    pub(super) fn available(&self) -> impl Iterator<Item = &Key> {
        self.available.iter()
    }

    /// The volumes that name this claim.
    pub(super) fn reserved(&self, claim: &Key) -> impl Iterator<Item = &Key> {
        self.reserved.get(claim).into_iter().flatten()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &Key> {
        self.nodes.iter()
    }

    /// What waits for a volume, or has an address.
    pub(super) fn provisioned(&self) -> Vec<Task> {
        let claims = self.unbound.iter().map(|key| (Kind::Claim, key.clone()));
        let services = self.services.iter().map(|key| (Kind::Service, key.clone()));
        let ingresses = self.ingresses.iter().map(|key| (Kind::Ingress, key.clone()));
        claims.chain(services).chain(ingresses).collect()
    }

    pub(super) fn has_address(&self, address: &str) -> bool {
        self.addresses.contains(address)
    }

    /// Takes in a change of an object of `kind`; returns what must be looked at because of it.
    pub(super) fn observe(&mut self, kind: Kind, change: &Change) -> Affected {
        let mut affected = vec![(kind, change.key().clone())];
        self.relate(kind, change, &mut affected);
        match kind {
            Kind::Pod => self.observe_pod(change, &mut affected),
            Kind::Service => {
                toggle(&mut self.services, change);
                self.observe_selector(kind, change, &mut affected);
            }
            Kind::Budget => self.observe_selector(kind, change, &mut affected),
            Kind::Ingress => toggle(&mut self.ingresses, change),
            Kind::ReplicationController
            | Kind::ReplicaSet
            | Kind::Deployment
            | Kind::StatefulSet
            | Kind::DaemonSet => self.observe_workload(kind, change, &mut affected),
            Kind::Claim => self.observe_claim(change, &mut affected),
            Kind::Volume => self.observe_volume(change, &mut affected),
            Kind::Autoscaler => self.observe_autoscaler(change),
            Kind::Node => {
                toggle(&mut self.nodes, change);
                affected.extend(self.daemon_sets.iter().map(|key| (Kind::DaemonSet, key.clone())));
            }
            Kind::Endpoints => affected.push((Kind::Service, change.key().clone())),
            Kind::Job if change.new.is_none() => {
                // Its pods wait to be counted by it.
                let uid = change.old.as_ref().map(|old| old.meta.uid.clone());
                let pods = uid.into_iter().flat_map(|uid| self.children.get(&uid)).flatten();
                affected.extend(pods.cloned());
            }
            _ => {}
        }
        affected
    }

    /// Follows owners: an object's controller is looked at whenever it changes.
    fn relate(&mut self, kind: Kind, change: &Change, affected: &mut Affected) {
        let key = change.key();
        let adoptable = matches!(kind, Kind::Pod | Kind::ReplicaSet | Kind::ControllerRevision);
        let place = (kind, Str::from(key.namespace()));
        if let Some(old) = &change.old {
            match controller(old) {
                Some(owner) => {
                    affected.extend(owner_task(key, owner));
                    remove(&mut self.children, &owner.uid, &(kind, key.clone()));
                }
                None if adoptable => remove(&mut self.orphans, &place, key),
                None => {}
            }
        }
        if let Some(new) = &change.new {
            match controller(new) {
                Some(owner) => {
                    affected.extend(owner_task(key, owner));
                    self.children
                        .entry(owner.uid.clone())
                        .or_default()
                        .insert((kind, key.clone()));
                }
                None if adoptable => {
                    self.orphans.entry(place).or_default().insert(key.clone());
                    // Somebody may want it.
                    let wanted = self.selectors.matching(key.namespace(), &new.meta.labels);
                    affected.extend(wanted.into_iter().filter(|(owner, _)| owner.adopts(kind)));
                }
                None => {}
            }
        }
    }

    fn observe_pod(&mut self, change: &Change, affected: &mut Affected) {
        let key = change.key();
        let old = self.pods.remove(key);
        let new = change.new.as_ref().map(PodFacts::of);
        let claims = |facts: &PodFacts| -> Vec<Key> {
            let namespace = key.namespace();
            facts
                .claims
                .iter()
                .map(|name| Key::new(namespace, name))
                .collect()
        };
        if let Some(old) = &old {
            self.addresses.remove(&old.address);
            for claim in claims(old) {
                remove(&mut self.users, &claim, key);
            }
        }
        if let Some(new) = &new {
            if !new.address.is_empty() {
                self.addresses.insert(new.address.clone());
            }
            for claim in claims(new) {
                self.users.entry(claim).or_default().insert(key.clone());
            }
        }
        // Claims care whether they are used, which changes seldom.
        let uses = |facts: &Option<PodFacts>| {
            facts
                .as_ref()
                .filter(|facts| !facts.is_done())
                .map(claims)
                .unwrap_or_default()
        };
        let (before, after) = (uses(&old), uses(&new));
        if before != after {
            affected.extend(before.into_iter().chain(after).map(|claim| (Kind::Claim, claim)));
        }
        self.observe_membership(change, affected);
        if let Some(new) = new {
            self.pods.insert(key.clone(), new);
        }
    }

    /// Keeps the members of services and disruption budgets, which are looked at whenever one of theirs changes.
    fn observe_membership(&mut self, change: &Change, affected: &mut Affected) {
        let key = change.key();
        let selecting = |object: &Arc<Object>| -> Vec<Task> {
            let all = self.selectors.matching(key.namespace(), &object.meta.labels);
            all.into_iter()
                .filter(|(kind, _)| matches!(kind, Kind::Service | Kind::Budget))
                .collect()
        };
        let new = change.new.as_ref().map(selecting).unwrap_or_default();
        let relabelled = match (&change.old, &change.new) {
            (Some(old), Some(new)) => old.meta.labels != new.meta.labels,
            _ => true,
        };
        if relabelled {
            for task in change.old.as_ref().map(selecting).unwrap_or_default() {
                remove(&mut self.members, &task, key);
                affected.push(task);
            }
            for task in &new {
                self.members.entry(task.clone()).or_default().insert(key.clone());
            }
        }
        affected.extend(new);
    }

    fn observe_selector(&mut self, kind: Kind, change: &Change, affected: &mut Affected) {
        let key = change.key();
        let new = change.new.as_ref();
        let selector = new.and_then(|object| selectors::of_object(kind, &object.value()));
        if !self.selectors.set(kind, key, selector) {
            return;
        }
        let task = (kind, key.clone());
        self.members.remove(&task);
        if let Some(selector) = self.selectors.get(kind, key) {
            let prefix = Key::new(key.namespace(), "");
            let inside = self.pods.range(prefix..);
            let inside = inside.take_while(|(pod, _)| pod.namespace() == key.namespace());
            let selected = inside.filter(|(_, facts)| selector.matches(|label| facts.object.label(label)));
            let members: BTreeSet<Key> = selected.map(|(pod, _)| pod.clone()).collect();
            self.members.insert(task.clone(), members);
        }
        affected.push(task);
    }

    fn observe_workload(&mut self, kind: Kind, change: &Change, affected: &mut Affected) {
        let key = change.key();
        if kind == Kind::DaemonSet {
            toggle(&mut self.daemon_sets, change);
        }
        // Selectors of workloads do not change, so one look at each object is enough.
        let same = match (&change.old, &change.new) {
            (Some(old), Some(new)) => old.meta.uid == new.meta.uid,
            _ => false,
        };
        if !same {
            let new = change.new.as_ref();
            let selector = new.and_then(|object| selectors::of_object(kind, &object.value()));
            self.selectors.set(kind, key, selector);
        }
        let autoscalers = self.autoscalers.get(&(kind, key.clone())).into_iter().flatten();
        affected.extend(autoscalers.map(|key| (Kind::Autoscaler, key.clone())));
    }

    fn observe_claim(&mut self, change: &Change, affected: &mut Affected) {
        let key = change.key();
        let bound = |object: &Arc<Object>| {
            let claim = object.value();
            let volume = claim.str_at(&["spec", "volumeName"]).to_owned();
            (claim.str_at(&["status", "phase"]) == "Bound", volume)
        };
        self.unbound.remove(key);
        match change.new.as_ref().map(bound) {
            Some((is_bound, volume)) => {
                if !is_bound {
                    self.unbound.insert(key.clone());
                }
                if !volume.is_empty() {
                    affected.push((Kind::Volume, Key::new("", &volume)));
                }
            }
            None => {
                let volume = change.old.as_ref().map(bound).map(|(_, volume)| volume);
                let volume = volume.filter(|volume| !volume.is_empty());
                affected.extend(volume.map(|volume| (Kind::Volume, Key::new("", &volume))));
            }
        }
        // Pods wait for it to be bound.
        let users = self.users.get(key).into_iter().flatten();
        affected.extend(users.map(|pod| (Kind::Pod, pod.clone())));
    }

    fn observe_volume(&mut self, change: &Change, affected: &mut Affected) {
        let key = change.key();
        self.available.remove(key);
        if let Some(claim) = change.old.as_ref().and_then(claim_of) {
            remove(&mut self.reserved, &claim, key);
            affected.push((Kind::Claim, claim));
        }
        let Some(new) = &change.new else { return };
        match claim_of(new) {
            Some(claim) => {
                self.reserved
                    .entry(claim.clone())
                    .or_default()
                    .insert(key.clone());
                affected.push((Kind::Claim, claim));
            }
            None => {
                self.available.insert(key.clone());
                affected.extend(self.unbound.iter().map(|key| (Kind::Claim, key.clone())));
            }
        }
    }

    fn observe_autoscaler(&mut self, change: &Change) {
        let key = change.key();
        if let Some(target) = self.targets.remove(key) {
            remove(&mut self.autoscalers, &target, key);
        }
        let target = change
            .new
            .as_ref()
            .and_then(|object| target(key, &object.value()));
        if let Some(target) = target {
            self.autoscalers
                .entry(target.clone())
                .or_default()
                .insert(key.clone());
            self.targets.insert(key.clone(), target);
        }
    }
}

impl Kind {
    /// Whether objects of this kind take `child`ren that nobody has.
    fn adopts(self, child: Kind) -> bool {
        match child {
            Kind::Pod => matches!(
                self,
                Kind::ReplicationController | Kind::ReplicaSet | Kind::StatefulSet | Kind::DaemonSet
            ),
            Kind::ReplicaSet => self == Kind::Deployment,
            Kind::ControllerRevision => matches!(self, Kind::StatefulSet | Kind::DaemonSet),
            _ => false,
        }
    }
}

/// The claim that a volume names.
fn claim_of(volume: &Arc<Object>) -> Option<Key> {
    let volume = volume.value();
    let name = volume.str_at(&["spec", "claimRef", "name"]);
    let namespace = volume.str_at(&["spec", "claimRef", "namespace"]);
    (!name.is_empty()).then(|| Key::new(namespace, name))
}

/// What an autoscaler scales, where it is of a kind that is simulated.
fn target(key: &Key, autoscaler: &Value) -> Option<Task> {
    let reference = autoscaler.at(&["spec", "scaleTargetRef"])?;
    let kind = Kind::of_reference(reference.str_at(&["apiVersion"]), reference.str_at(&["kind"]))?;
    Some((kind, Key::new(key.namespace(), reference.str_at(&["name"]))))
}

/// The owner of the object at `key`.
fn owner_task(key: &Key, owner: &crate::store::Owner) -> Option<Task> {
    let kind = Kind::of_reference(&owner.api_version, &owner.kind)?;
    let namespace = if kind == Kind::Node { "" } else { key.namespace() };
    Some((kind, Key::new(namespace, &owner.name)))
}

fn toggle(keys: &mut BTreeSet<Key>, change: &Change) {
    match change.new {
        Some(_) => keys.insert(change.key().clone()),
        None => keys.remove(change.key()),
    };
}

/// Takes `item` out of the set under `key`; a set that becomes empty goes, too.
fn remove<K: std::hash::Hash + Eq, T: Ord>(sets: &mut HashMap<K, BTreeSet<T>>, key: &K, item: &T) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(item);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
