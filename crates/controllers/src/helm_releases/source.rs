//! What the charts of HelmReleases come from: the object that each names, followed by a watch.

use std::sync::Arc;

use api::helm::{ChartReferenceKind, HelmRelease, HelmReleaseSpec};
use api::source::{ExternalArtifactSpec, HelmChart, HelmChartSpec, OciRepositorySpec};
use api::{ConditionStatus, ConditionType, Object, Reason, ReconcileStatus, Spec};
use kube::{Client, ResourceExt};
use model::Artifact;

use super::{FIELD_MANAGER, Settings, chart_template, target};
use crate::artifacts::owned_artifact;
use crate::kit::{Desk, Failure, Followed, Wake, chain};
use crate::sources::HasArtifact;

/// What begins the message of a failure to find the source of a chart.
pub(super) const NO_SOURCE: &str = "could not get Source object";

/// The kinds that charts come from. Clones are the same.
#[derive(Clone)]
pub(super) struct Sources {
    charts: Arc<Followed<HelmChartSpec>>,
    oci: Arc<Followed<OciRepositorySpec>>,
    external: Arc<Followed<ExternalArtifactSpec>>,
}

/// The chart that was found.
pub(super) struct Found {
    /// Its artifact.
    pub(super) artifact: Artifact,
    /// The object that has it: kind, namespace and name.
    pub(super) name: String,
    /// Whether its revision names the very content, which then counts as part of the version.
    pub(super) is_by_digest: bool,
}

/// The object that a release has its chart from.
struct Reference {
    kind: &'static str,
    namespace: String,
    name: String,
}

impl Sources {
    pub(super) fn new(client: &Client) -> Self {
        Sources {
            // What a template has had of labels and annotations goes with them.
            charts: Followed::with_fields_of(client.clone(), FIELD_MANAGER),
            oci: Followed::new(client.clone()),
            external: Followed::new(client.clone()),
        }
    }

    /// Nothing but the object that a release has its chart from, as the cluster has it now.
    pub(super) async fn asked(
        client: &Client,
        object: &HelmRelease,
        helm_chart: Option<&str>,
    ) -> Result<Self, Failure> {
        let Reference {
            kind,
            namespace,
            name,
        } = reference(object, helm_chart)?;
        let failed = |error: kube::Error| {
            let message = format!("{NO_SOURCE}: {}", chain(&error));
            Failure::transient(Reason::ARTIFACT_FAILED, message)
        };
        let mut sources = Sources::new(client);
        let client = client.clone();
        match kind {
            "OCIRepository" => {
                sources.oci = Followed::asked(client, &namespace, &name).await.map_err(failed)?
            }
            "ExternalArtifact" => {
                sources.external = Followed::asked(client, &namespace, &name).await.map_err(failed)?;
            }
            _ => sources.charts = Followed::asked(client, &namespace, &name).await.map_err(failed)?,
        }
        Ok(sources)
    }

    /// Follows all of them, and wakes the releases whose chart is another one, or is there at last.
    pub(super) async fn follow(&self, desk: &Desk<HelmReleaseSpec>, with_external: bool) {
        let options = || desk.options().of_others();
        let (charts, oci, external) = (desk.wake(), desk.wake(), desk.wake());
        let external = async {
            if !with_external {
                return std::future::pending().await;
            }
            let run = Arc::clone(&self.external).run(options(), move |old, new| changed(&external, old, new));
            run.await;
        };
        tokio::join!(
            Arc::clone(&self.charts).run(options(), move |old, new| changed(&charts, old, new)),
            Arc::clone(&self.oci).run(options(), move |old, new| changed(&oci, old, new)),
            external,
        );
    }

    /// A HelmChart, if there is one.
    pub(super) async fn helm_chart(&self, namespace: &str, name: &str) -> Option<Arc<HelmChart>> {
        self.charts.get(namespace, name).await.ok().flatten()
    }

