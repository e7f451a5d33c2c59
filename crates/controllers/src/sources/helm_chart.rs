//! HelmChart: a chart of a Helm repository, a registry, or the files of another source.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use api::source::HelmChartSpec;
use api::{ConditionType, Object, Reason, ReconcileStatus};
use kube::ResourceExt;
use model::event::Severity;
use model::{Digest, Revision};
use parking_lot::Mutex;
use source::helm::build::{Built, Content};
use source::store::share::Sharing;
use source::store::{self, Place, Presence, Store};

use super::helm_chart_build::Unfetched;
use super::helm_chart_failure as failure;
use super::helm_chart_source::{Missing, Source, Sources};
use super::storage;
use super::{SUMMARY, Shared, begin, chain, failed, found_new_as, told_as};
use crate::kit::{Conditions, Desk, Failure, Notice, Reconcile, Run, Summary};

/// The link to the newest chart.
const LATEST: &str = "latest.tar.gz";

/// Keeps HelmCharts.
pub struct HelmCharts {
    pub(super) shared: Shared,
    pub(super) sources: Sources,
    /// One download for all objects of one scope that want the same chart as it is.
    pub(super) downloads: Sharing<Built, Unfetched>,
    /// What the charts were made of, so that one is not made again of the same.
    made: Mutex<HashMap<(String, String), Made>>,
}

/// What a chart was made of.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Made {
    generation: i64,
    source: Digest,
    artifact: Digest,
}

pub(super) type ChartRun<'r> = Run<'r, HelmChartSpec>;

const FAILURES: [ConditionType; 3] = [
    ConditionType::BUILD_FAILED,
    ConditionType::FETCH_FAILED,
    ConditionType::STORAGE_OPERATION_FAILED,
];

impl Reconcile for HelmCharts {
    type Spec = HelmChartSpec;

    const SUMMARY: Summary = SUMMARY;

    fn is_suspended(&self, object: &Object<HelmChartSpec>) -> bool {
        object.spec.suspend
    }

    fn interval(&self, object: &Object<HelmChartSpec>) -> Duration {
        object.spec.interval.to_std()
    }

    fn follow(&self, desk: Desk<HelmChartSpec>) -> impl Future<Output = ()> + Send {
        self.sources.follow(desk)
    }

    async fn reconcile(&self, run: &mut ChartRun<'_>) -> Result<Vec<Notice>, Failure> {
        begin(run).await;
        run.status.remove(ConditionType::STORAGE_OPERATION_FAILED);
        storage::check(run, &self.shared.store).await?;
        if run.object.spec.verify.is_none() || run.status.is_false(ConditionType::SOURCE_VERIFIED) {
            run.status.remove(ConditionType::SOURCE_VERIFIED);
        }
        let source = self.source(run).await?;
        let made = made_of(run, &source);
        if made.is_some() && self.made.lock().get(&key_of(run)) == made.as_ref() {
            if let Some(repository) = source.indexed() {
                self.shared.index_lookups.count_hit(repository);
            }
            return Ok(Vec::new());
        }
        let limit = self.shared.settings.helm_chart_timeout;
        let (worker, namespace) = (run.worker, run.object.namespace().unwrap_or_default());
        let build = tokio::time::timeout(limit, self.build(run, &source));
        let built = self.shared.slow_fetches.run(worker, &namespace, build).await;
        let (built, linked) = built.unwrap_or_else(|_| Err(failure::late(run, limit)))?;
        run.status.remove(ConditionType::FETCH_FAILED);
        run.status.remove(ConditionType::BUILD_FAILED);
        if let Some(notice) = resolved(&built) {
            run.tell(notice);
        }
        observe(run, &built).await;
        self.store(run, &built, linked).await?;
        run.status.remove(ConditionType::ARTIFACT_OUTDATED);
        let (reason, message) = (reason_of(&built), built.summary());
        let kind = ConditionType::ARTIFACT_IN_STORAGE;
        run.status.set_true(run.stamp, kind, reason, &message);
        let notices = told_as(run, &message, &FAILURES, reason, reason);
        if let Some(made) = made_of(run, &source) {
            self.made.lock().insert(key_of(run), made);
        }
        Ok(notices)
    }

    fn gone(&self, object: &Object<HelmChartSpec>) {
        let key = (object.namespace().unwrap_or_default(), object.name_any());
        self.made.lock().remove(&key);
    }

    async fn finalize(&self, run: &mut Run<'_, HelmChartSpec>) -> Result<Vec<Notice>, Failure> {
        let object = run.object;
        let namespace = object.namespace().unwrap_or_default();
        let notices = storage::remove(&self.shared.store, object).await?;
        self.made.lock().remove(&(namespace, object.name_any()));
        Ok(notices)
    }
}

