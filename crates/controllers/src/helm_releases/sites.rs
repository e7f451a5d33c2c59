//! The clusters that releases are installed in, each with what is known of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use api::helm::{HelmRelease, Waiter};
use engine::cache::{self, Cache, OwnRules, Settings, Standard};
use engine::cluster::Budget;
use engine::health::Evaluations;
use engine::health::cel::Check;
use engine::observe::Memory;
use engine::unit::CredentialsStore as _;
use engine::workers::WorkerPermit;
use parking_lot::Mutex;

use super::client_side::Types;
use super::settled::{Inputs, Settled};
use super::site::Site;
use super::watched::Watched;
use super::{legacy, paused};
use crate::clusters::Clusters;
use crate::kit::lease::Fence;

/// The clusters of releases.
pub(super) struct Sites {
    clusters: Clusters,
    caches: cache::Clusters,
    /// Where only metadata is watched.
    heads: cache::Clusters,
    types: Types,
    /// Releases that somebody has said something of that watches here may not have seen yet, by their uids.
    roused: Arc<Mutex<HashSet<String>>>,
    /// What is known of the objects of each release, by its uid.
    known: Arc<Mutex<HashMap<String, Known>>>,
}

/// What is kept of a release between its runs.
struct Known {
    /// The name of its cluster.
    cluster: String,
    memory: Arc<Memory>,
    /// It is there for as long as somebody holds it.
    cache: Cache,
    /// What its last run came to, if the next one may come to the same.
    settled: Option<Settled>,
    /// What is told of its objects, if somebody wants to know.
    watched: Option<Watched>,
}

impl Sites {
    pub(super) fn new(clusters: Clusters) -> Self {
        Sites {
            clusters,
            caches: cache::Clusters::default(),
            heads: cache::Clusters::default(),
            types: Types::default(),
            roused: Arc::default(),
            known: Arc::default(),
        }
    }

    /// Counts what is kept of releases.
    pub(super) fn remembered(&self) -> impl Fn() -> usize + Send + Sync + use<> {
        let (known, roused) = (Arc::clone(&self.known), Arc::clone(&self.roused));
        move || known.lock().len() + roused.lock().len()
    }

    /// Has writes to other clusters pass a fence.
    pub(super) fn fence_by(&self, fence: &Fence) {
        self.clusters.fence_by(fence);
    }

    /// The cluster of a release, by the name of its identity.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub(super) async fn of(
        &self,
        object: &HelmRelease,
        identity: &str,
        (standard, standard_of_hooks): (Standard, Standard),
    ) -> Result<Site, String> {
        self.clusters.look_again(identity).await;
        let access = self
            .clusters
            .get_cluster(identity)
            .await
            .map_err(|error| error.to_string())?;
        let who = cache::Access {
            endpoint: access.endpoint.as_str().into(),
            identity: access.identity.as_str().into(),
        };
        let client = access.client.clone();
        let settings = || Settings {
            realm: format!("{} by {}", access.endpoint, access.vouched_by).into(),
            ..Settings::default()
        };
        let cache = self.caches.get(&who, settings, || access.open(Budget::default()));
        let heads = self.heads.get(&who, settings, || cache.cluster().clone());
        let uid = object.metadata.uid.clone().unwrap_or_default();
        let mut known = self.known.lock();
        let entry = known.entry(uid).or_insert_with(|| Known {
            cluster: identity.to_owned(),
            memory: Arc::default(),
            cache: cache.clone(),
            settled: None,
            watched: None,
        });
        entry.cache = cache.clone();
        let before = std::mem::replace(&mut entry.cluster, identity.to_owned());
        let memory = Arc::clone(&entry.memory);
        self.forget_unused(&known, &before);
        Ok(Site {
            client,
            cache,
            heads,
            standard,
            standard_of_hooks,
            types: Arc::clone(&self.types),
            memory,
            follows: Vec::new(),
            rehearsed: None,
        })
    }

    /// What the last run of a release came to. It is forgotten until somebody [keeps](Sites::settle) it, and counts for nothing for one that was
    /// [roused](Sites::rouse) since.
    pub(super) fn unsettle(&self, object: &HelmRelease) -> Option<Settled> {
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let is_roused = self.roused.lock().remove(uid);
        let settled = self.known.lock().get_mut(uid)?.settled.take();
        settled.filter(|_| !is_roused)
    }

    /// Has the next run of a release ask the cluster: another watch than those that are asked here has told of a change.
    pub(super) fn rouse(&self, object: &HelmRelease) {
        let uid = object.metadata.uid.clone().unwrap_or_default();
        self.roused.lock().insert(uid);
    }

    /// Whether a run would come to the same as the last one.
    pub(super) fn holds(&self, object: &HelmRelease, settled: &Settled, inputs: &Inputs) -> bool {
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let known = self.known.lock();
        known
            .get(uid)
            .is_some_and(|known| settled.holds(object, inputs, &known.memory, &known.cache))
    }

    /// Keeps what a run of a release came to.
    pub(super) fn settle(&self, object: &HelmRelease, settled: Settled) {
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        if let Some(known) = self.known.lock().get_mut(uid) {
            known.settled = Some(settled);
        }
    }

    /// Has the objects of a release watched, or not any more.
    pub(super) fn watch(&self, object: &HelmRelease, watched: Option<Watched>) {
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let before = match self.known.lock().get_mut(uid) {
            Some(known) => std::mem::replace(&mut known.watched, watched),
            None => watched,
        };
        drop(before);
    }

    /// A release is gone.
    pub(super) fn forget(&self, object: &HelmRelease) {
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let mut known = self.known.lock();
        if let Some(gone) = known.remove(uid) {
            self.forget_unused(&known, &gone.cluster);
        }
        drop(known);
        self.roused.lock().remove(uid);
    }

    /// Forgets a cluster that no release is in any more.
    fn forget_unused(&self, known: &HashMap<String, Known>, cluster: &str) {
        if known.values().all(|known| known.cluster != cluster) {
            self.clusters.forget(cluster);
        }
    }
}