    /// The chart of a release.
    pub(super) async fn chart(
        &self,
        object: &HelmRelease,
        helm_chart: Option<&str>,
        settings: &Settings,
    ) -> Result<Found, Failure> {
        let reference = reference(object, helm_chart)?;
        check_access(object, &reference, settings)?;
        let (namespace, name) = (reference.namespace.as_str(), reference.name.as_str());
        let wait = settings.requeue_dependency;
        let shown = format!("{}/{namespace}/{name}", reference.kind);
        match reference.kind {
            "OCIRepository" => {
                let source = found(&self.oci, namespace, name).await?;
                let artifact = ready(&source, wait)?;
                Ok(Found {
                    artifact,
                    name: shown,
                    is_by_digest: true,
                })
            }
            "ExternalArtifact" => {
                let source = found(&self.external, namespace, name).await?;
                let artifact = artifact(&source, wait)?;
                Ok(Found {
                    is_by_digest: artifact.revision.to_string().contains(':'),
                    artifact,
                    name: shown,
                })
            }
            _ => {
                let source = found(&self.charts, namespace, name).await.map_err(|missing| {
                    match object.spec.chart_ref {
                        // It was made a moment ago, and the watch has yet to tell of it.
                        None => Failure::waiting(wait, Reason::SOURCE_NOT_READY, unseen(namespace, name)),
                        Some(_) => missing,
                    }
                })?;
                let artifact = ready(&source, wait)?;
                Ok(Found {
                    artifact,
                    name: shown,
                    is_by_digest: false,
                })
            }
        }
    }
}

fn reference(object: &HelmRelease, helm_chart: Option<&str>) -> Result<Reference, Failure> {
    let own = || target::own_namespace(object);
    let Some(reference) = &object.spec.chart_ref else {
        let (namespace, name) = helm_chart
            .and_then(|chart| chart.split_once('/'))
            .unwrap_or_default();
        return Ok(Reference {
            kind: "HelmChart",
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        });
    };
    let kind = match &reference.kind {
        ChartReferenceKind::HelmChart => "HelmChart",
        ChartReferenceKind::OciRepository => "OCIRepository",
        ChartReferenceKind::ExternalArtifact => "ExternalArtifact",
        ChartReferenceKind::Other(kind) => {
            let message =
                format!("could not get Source object: kind '{kind}' of spec.chartRef is not supported");
            return Err(Failure::stalled(Reason::ARTIFACT_FAILED, message));
        }
    };
    let namespace = reference.namespace.clone().filter(|name| !name.is_empty());
    Ok(Reference {
        kind,
        namespace: namespace.unwrap_or_else(own),
        name: reference.name.clone(),
    })
}

/// Whether an object may use a source.
fn check_access(object: &HelmRelease, reference: &Reference, settings: &Settings) -> Result<(), Failure> {
    let Reference {
        kind,
        namespace,
        name,
    } = reference;
    let denied = |why: &str| {
        let message = format!("can't access '{kind}/{namespace}/{name}', {why}");
        Err(Failure::stalled(Reason::ACCESS_DENIED, message))
    };
    if settings.no_cross_namespace_refs && target::own_namespace(object) != *namespace {
        return denied("cross-namespace references have been blocked");
    }
    if *kind == "ExternalArtifact" && !settings.external_artifact {
        return denied("ExternalArtifact feature gate is disabled");
    }
    Ok(())
}

