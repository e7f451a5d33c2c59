//! Kustomizations: manifests of a source, built and applied, and kept as they are.
//!
//! ```text
//!  Kustomization ─▶ unit ─▶ engine ─▶ status ─▶ Kustomization
//!                           │    ▲
//!              generate ◀───┘    └─ source, artifact, dependencies, variables, keys: built
//! ```
//!
//! The controller translates: a spec to a [unit](unit) of the engine, what the engine says of it to a [status](status). When what
//! is done is the engine's business.

mod artifact;
mod bases;
mod beyond;
mod configs;
mod decryption;
mod dependencies;
mod finalize;
mod generate;
mod history;
mod ignored;
mod memory;
mod packed;
mod preview;
mod request;
mod settings;
mod source;
mod status;
mod store;
mod unit;
mod variables;
mod vault;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::source::identity::Identities;
use ::source::store::Store;
use ::source::{git, http};
use api::kustomize::{KustomizationSpec, KustomizationStatus};
use api::{ConditionType, Object, Reason, ReconcileStatus};
use engine::Engine;
use engine::unit::{Operation, ReconciliationSettings};
use kube::{Client, ResourceExt};

use crate::kit::lease::Fence;
use crate::kit::{
    Conditions, Desk, Failure, Notice, Permits, Reconcile, Run, Stamp, Summary, Wake, dependency_key,
    is_waiting, requested_at,
};
use beyond::Asks;
use memory::Memory;
use source::Sources;

pub use beyond::{Budget as PruneBudget, PINNED_TO, ROLLED_BACK_FROM};
pub use preview::{Files, NoPlan, preview};
pub use request::{common_metadata, request};
pub use settings::Settings;
pub use unit::ignored as ignore_rules;
pub(crate) use unit::{health_check, ignore_rule};
pub use variables::{VariablesError, variables};

/// What a process has for its Kustomizations.
#[derive(Clone)]
pub struct Shared {
    /// The cluster.
    pub client: Client,
    /// The store of this process, where artifacts are read from that it has. All others are fetched.
    pub store: Option<Arc<Store>>,
    /// Where artifacts are unpacked.
    pub scratch: PathBuf,
    /// Git repositories of remote bases, as they were last fetched.
    pub repositories: git::Cache,
    /// Who this process is to the clouds.
    pub identities: Identities,
    /// How servers are reached.
    pub http: http::Options,
    /// What the flags of the program say.
    pub settings: Settings,
}

/// The controller of Kustomizations.
pub struct Kustomizations {
    shared: Arc<Shared>,
    memory: Arc<Memory>,
    sources: Arc<Sources>,
    engine: OnceLock<Engine>,
    fence: Fence,
}

impl Kustomizations {
    /// The controller of a process.
    pub fn new(shared: Shared) -> Self {
        Kustomizations {
            sources: Arc::new(Sources::new(&shared.client)),
            shared: Arc::new(shared),
            memory: Arc::default(),
            engine: OnceLock::new(),
            fence: Fence::default(),
        }
    }

    /// Counts the objects that this controller keeps something of in memory, also while it runs.
    pub fn remembered(&self) -> impl Fn() -> usize + Send + Sync + use<> {
        let memory = Arc::clone(&self.memory);
        move || memory.len()
    }

    /// Has writes to other clusters pass a fence. Those to this cluster pass the fence of the client.
    #[must_use]
    pub fn fenced_by(mut self, fence: Fence) -> Self {
        self.fence = fence;
        self
    }

