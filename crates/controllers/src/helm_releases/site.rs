//! The cluster of a release, and how plans are carried out in it.
//!
//! What is waited for is told by the watch; meanwhile the release has no [worker](WorkerPermit), so that as many as there are can wait.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use engine::cache::{Cache, Follow, Interest, Standard};
use engine::cluster::Cluster;
use engine::observe::Memory;
use engine::plan::{Objects, Plan, Step};
use engine::sync::{Ending, Had, Next, Report, Run, Stop, Surroundings, World};
use jiff::Timestamp;
use kube::Client;
use model::{Inventory, ObjectKey, Value};

use super::FIELD_MANAGER;
use super::client_side::Types;
use super::newer::Newer;
use crate::kit::WorkerPermit;

/// How long the first list of a kind may take before the server is asked instead.
const FIRST_LIST: Duration = Duration::from_secs(10);
/// How soon what no watch tells of is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How soon something newer is seen by whoever waits.
const LOOK_FOR_NEWER: Duration = Duration::from_millis(500);

/// The cluster of a release.
pub(super) struct Site {
    pub(super) client: Client,
    pub(super) cache: Cache,
    /// Where only metadata is watched.
    pub(super) heads: Cache,
    /// How objects are doing is told by this.
    pub(super) standard: Standard,
    /// And how hooks are doing.
    pub(super) standard_of_hooks: Standard,
    /// The types of built-in kinds.
    pub(super) types: Types,
    /// What is known to be as it should be.
    pub(super) memory: Arc<Memory>,
    /// Where releases are that the controller keeps itself alive by watching what they own.
    pub(super) follows: Vec<Follow>,
    /// Where nothing is to be done: what would have been.
    pub(super) rehearsed: Option<Vec<(Plan, Objects)>>,
}

impl Site {
    pub(super) fn cluster(&self) -> &Cluster {
        self.cache.cluster()
    }

