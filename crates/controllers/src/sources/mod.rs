//! The controllers of the source group: what a spec names is fetched, verified, packed and stored; the status says where it
//! is served. Each file translates one kind; what they share is here and in [`storage`] and [`secrets`].

mod bucket;
mod bucket_access;
mod git_include;
mod git_repository;
mod helm_access;
mod helm_chart;
mod helm_chart_build;
mod helm_chart_failure;
mod helm_chart_source;
mod helm_repository;
mod oci_repository;
mod provider;
mod secrets;
mod signature;
mod storage;
mod stored;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::{ConditionType, Reason, ReconcileStatus, Spec};
use engine::workers::SlowWork;
use kube::Client;
use model::event::Severity;
use source::http::{self, Clients};
use source::identity::{self, Environment, Identities};
use source::store::Store;

pub(crate) use crate::kit::chain;
use crate::kit::{Conditions, Failure, IndexLookups, Notice, Run, Summary};
pub(crate) use provider::account;
pub use storage::Packing;
pub(crate) use stored::{HasArtifact, Stored};

pub use bucket::Buckets;
pub use git_repository::GitRepositories;
pub use helm_chart::HelmCharts;
pub use helm_repository::HelmRepositories;
pub use oci_repository::OciRepositories;

/// The longest time that a fetch holds its worker.
const PATIENCE: Duration = Duration::from_secs(15);
/// The most fetches of one namespace that go on without a worker. Its other sources wait for one of them to end.
const MOST_SLOW: usize = 8;

/// What all source controllers of a process share.
#[derive(Clone)]
pub struct Shared {
    /// The cluster.
    pub client: Client,
    /// Where artifacts are kept.
    pub store: Arc<Store>,
    /// What is known of registries: schemes and tokens.
    pub registries: source::oci::Session,
    /// Git repositories as they were last fetched.
    pub repositories: source::git::Cache,
    /// Who this process and its objects are to the clouds. The program gives it its environment.
    pub identities: Identities,
    /// HTTP clients with their connections.
    pub clients: Clients,
    /// The proxy to all servers, where an object names none; nothing leaves it to the environment.
    pub proxy: Option<http::Proxy>,
    /// How indexes of Helm repositories are looked into, for the metrics.
    pub index_lookups: IndexLookups,
    /// The root that keyless signatures are checked by where an object names none.
    pub sigstore: source::verify::cosign::Root,
    /// Limits how much is packed at once.
    pub packing: Arc<Packing>,
    /// The fetches that go on without a worker.
    pub slow_fetches: SlowWork,
    /// What the flags of the program say.
    pub settings: Settings,
}

impl Shared {
    /// With the defaults of Flux's flags, and an environment that says nothing about identities.
    pub fn new(client: Client, store: Arc<Store>, repositories: source::git::Cache) -> Self {
        Shared {
            client,
            store,
            registries: source::oci::Session::new(),
            repositories,
            identities: Identities::new(identity::Settings::new(Environment::default())),
            clients: Clients::new(),
            proxy: None,
            index_lookups: IndexLookups::default(),
            sigstore: source::verify::cosign::Root::embedded(),
            packing: Arc::default(),
            slow_fetches: slow_fetches(),
            settings: Settings::default(),
        }
    }

    /// How servers are reached where nothing else is said, on connections that are kept.
    pub(crate) fn http(&self) -> http::Options {
        http::Options {
            clients: Some(self.clients.clone()),
            proxy: self.proxy.clone(),
            ..http::Options::default()
        }
    }
}

/// What flags decide for all source controllers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many bytes the index of a Helm repository may have.
    pub helm_index_max_size: u64,
    /// How many bytes a packed chart may have.
    pub helm_chart_max_size: u64,
    /// How many bytes one file in a chart may have.
    pub helm_chart_file_max_size: u64,
    /// How long the build of a chart may take, with all that is fetched for it.
    pub helm_chart_timeout: Duration,
    /// When to look again for what an object needs from another.
    pub requeue_dependency: Duration,
    /// Objects may refer only to objects of their own namespace.
    pub no_cross_namespace_refs: bool,
    /// What may be used with Git servers over SSH.
    pub ssh: source::git::SshAlgorithms,
    /// Objects may name ServiceAccounts whose identity they use at clouds: the gate `ObjectLevelWorkloadIdentity`.
    pub object_level_workload_identity: bool,
    /// The ServiceAccount that objects use at clouds if they name none. Needs the gate.
    pub default_service_account: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            helm_index_max_size: source::helm::repository::MAX_INDEX_SIZE,
            helm_chart_max_size: source::helm::repository::MAX_CHART_SIZE,
            helm_chart_file_max_size: 5 << 20,
            helm_chart_timeout: Duration::from_secs(10 * 60),
            requeue_dependency: Duration::from_secs(30),
            no_cross_namespace_refs: false,
            ssh: source::git::SshAlgorithms::default(),
            object_level_workload_identity: false,
            default_service_account: None,
        }
    }
}

