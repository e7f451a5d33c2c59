//! HelmReleases: charts of a source, installed, upgraded, tested and kept as they are.
//!
//! ```text
//!  HelmRelease ─▶ source ─▶ chart ─┐
//!         values, valuesFrom ──────┼─▶ state ─▶ decision ─▶ action ─▶ plan ─▶ engine
//!     storage (Secrets), history ──┘   └────────── until nothing is left ─────────┘ ─▶ status
//! ```
//!
//! What comes next is a pure function of what is observed ([`helm::decision`]); an [action](action) is what is done about it. An action that
//! waits has no worker, so that as many releases as there are can wait for their objects.

mod action;
mod chart_template;
mod charts;
mod client_side;
mod configs;
mod definitions;
mod dependencies;
mod held;
mod hidden;
mod hooks;
mod legacy;
mod newer;
mod objects;
mod operator;
mod paused;
mod post_render;
mod preview;
mod reading;
mod reconcile;
mod render;
mod settings;
mod settled;
mod site;
mod sites;
mod source;
mod status;
mod steps;
mod storage;
mod target;
mod values;
mod versions;
mod watched;
mod world;

use std::sync::Arc;
use std::time::Duration;

use ::source::store::Store;
use api::helm::{HelmReleaseSpec, HelmReleaseStatus};
use api::{ConditionStatus, ConditionType, Object, Reason, ReconcileStatus};
use engine::workers::TenantWorkers;
use helm::digest;
use kube::{Client, ResourceExt};
use model::convert::from_serde;
use model::event::Severity;

use crate::kit::lease::Fence;
use crate::kit::{
    Conditions, Config, Desk, Done, Failure, Notice, Reconcile, Run, Shape, Stamp, Summary, Wake,
    dependency_key, follow_configs, is_waiting,
};
use charts::Charts;
use configs::Configs;
use reading::Reading;
use render::Renderer;
use sites::Sites;
use source::Sources;

pub use held::{ROLLED_BACK_TO, tried};
pub use operator::Operator;
pub use preview::{Look, NoPreview, Preview, preview, values};
pub use render::{InCluster, capabilities};
pub use settings::Settings;
pub use world::Machine;

/// The annotations that ask for more than a run.
const FORCE: &str = "reconcile.fluxcd.io/forceAt";
const RESET: &str = "reconcile.fluxcd.io/resetAt";

/// Who writes the fields of objects.
pub(crate) const FIELD_MANAGER: &str = "helm-controller";

/// What a process has for its HelmReleases.
#[derive(Clone)]
pub struct Shared {
    /// The cluster.
    pub client: Client,
    /// The store of this process, where artifacts are read from that it has. All others are fetched.
    pub store: Option<Arc<Store>>,
    /// What the flags of the program say.
    pub settings: Settings,
}

/// The controller of HelmReleases.
pub struct HelmReleases {
    shared: Shared,
    sources: Sources,
    charts: Charts,
    configs: Arc<Configs>,
    renderer: Renderer,
    reading: Reading,
    sites: Sites,
    /// Workers for releases in clusters that a namespace names itself.
    remote_workers: std::sync::OnceLock<TenantWorkers>,
    desk: std::sync::OnceLock<Desk<HelmReleaseSpec>>,
}

impl HelmReleases {
    /// The controller of a process.
    pub fn new(shared: Shared) -> Self {
        let reading = Reading::new();
        HelmReleases {
            sources: Sources::new(&shared.client),
            charts: Charts::new(&shared, &reading),
            configs: Arc::new(Configs::new(&shared.client)),
            renderer: Renderer::new(),
            reading,
            sites: Sites::new(shared.settings.clusters(&shared.client)),
            remote_workers: std::sync::OnceLock::new(),
            desk: std::sync::OnceLock::new(),
            shared,
        }
    }

    /// Counts the releases that this controller keeps something of in memory, also while it runs.
    pub fn remembered(&self) -> impl Fn() -> usize + Send + Sync + use<> {
        self.sites.remembered()
    }