/// How a release tells that objects are doing well, and that hooks are, which have rules of their own whatever the release says of its other objects.
///
/// # Errors
/// The first expression that cannot be used.
pub(super) async fn standards(
    object: &HelmRelease,
    helm3_defaults: bool,
    worker: &WorkerPermit,
) -> Result<(Standard, Standard), String> {
    let parse = || parsed_standards(object, helm3_defaults);
    if object.spec.health_check_exprs.is_empty() {
        return parse();
    }
    // Parsing takes time: it waits for its turn like evaluations.
    let tenant = object.metadata.namespace.as_deref().unwrap_or_default();
    Evaluations::default().run_beside(worker, tenant, parse).await
}

/// Rules that are the tenant's if it has written expressions, and built in otherwise.
fn written_by(object: &HelmRelease, rules: OwnRules) -> OwnRules {
    match object.spec.health_check_exprs.is_empty() {
        true => rules.built_in(),
        false => rules.of_tenant(object.metadata.namespace.as_deref().unwrap_or_default()),
    }
}

fn parsed_standards(object: &HelmRelease, helm3_defaults: bool) -> Result<(Standard, Standard), String> {
    let waiter = object.spec.wait_strategy.as_ref().map(|strategy| &strategy.name);
    let is_legacy = match waiter {
        Some(Waiter::Legacy) => true,
        Some(_) => false,
        None => helm3_defaults,
    };
    // One that cannot be used is told also where nobody asks it.
    let checks = expressions(object);
    let told = paused::standard(&checks)?;
    let (told, hooks) = match is_legacy {
        true => (legacy::standard(), of_hooks(Vec::new())?),
        false => (told, of_hooks(checks)?),
    };
    let written = |standard: Standard| Standard {
        own: standard.own.map(|own| written_by(object, own)),
        ..standard
    };
    Ok((written(told), written(hooks)))
}

/// A Pod that is a hook has to run to its end and to end well, where any other may also just be ready. What the object says of a kind counts more.
fn of_hooks(mut checks: Vec<Check>) -> Result<Standard, String> {
    checks.push(Check {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        current: "status.phase == 'Succeeded'".to_owned(),
        in_progress: String::new(),
        failed: "status.phase == 'Failed'".to_owned(),
    });
    let own = OwnRules::expressions(&checks).map_err(|error| error.to_string())?;
    Ok(Standard {
        own: Some(own),
        rules: None,
    })
}

fn expressions(object: &HelmRelease) -> Vec<Check> {
    let expressions = object.spec.health_check_exprs.iter();
    expressions.map(crate::kustomizations::health_check).collect()
}