    fn made(&self, desk: &Desk<KustomizationSpec>) -> Engine {
        let clusters = self.shared.settings.clusters(&self.shared.client);
        clusters.fence_by(&self.fence);
        let generator = generate::Generator {
            shared: Arc::clone(&self.shared),
            desk: desk.clone(),
            sources: Arc::clone(&self.sources),
            artifacts: artifact::Artifacts::new(&self.shared),
            memory: Arc::clone(&self.memory),
            clusters: clusters.clone(),
            builds: Permits::of_cores(),
        };
        let units = store::Units {
            desk: desk.clone(),
            memory: Arc::clone(&self.memory),
            shared: Arc::clone(&self.shared),
        };
        let known = desk.clone();
        self.memory.only_of(move |id, uid| {
            let object = generate::key(id).and_then(|key| known.get(&key));
            object.is_some_and(|object| object.metadata.uid.as_deref() == uid)
        });
        let engine = Engine::new(ReconciliationSettings::default(), clusters, generator, units);
        let (desk, memory) = (desk.clone(), Arc::clone(&self.memory));
        let default_budget = self.shared.settings.default_prune_budget;
        let budget = engine.on_before_sync(move |unit, plan| {
            let Some(object) = generate::key(&unit.id).and_then(|key| desk.get(&key)) else {
                return Ok(plan);
            };
            let asks = Asks::or_careful(&object).or_budget(default_budget);
            let (plan, held) = beyond::judged(&asks, unit, plan);
            let uid = object.metadata.uid.as_deref();
            memory.change(&unit.id, uid, |known| known.held = held);
            Ok(plan)
        });
        budget.forever();
        engine
    }

    /// Ends what is under way: nothing is to be changed any more.
    fn end_operation(&self, id: &str, uid: Option<&str>) {
        let status = self.memory.get(id, uid).status;
        let state = status.as_ref().and_then(|status| status.operation.as_ref());
        if let (Some(engine), Some(_)) = (self.engine.get(), state.filter(|state| !state.phase.is_final())) {
            engine.terminate(id);
        }
    }

    fn refresh(&self, id: &str) {
        if let Some(engine) = self.engine.get() {
            engine.refresh(id);
        }
    }
}

/// Whether an object may be waiting for one that has got ready with this revision. One whose status does not say so may be about to: it was
/// looked at before, and what that came to is not written yet.
fn may_wait(object: &Object<KustomizationSpec>, revision: Option<&str>) -> bool {
    let status = object.status.as_ref();
    let Some(ready) = status.and_then(|status| status.condition(ConditionType::READY)) else {
        return true;
    };
    match ready.status {
        api::ConditionStatus::True => {
            status.and_then(|status| status.last_applied_revision.as_deref()) != revision
        }
        _ => ready.reason == Reason::DEPENDENCY_NOT_READY.as_str(),
    }
}

impl Reconcile for Kustomizations {
    type Spec = KustomizationSpec;

    const SUMMARY: Summary = Summary {
        order: &[
            ConditionType::HEALTHY,
            ConditionType::STALLED,
            ConditionType::RECONCILING,
        ],
        negative: &[ConditionType::STALLED, ConditionType::RECONCILING],
        decisive: &[],
    };

    fn begin(&self, desk: &Desk<KustomizationSpec>) {
        self.engine.get_or_init(|| self.made(desk));
    }

    fn is_suspended(&self, object: &Object<KustomizationSpec>) -> bool {
        object.spec.suspend
    }

    /// What is ready stays so, also of the generation that suspends it; of all else nothing new is said.
    fn suspend(status: &mut KustomizationStatus, stamp: Stamp) {
        if status.is_true(ConditionType::READY) {
            status.remove(ConditionType::RECONCILING);
            status.observed_generation = Some(stamp.generation);
        } else if let Some(reconciling) = status.condition(ConditionType::RECONCILING) {
            let (reason, message) = (Reason::PROGRESSING_WITH_RETRY, reconciling.message.clone());
            status.set_true(stamp, ConditionType::RECONCILING, reason, &message);
        }
    }

    fn interval(&self, object: &Object<KustomizationSpec>) -> Duration {
        object.spec.interval.to_std()
    }

    /// Those that depend on an object are looked at again when it has come, has become ready or has got to another revision, and those that go
    /// by an expression with each of its statuses: it can hold of what is not ready.
    fn seen(&self, object: &Object<KustomizationSpec>, wake: &Wake<KustomizationSpec>) {
        let status = object.status.as_ref();
        let ready = status.and_then(|status| status.condition(ConditionType::READY));
        let is_ready = ready.is_some_and(|ready| ready.status == api::ConditionStatus::True);
        let key = (object.namespace().unwrap_or_default(), object.name_any());
        let revision = status.and_then(|status| status.last_applied_revision.as_deref());
        wake.everywhere(|other| {
            let on = other.spec.depends_on.iter();
            let mut on = on.filter(|one| dependency_key(other, one) == key);
            match is_ready {
                true => may_wait(other, revision) && on.next().is_some(),
                // What has just come has a status too, of defaults.
                false => is_waiting(other) && on.any(|one| ready.is_none() || one.ready_expr.is_some()),
            }
        });
    }