    /// Has writes to other clusters pass a fence. Those to this cluster pass the fence of the client.
    #[must_use]
    pub fn fenced_by(self, fence: &Fence) -> Self {
        self.sites.fence_by(fence);
        self
    }
}

impl HelmReleases {
    /// Goes on with a worker of the namespace's own if the release is in a cluster that the namespace names. That cluster's server may
    /// answer each request just before it times out, and must not hold the workers of other namespaces.
    async fn leave_shared_workers(&self, run: &Run<'_, HelmReleaseSpec>) {
        if run.object.spec.kube_config.is_none() {
            return;
        }
        let Some(workers) = self.remote_workers.get() else {
            return;
        };
        let namespace = target::own_namespace(run.object);
        run.worker.transfer(workers.of(&namespace)).await;
    }
}

/// The digests of the post-renderers and of the common metadata of a spec; empty where there are none.
fn digests(spec: &HelmReleaseSpec) -> (String, String) {
    let renderers = (!spec.post_renderers.is_empty())
        .then(|| from_serde(&spec.post_renderers).ok())
        .flatten();
    let common = spec
        .common_metadata
        .as_ref()
        .and_then(|common| from_serde(common).ok());
    (
        digest::of_post_renderers(renderers.as_ref()),
        digest::of_common_metadata(common.as_ref()),
    )
}

/// Whether an annotation asks for something that was not dealt with yet, in the words of Flux: it only counts together with a request
/// for a run.
fn asks(object: &Object<HelmReleaseSpec>, annotation: &str, handled: Option<&str>) -> Option<String> {
    let asked = object.annotations().get(annotation)?;
    let requested = object.annotations().get("reconcile.fluxcd.io/requestedAt")?;
    let is_new = asked == requested && handled != Some(asked.as_str());
    is_new.then(|| asked.clone())
}

impl Reconcile for HelmReleases {
    type Spec = HelmReleaseSpec;

    const SUMMARY: Summary = Summary {
        order: &[
            ConditionType::RELEASED,
            ConditionType::REMEDIATED,
            ConditionType::TEST_SUCCESS,
            ConditionType::DRIFTED,
            ConditionType::STALLED,
            ConditionType::RECONCILING,
        ],
        negative: &[ConditionType::STALLED, ConditionType::RECONCILING],
        decisive: &[],
    };

    fn begin(&self, desk: &Desk<HelmReleaseSpec>) {
        self.desk.get_or_init(|| desk.clone());
        self.remote_workers
            .get_or_init(|| TenantWorkers::new(desk.options().concurrent));
    }

    fn is_suspended(&self, object: &Object<HelmReleaseSpec>) -> bool {
        object.spec.suspend
    }

    /// What is said of a suspended release is said of its newest generation, so that those that depend on it go on.
    fn suspend(status: &mut HelmReleaseStatus, stamp: Stamp) {
        status.set_observed_generation(stamp.generation);
    }

    fn interval(&self, object: &Object<HelmReleaseSpec>) -> Duration {
        object.spec.interval.to_std()
    }

    /// Those that depend on an object are looked at again when it has come or has become ready.
    fn seen(&self, object: &Object<HelmReleaseSpec>, wake: &Wake<HelmReleaseSpec>) {
        let key = (target::own_namespace(object), object.name_any());
        wake.everywhere(|other| {
            let mut on = other.spec.depends_on.iter();
            is_waiting(other) && on.any(|one| dependency_key(other, one) == key)
        });
    }

    fn gone(&self, object: &Object<HelmReleaseSpec>) {
        self.sites.forget(object);
    }