/// Whether a release may use the HelmChart that is made for it.
pub(super) fn check_template(
    object: &HelmRelease,
    (namespace, name): (&str, &str),
    settings: &Settings,
) -> Result<(), Failure> {
    let reference = Reference {
        kind: "HelmChart",
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    check_access(object, &reference, settings)
}

async fn found<S: Spec>(kind: &Followed<S>, namespace: &str, name: &str) -> Result<Arc<Object<S>>, Failure> {
    let failed = |why: String| {
        let message = format!("could not get Source object: {why}");
        Failure::transient(Reason::ARTIFACT_FAILED, message)
    };
    let object = kind
        .get(namespace, name)
        .await
        .map_err(|error| failed(chain(&error)))?;
    object.ok_or_else(|| {
        let names = S::NAMES;
        failed(format!("{}.{} \"{name}\" not found", names.plural, names.group))
    })
}

/// The artifact of a source that says how it is.
fn ready<S>(source: &Object<S>, wait: std::time::Duration) -> Result<Artifact, Failure>
where
    S: Spec<Status: HasArtifact + ReconcileStatus>,
{
    let status = source.status.as_ref();
    let condition = |kind| status.and_then(|status| status.condition(kind));
    let observed = status.and_then(ReconcileStatus::observed_generation);
    if observed != source.metadata.generation {
        let ready = condition(ConditionType::READY).filter(|ready| ready.status == ConditionStatus::False);
        let why = ready.map_or("latest generation of object has not been reconciled", |ready| {
            ready.message.as_str()
        });
        return Err(not_ready(source, wait, why));
    }
    let stalled = condition(ConditionType::STALLED).filter(|one| one.status == ConditionStatus::True);
    if let Some(stalled) = stalled {
        return Err(not_ready(source, wait, &stalled.message));
    }
    artifact(source, wait)
}

fn artifact<S>(source: &Object<S>, wait: std::time::Duration) -> Result<Artifact, Failure>
where
    S: Spec<Status: HasArtifact>,
{
    let artifact = owned_artifact(source)
        .map_err(|foreign| Failure::transient(Reason::ARTIFACT_FAILED, foreign.to_string()))?;
    artifact
        .cloned()
        .ok_or_else(|| not_ready(source, wait, "does not have an artifact"))
}

fn not_ready<S: Spec>(source: &Object<S>, wait: std::time::Duration, why: &str) -> Failure {
    let (kind, name) = (S::NAMES.kind, source.name_any());
    let namespace = source.namespace().unwrap_or_default();
    let message = format!("{kind} '{namespace}/{name}' is not ready: {why}");
    Failure::waiting(wait, Reason::SOURCE_NOT_READY, message)
}

/// What is said of a HelmChart that nobody has looked at yet.
fn unseen(namespace: &str, name: &str) -> String {
    format!(
        "HelmChart '{namespace}/{name}' is not ready: latest generation of object has not been reconciled"
    )
}

fn artifact_of<S: Spec<Status: HasArtifact>>(object: &Object<S>) -> Option<&Artifact> {
    object.status.as_ref()?.artifact()
}

/// Wakes the releases of a source that has another artifact, or whose generation was dealt with.
fn changed<S>(wake: &Wake<HelmReleaseSpec>, old: Option<&Object<S>>, new: &Object<S>)
where
    S: Spec<Status: HasArtifact>,
{
    let had = old.and_then(artifact_of);
    // One without an artifact may say why it has none, which those want to tell that wait for it.
    let is_same = match (had, artifact_of(new)) {
        (Some(had), Some(artifact)) => had.has_content_of(artifact) && had.revision == artifact.revision,
        (None, Some(_)) => false,
        (_, None) => true,
    };
    let (namespace, name) = (new.namespace().unwrap_or_default(), new.name_any());
    wake.everywhere(|object| {
        // By its spec, not by its status: what that tells of a HelmChart that has just been made may not be written yet.
        let template = object.spec.chart.as_ref();
        let chart = template.map(|template| chart_template::key(object, template));
        let chart = chart.map(|(namespace, name)| format!("{namespace}/{name}"));
        let Ok(reference) = reference(object, chart.as_deref()) else {
            return false;
        };
        let is_its =
            reference.kind == S::NAMES.kind && reference.name == name && reference.namespace == namespace;
        is_its && (!is_same || waits_for_source(object))
    });
}

/// Whether a release waits for its source to be ready.
fn waits_for_source(object: &HelmRelease) -> bool {
    let status = object.status.as_ref();
    let ready = status.and_then(|status| status.condition(ConditionType::READY));
    ready.is_none_or(|ready| {
        let reasons = [Reason::SOURCE_NOT_READY, Reason::ARTIFACT_FAILED];
        reasons.iter().any(|reason| ready.reason == reason.as_str())
    })
}