fn key_of(run: &ChartRun<'_>) -> (String, String) {
    (run.object.namespace().unwrap_or_default(), run.object.name_any())
}

/// What the chart that the status tells of is made of, if it was made well. Nothing where the source is a registry: it must be
/// asked each time.
fn made_of(run: &ChartRun<'_>, source: &Source) -> Option<Made> {
    let is_good = run.status.is_true(ConditionType::ARTIFACT_IN_STORAGE)
        && FAILURES.iter().all(|kind| run.status.condition(*kind).is_none());
    let artifact = run.status.artifact.as_ref().filter(|_| is_good)?;
    Some(Made {
        generation: run.stamp.generation,
        source: source.artifact()?.digest?,
        artifact: artifact.digest?,
    })
}

fn reason_of(built: &Built) -> Reason {
    match built.packaged {
        true => Reason::CHART_PACKAGE_SUCCEEDED,
        false => Reason::CHART_PULL_SUCCEEDED,
    }
}

/// What is told of dependencies that were added.
fn resolved(built: &Built) -> Option<Notice> {
    let count = built.resolved_dependencies;
    (count > 0).then(|| Notice {
        severity: Severity::Trace,
        reason: Reason::RESOLVED_DEPENDENCIES,
        message: format!("resolved {count} chart dependencies"),
        metadata: BTreeMap::new(),
    })
}

impl HelmCharts {
    /// A controller that shares these.
    pub fn new(shared: Shared) -> Self {
        HelmCharts {
            sources: Sources::new(&shared.client),
            downloads: Sharing::new(Arc::clone(&shared.store)),
            shared,
            made: Mutex::default(),
        }
    }

    /// The source of the chart, with an artifact that the store has.
    async fn source(&self, run: &mut ChartRun<'_>) -> Result<Source, Failure> {
        let mut source = self.sources.get(run.object).await;
        if let Ok(found) = &source
            && let Some(artifact) = found.artifact().cloned()
        {
            let reference = &run.object.spec.source_ref;
            let namespace = run.object.namespace().unwrap_or_default();
            let place = Place::new(reference.kind.as_str(), &namespace, &reference.name);
            let verify = move |store: &Arc<Store>| store.verify(&place?, &artifact);
            let presence = self.shared.store.aside(verify).await;
            if !matches!(presence, Ok(Presence::Valid)) {
                source = Err(Missing::Artifact {
                    kind: reference.kind.clone(),
                    name: reference.name.clone(),
                });
            }
        }
        match source {
            Ok(source) => {
                if let Some(artifact) = source.artifact() {
                    let revision = artifact.revision.to_string();
                    run.status.observed_source_artifact_revision = Some(revision);
                }
                Ok(source)
            }
            Err(missing) => {
                let wait = self.shared.settings.requeue_dependency;
                Err(failure::without(run, &missing, wait))
            }
        }
    }

    /// Stores a chart that is not stored yet: it is new, or others of the same are there, to which it was `linked`.
    async fn store(
        &self,
        run: &mut ChartRun<'_>,
        built: &Built,
        linked: Option<store::Stored>,
    ) -> Result<(), Failure> {
        let revision: Revision = built.version.parse().map_err(|error| {
            let failure = Failure::stalled(Reason::INVALID_CHART_REFERENCE, chain(&error));
            failed(run, ConditionType::FETCH_FAILED, failure)
        })?;
        let stored = match (linked, built.content.clone()) {
            (Some(stored), _) => {
                storage::point(run, &self.shared.store, stored.path.clone(), LATEST).await;
                stored
            }
            (None, Content::Stored) => return Ok(()),
            (None, Content::Archive(archive)) => {
                let name = built.file_name();
                let put = move |store: &Store, place: &Place| store.copy(place, &name, &archive[..]);
                let what = "unable to copy Helm chart to storage";
                storage::keep(run, &self.shared, LATEST, what, put).await?
            }
        };
        run.status.artifact = Some(stored.artifact(revision, BTreeMap::new()));
        run.status.observed_chart_name = Some(built.name.clone());
        run.status.observed_values_files = match run.object.spec.ignore_missing_values_files {
            true => built.values_files.clone(),
            false => Vec::new(),
        };
        Ok(())
    }
}

/// Says that there is a new chart, where it is new.
async fn observe(run: &mut ChartRun<'_>, built: &Built) {
    let artifact = run.status.artifact.as_ref();
    let is_new = artifact.is_none_or(|artifact| artifact.revision.to_string() != built.version);
    if is_new || run.status.observed_chart_name.as_deref() != Some(built.name.as_str()) {
        found_new_as(run, Reason::NEW_CHART, &built.summary()).await;
    }
}