    async fn follow(&self, desk: Desk<HelmReleaseSpec>) {
        let settings = &self.shared.settings;
        let configs = async {
            let Some(selector) = &settings.watch_configs else {
                return std::future::pending().await;
            };
            let wake = desk.wake();
            let changed = |config: &Config| {
                wake.all(&config.namespace, |object| {
                    let is_concerned = configs::reads(object, config);
                    if is_concerned {
                        self.sites.rouse(object);
                    }
                    is_concerned
                })
            };
            let namespace = desk.options().namespace.as_deref();
            follow_configs(&self.shared.client, namespace, selector, changed).await;
        };
        tokio::join!(self.sources.follow(&desk, settings.external_artifact), configs);
    }

    async fn reconcile(&self, run: &mut Run<'_, HelmReleaseSpec>) -> Result<Vec<Notice>, Failure> {
        self.leave_shared_workers(run).await;
        self.release(run).await.map(|()| Vec::new())
    }

    /// That a release waits for others is told to those who are notified too, as in Flux. Of some failures there is no event, as there: conditions tell them,
    /// and what came before them was told.
    fn notice(failure: &Failure) -> Option<Notice> {
        let mut notice = failure.notice();
        if failure.reason == Reason::DEPENDENCY_NOT_READY {
            notice.severity = Severity::Info;
        }
        let by_conditions = [
            Reason::RETRIES_EXCEEDED,
            Reason::MISSING_ROLLBACK_TARGET,
            Reason::SOURCE_NOT_READY,
            Reason::STATE_ERROR,
            Reason::REST_CLIENT_ERROR,
            Reason::CHART_MUTATE_ERROR,
        ];
        let is_without_source = failure.message.starts_with(source::NO_SOURCE);
        (!by_conditions.contains(&failure.reason) && !is_without_source).then_some(notice)
    }

    /// What a run came to is in the conditions already; what is left is how it goes on.
    fn conclude(
        status: &mut HelmReleaseStatus,
        stamp: Stamp,
        result: Result<(), &Failure>,
        interval: Duration,
    ) -> Done {
        let Err(failure) = result else {
            status.remove(ConditionType::RECONCILING);
            status.remove(ConditionType::STALLED);
            status.set_observed_generation(stamp.generation);
            return Done::After(interval);
        };
        // Of what an action came to, its own conditions tell.
        let told_by_actions = [
            Reason::PROGRESSING_WITH_RETRY,
            Reason::RETRIES_EXCEEDED,
            Reason::MISSING_ROLLBACK_TARGET,
            Reason::HEALTH_CHECK_CANCELED,
        ];
        let is_told = failure.message.is_empty() || told_by_actions.contains(&failure.reason);
        if !is_told {
            let (reason, message) = (failure.reason.as_str(), failure.message.as_str());
            status.set(
                stamp,
                ConditionType::READY,
                ConditionStatus::False,
                reason,
                message,
            );
        }
        match failure.shape {
            Shape::Stalled => {
                status.set_stalled(stamp, failure.reason, &failure.message);
                status.set_observed_generation(stamp.generation);
                // What is tried no more is tried again when anything that it is made of changes, and not all of that tells of it.
                match told_by_actions.contains(&failure.reason) {
                    true => Done::After(interval),
                    false => Done::Forget,
                }
            }
            Shape::Waiting(wait) => {
                // What is tried again after an interval of its own has been dealt with, though not well.
                if failure.reason == Reason::PROGRESSING_WITH_RETRY {
                    status.set_observed_generation(stamp.generation);
                }
                Done::After(wait)
            }
            Shape::Transient => Done::Retry,
        }
    }

    async fn finalize(&self, run: &mut Run<'_, HelmReleaseSpec>) -> Result<Vec<Notice>, Failure> {
        self.leave_shared_workers(run).await;
        let left = self.leave(run).await;
        if let Err(failure) = &left
            && !failure.message.is_empty()
        {
            let (not, reason) = (ConditionStatus::False, failure.reason.as_str());
            let (status, stamp) = (&mut run.status, run.stamp);
            status.set(stamp, ConditionType::READY, not, reason, &failure.message);
        }
        left.map(|()| Vec::new())
    }
}