    /// Follows the kinds of objects, so that it is known when they change.
    pub(super) async fn follow<'k>(&mut self, keys: impl Iterator<Item = &'k ObjectKey>) {
        let kinds: BTreeSet<(&str, &str)> = keys.map(|key| (&*key.group, &*key.kind)).collect();
        let is_followed = |follow: &Follow, (group, kind): (&str, &str)| {
            let watched = follow.watched();
            watched.group == group && watched.kind == kind
        };
        self.follows
            .retain(|follow| kinds.iter().any(|kind| is_followed(follow, *kind)));
        for (group, kind) in kinds {
            if !self
                .follows
                .iter()
                .any(|follow| is_followed(follow, (group, kind)))
            {
                let interest = Interest::in_all(group, kind);
                self.follows.push(self.cache.follow_by(interest, &self.standard));
            }
        }
        let deadline = tokio::time::Instant::now() + FIRST_LIST;
        for follow in &self.follows {
            // A kind that cannot be followed is asked for while it is waited for.
            let _ = follow.synced(deadline).await;
        }
    }

    /// Carries a plan out to its end.
    pub(super) async fn carry_out(&mut self, plan: Plan, objects: Objects, worker: &WorkerPermit) -> Report {
        self.carry_out_until(plan, objects, worker, None).await
    }

    /// Runs hooks, which have rules of their own.
    pub(super) async fn carry_out_hooks(
        &mut self,
        plan: Plan,
        objects: Objects,
        worker: &WorkerPermit,
    ) -> Report {
        std::mem::swap(&mut self.standard, &mut self.standard_of_hooks);
        // What is followed by the rules of other objects tells nothing of hooks.
        let follows = std::mem::take(&mut self.follows);
        let report = self.carry_out(plan, objects, worker).await;
        self.follows = follows;
        std::mem::swap(&mut self.standard, &mut self.standard_of_hooks);
        report
    }

    /// Carries a plan out to its end, or until there is something newer.
    pub(super) async fn carry_out_until(
        &mut self,
        plan: Plan,
        objects: Objects,
        worker: &WorkerPermit,
        newer: Option<Newer>,
    ) -> Report {
        if let Some(rehearsed) = &mut self.rehearsed {
            rehearsed.push((plan, objects));
            return went_well();
        }
        let waits = plan.stages.iter().filter_map(|stage| stage.wait.as_ref());
        let awaited: Vec<ObjectKey> = waits
            .flat_map(|wait| wait.objects.iter().map(|awaited| awaited.key.clone()))
            .collect();
        let mut keys: Vec<ObjectKey> = self.followed_keys();
        keys.extend(awaited.iter().cloned());
        worker.aside(self.follow(keys.iter())).await;
        let mut changes = {
            let awaited: BTreeSet<ObjectKey> = awaited.into_iter().collect();
            self.cache
                .subscribe(Box::new(move |entry| awaited.contains(&entry.key())))
        };
        let around = Alone(newer);
        let world = World {
            cluster: self.cache.cluster(),
            cache: &self.cache,
            standard: &self.standard,
            manager: FIELD_MANAGER,
            approved: true,
            heard: true,
            around: &around,
        };
        let mut run = Run::new(Arc::new(plan), objects);
        loop {
            while changes.try_next().is_some() {}
            match run.advance(&world).await {
                Next::Finished(report) => return report,
                Next::Waiting { until, .. } => {
                    let left = until.duration_since(Timestamp::now());
                    let left = Duration::try_from(left).unwrap_or_default().min(LOOK_AGAIN);
                    let changed = async { drop(tokio::time::timeout(left, changes.next()).await) };
                    worker.aside(around.or_newer(changed)).await;
                }
                // All is approved, and nobody else is heard.
                Next::Approval(_) | Next::Hearing => {}
            }
        }
    }

    /// Whether a namespace would be there by now, had what is rehearsed been done.
    pub(super) fn rehearses(&self, namespace: &str) -> bool {
        let plans = self.rehearsed.iter().flatten();
        let mut steps = plans.flat_map(|(plan, _)| plan.steps());
        steps.any(|step| step.key.kind == "Namespace" && step.key.name == namespace)
    }

    /// One object of each kind that is followed by now, in name only.
    fn followed_keys(&self) -> Vec<ObjectKey> {
        let watched = self.follows.iter().map(Follow::watched);
        watched
            .map(|interest| ObjectKey {
                group: interest.group.clone(),
                kind: interest.kind.clone(),
                namespace: "".into(),
                name: "".into(),
            })
            .collect()
    }
}

/// What is told of a plan that is only rehearsed.
fn went_well() -> Report {
    Report {
        ending: Ending::Succeeded,
        results: Vec::new(),
        errors: Vec::new(),
        inventory: Had::Exactly(Inventory::default()),
    }
}

/// A release has no others around it: whose objects are is in their annotations.
struct Alone(Option<Newer>);

impl Alone {
    fn is_superseded(&self) -> bool {
        self.0.as_ref().is_some_and(|newer| newer().is_some())
    }

    /// Waits for something, or until there is something newer.
    async fn or_newer(&self, wait: impl Future<Output = ()>) {
        let is_newer = async {
            while !self.is_superseded() {
                tokio::time::sleep(LOOK_FOR_NEWER).await;
            }
        };
        tokio::select! {
            () = wait => {}
            () = is_newer => {}
        }
    }
}

impl Surroundings for Alone {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn stop(&self) -> Option<Stop> {
        self.is_superseded().then_some(Stop::Superseded)
    }

    fn may_prune(&self, live: &Value) -> bool {
        let policy = live.str_at(&["metadata", "annotations", "helm.sh/resource-policy"]);
        !policy.trim().eq_ignore_ascii_case("keep")
    }

    fn wanted_by(&self, _: &ObjectKey) -> Option<String> {
        None
    }

    fn kind_wanted_by(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn lasts_for(&self, _: &ObjectKey) -> Option<String> {
        None
    }

    fn applies(&self, _: &ObjectKey) {}

    fn applied(&self, _: &Step, _: &Value) {}
}