    /// Somebody may have taken the finalizer away, so that nobody was asked to finalize the object.
    fn gone(&self, object: &Object<KustomizationSpec>) {
        let id = unit::id(object);
        self.memory.forget_of(&id, object.metadata.uid.as_deref());
        // The engine finds that there is no such unit, and forgets it too.
        self.refresh(&id);
    }

    async fn follow(&self, desk: Desk<KustomizationSpec>) {
        let Some(engine) = self.engine.get() else {
            return;
        };
        let concurrent = desk.options().concurrent;
        tokio::join!(
            self.sources.follow(&desk, self.shared.settings.external_artifact),
            self.follow_configs(&desk),
            bases::keep_clear(&self.shared.repositories),
            async { drop(engine.run(concurrent, concurrent, std::future::pending()).await) },
        );
    }

    fn hand_over(&self, object: &Object<KustomizationSpec>) -> bool {
        let id = unit::id(object);
        let uid = object.metadata.uid.as_deref();
        let status = object.status.as_ref();
        let handled = status.and_then(ReconcileStatus::last_handled_reconcile_at);
        let is_asked = requested_at(object).is_some_and(|token| handled != Some(token));
        let observed = status.and_then(|status| status.observed_generation);
        let is_new = observed != object.metadata.generation;
        let asks = Asks::or_careful(object);
        let observes = asks.observe;
        let token = requested_at(object).unwrap_or_default();
        // A request that arrives while the answer to an earlier one is being written is not that one.
        let number = format!("{} {token}", object.metadata.generation.unwrap_or_default());
        self.memory.change(&id, uid, |unit| {
            unit.requested = requested_at(object).map(str::to_owned);
            if is_asked || is_new {
                unit.operation = Some(Operation {
                    dry_run: observes,
                    number,
                    ..Operation::default()
                });
            }
            // Even where nothing is to be done, what is told of it may be something else now.
            let asks_other = std::mem::replace(&mut unit.asks, asks.clone()) != asks;
            unit.asked += u64::from(is_asked || is_new || asks_other);
        });
        if observes {
            self.end_operation(&id, uid);
        }
        self.refresh(&id);
        true
    }

    async fn reconcile(&self, _: &mut Run<'_, KustomizationSpec>) -> Result<Vec<Notice>, Failure> {
        unreachable!("all objects are handed over")
    }

    async fn finalize(&self, run: &mut Run<'_, KustomizationSpec>) -> Result<Vec<Notice>, Failure> {
        let object = run.object;
        self.leave(object).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whoever_may_wait_for_another_is_woken_also_before_it_says_so() {
        let waits = |ready: Option<(&str, &str)>, applied: &str| {
            let conditions: Vec<_> = ready
                .map(|(status, reason)| {
                    json!({
                        "type": "Ready", "status": status, "reason": reason, "message": "",
                        "lastTransitionTime": "2026-01-02T03:04:05Z",
                    })
                })
                .into_iter()
                .collect();
            let object = json!({
                "metadata": {"name": "app"},
                "spec": {"interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"}},
                "status": {"conditions": conditions, "lastAppliedRevision": applied},
            });
            may_wait(&serde_json::from_value(object).unwrap(), Some("v2"))
        };
        assert!(waits(None, ""), "nothing is known of it yet");
        assert!(waits(Some(("False", "DependencyNotReady")), "v1"));
        assert!(
            waits(Some(("True", "ReconciliationSucceeded")), "v1"),
            "it is about to"
        );
        assert!(!waits(Some(("True", "ReconciliationSucceeded")), "v2"));
        assert!(
            !waits(Some(("False", "BuildFailed")), "v1"),
            "it is tried again by itself"
        );
    }
}