/// The conditions of all sources. Only GitRepositories ever miss what they include, and only HelmCharts are built.
pub(crate) const SUMMARY: Summary = Summary {
    order: &[
        ConditionType::STORAGE_OPERATION_FAILED,
        ConditionType::FETCH_FAILED,
        ConditionType::INCLUDE_UNAVAILABLE,
        ConditionType::BUILD_FAILED,
        ConditionType::ARTIFACT_OUTDATED,
        ConditionType::ARTIFACT_IN_STORAGE,
        ConditionType::SOURCE_VERIFIED,
        ConditionType::STALLED,
        ConditionType::RECONCILING,
    ],
    negative: &[
        ConditionType::STORAGE_OPERATION_FAILED,
        ConditionType::FETCH_FAILED,
        ConditionType::INCLUDE_UNAVAILABLE,
        ConditionType::BUILD_FAILED,
        ConditionType::ARTIFACT_OUTDATED,
        ConditionType::STALLED,
        ConditionType::RECONCILING,
    ],
    decisive: &[ConditionType::SOURCE_VERIFIED],
};

/// Creates the limits of fetches that take long.
pub(crate) fn slow_fetches() -> SlowWork {
    SlowWork::new(PATIENCE, MOST_SLOW)
}

/// How long a source may take, where its spec says nothing.
const USUAL_TIMEOUT: Duration = Duration::from_secs(60);

/// The longest time that a source may take, whatever its spec says: it occupies a worker meanwhile.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// How long a source may take.
pub(crate) fn timeout_of(timeout: Option<api::Duration>) -> Duration {
    timeout.map_or(USUAL_TIMEOUT, |timeout| timeout.to_std().min(LONGEST_TIMEOUT))
}

/// Begins a run: says that work goes on. It is shown only where somebody waits for it, because the spec is new or a
/// run was asked for: a poll that finds nothing writes nothing.
pub(crate) async fn begin<S>(run: &mut Run<'_, S>)
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    let observed = run.status.observed_generation().unwrap_or_default();
    let generation = run.stamp.generation;
    if observed != generation {
        let message = format!("processing object: new generation {observed} -> {generation}");
        run.status.set_progress(run.stamp, false, &message);
        run.show_progress().await;
        return;
    }
    run.status
        .set_progress(run.stamp, false, "reconciliation in progress");
    if run.is_requested() {
        run.show_progress().await;
    }
}

/// Says that a new revision is there and is being made an artifact of.
pub(crate) async fn found_new<S>(run: &mut Run<'_, S>, message: &str)
where
    S: Spec<Status: Stored + PartialEq>,
{
    found_new_as(run, Reason::NEW_REVISION, message).await;
}

/// The same of something else that is new.
pub(crate) async fn found_new_as<S>(run: &mut Run<'_, S>, reason: Reason, message: &str)
where
    S: Spec<Status: Stored + PartialEq>,
{
    if run.status.artifact().is_some() {
        let kind = ConditionType::ARTIFACT_OUTDATED;
        run.status.set_true(run.stamp, kind, reason, message);
    }
    let message = format!("building artifact: {message}");
    run.status.set_progress(run.stamp, true, &message);
    run.show_progress().await;
}

/// Notes a failure in the condition it belongs to.
pub(crate) fn failed<S>(run: &mut Run<'_, S>, kind: ConditionType, failure: Failure) -> Failure
where
    S: Spec<Status: ReconcileStatus>,
{
    run.status
        .set_true(run.stamp, kind, failure.reason, &failure.message);
    failure
}

/// What is told when a run went well: that there is a new artifact, or that what failed before works again.
pub(crate) fn told<S>(run: &Run<'_, S>, message: &str, failures: &[ConditionType]) -> Vec<Notice>
where
    S: Spec<Status: Stored>,
{
    told_as(run, message, failures, Reason::NEW_ARTIFACT, Reason::SUCCEEDED)
}

/// The same with other reasons: of a new artifact, and of what works again.
pub(crate) fn told_as<S>(
    run: &Run<'_, S>,
    message: &str,
    failures: &[ConditionType],
    new: Reason,
    again: Reason,
) -> Vec<Notice>
where
    S: Spec<Status: Stored>,
{
    let Some(artifact) = run.status.artifact() else {
        return Vec::new();
    };
    let before = run.object.status.as_ref();
    let old_digest = before
        .and_then(HasArtifact::artifact)
        .and_then(|artifact| artifact.digest);
    let failed_before = before.is_some_and(|before| {
        let mut kinds = failures.iter();
        kinds.any(|kind| before.condition(*kind).is_some())
    });
    let reason = match (old_digest == artifact.digest, failed_before) {
        (false, _) => new,
        (true, true) => again,
        (true, false) => return Vec::new(),
    };
    let digest = artifact.digest.map(|digest| digest.to_string());
    let mut metadata = BTreeMap::from([("revision".to_owned(), artifact.revision.to_string())]);
    metadata.extend(digest.map(|digest| ("digest".to_owned(), digest)));
    vec![Notice {
        severity: Severity::Info,
        reason,
        message: message.to_owned(),
        metadata,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_takes_longer_than_an_hour() {
        let of = |text: &str| timeout_of(Some(text.parse().unwrap()));
        assert_eq!(timeout_of(None), USUAL_TIMEOUT);
        assert_eq!(of("20s"), Duration::from_secs(20));
        assert_eq!(of("1000000m"), LONGEST_TIMEOUT);
    }
}
