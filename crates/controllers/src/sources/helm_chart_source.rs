//! What a HelmChart is made of: the object that it names, followed by a watch, and the file of it that the store has.

use std::sync::Arc;

use api::source::{
    BucketSpec, ChartSourceKind, GitRepositorySpec, HelmChartSpec, HelmRepository, HelmRepositorySpec,
    HelmRepositoryType,
};
use api::{ConditionType, Object, Reason, ReconcileStatus, Spec};
use futures::future::BoxFuture;
use kube::{Client, ResourceExt};
use model::Artifact;
use source::helm::address;
use source::helm::{ChartFetcher, FetchError, Repositories};

use super::{HasArtifact, Shared, helm_access};
use crate::kit::{Desk, Followed, Key, NotListed, Wake};

/// The kinds that charts are made of.
pub(super) struct Sources {
    git: Arc<Followed<GitRepositorySpec>>,
    buckets: Arc<Followed<BucketSpec>>,
    helm: Arc<Followed<HelmRepositorySpec>>,
}

/// The source of a chart.
pub(super) enum Source {
    /// A place that has charts, with the index that is known of it; one in a registry has none.
    Repository(Arc<HelmRepository>, Option<Artifact>),
    /// Files.
    Files(Artifact),
}

/// Why there is no source.
#[derive(Debug, thiserror::Error)]
pub(super) enum Missing {
    #[error(
        "failed to get source: unsupported source kind '{0}', must be one of: [HelmRepository GitRepository Bucket]"
    )]
    Kind(String),
    #[error("failed to get source: {kind}.{group} \"{name}\" not found: create it, or correct spec.sourceRef", group = api::source::GROUP)]
    Object { kind: &'static str, name: String },
    #[error("failed to get source")]
    NotListed(#[from] NotListed),
    #[error("no artifact available for {kind} source '{name}'")]
    Artifact { kind: ChartSourceKind, name: String },
}

impl Source {
    /// What the store has of it.
    pub(super) fn artifact(&self) -> Option<&Artifact> {
        match self {
            Source::Repository(_, artifact) => artifact.as_ref(),
            Source::Files(artifact) => Some(artifact),
        }
    }

    /// The repository whose index the chart is looked for in, by namespace and name.
    pub(super) fn indexed(&self) -> Option<Key> {
        match self {
            Source::Repository(repository, Some(_)) => {
                Some((repository.namespace().unwrap_or_default(), repository.name_any()))
            }
            Source::Repository(_, None) | Source::Files(_) => None,
        }
    }
}

impl Sources {
    pub(super) fn new(client: &Client) -> Self {
        Sources {
            git: Followed::new(client.clone()),
            buckets: Followed::new(client.clone()),
            helm: Followed::new(client.clone()),
        }
    }

    /// Follows all of them, and wakes the charts whose source has another artifact than they were made of.
    pub(super) async fn follow(&self, desk: Desk<HelmChartSpec>) {
        let (git, buckets, helm) = (desk.wake(), desk.wake(), desk.wake());
        let options = || desk.options().clone();
        tokio::join!(
            Arc::clone(&self.git).run(options(), move |old, new| changed(&git, old, new)),
            Arc::clone(&self.buckets).run(options(), move |old, new| changed(&buckets, old, new)),
            Arc::clone(&self.helm).run(options(), move |old, new| changed(&helm, old, new)),
        );
    }

    /// The source of a chart.
    pub(super) async fn get(&self, chart: &Object<HelmChartSpec>) -> Result<Source, Missing> {
        let reference = &chart.spec.source_ref;
        let namespace = chart.namespace().unwrap_or_default();
        let no_artifact = || Missing::Artifact {
            kind: reference.kind.clone(),
            name: reference.name.clone(),
        };
        match &reference.kind {
            ChartSourceKind::HelmRepository => {
                let repository = found(&self.helm, &namespace, &reference.name).await?;
                match artifact_of(&repository).cloned() {
                    None if repository.spec.r#type != Some(HelmRepositoryType::Oci) => Err(no_artifact()),
                    artifact => Ok(Source::Repository(repository, artifact)),
                }
            }
            ChartSourceKind::GitRepository => {
                let object = found(&self.git, &namespace, &reference.name).await?;
                let artifact = artifact_of(&object).cloned().ok_or_else(no_artifact)?;
                Ok(Source::Files(artifact))
            }
            ChartSourceKind::Bucket => {
                let object = found(&self.buckets, &namespace, &reference.name).await?;
                let artifact = artifact_of(&object).cloned().ok_or_else(no_artifact)?;
                Ok(Source::Files(artifact))
            }
            ChartSourceKind::Other(kind) => Err(Missing::Kind(kind.clone())),
        }
    }

    /// The repositories that the dependencies of charts in a namespace may name.
    pub(super) fn repositories(&self, shared: &Shared, namespace: String) -> Neighbours {
        Neighbours {
            shared: shared.clone(),
            namespace,
            known: Arc::clone(&self.helm),
        }
    }
}

async fn found<S: Spec>(kind: &Followed<S>, namespace: &str, name: &str) -> Result<Arc<Object<S>>, Missing> {
    let object = kind.get(namespace, name).await?;
    object.ok_or_else(|| Missing::Object {
        kind: S::NAMES.kind,
        name: name.to_owned(),
    })
}

fn artifact_of<S: Spec<Status: HasArtifact>>(object: &Object<S>) -> Option<&Artifact> {
    object.status.as_ref()?.artifact()
}

/// Wakes the charts of a source that has a new artifact.
fn changed<S>(wake: &Wake<HelmChartSpec>, old: Option<&Object<S>>, new: &Object<S>)
where
    S: Spec<Status: HasArtifact>,
{
    let (before, artifact) = (old.map(artifact_of), artifact_of(new));
    let is_known = match (before, artifact) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(known), Some(artifact)) => known.is_some_and(|known| known.has_content_of(artifact)),
    };
    if is_known {
        return;
    }
    // One that was lost and made anew has been waited for, whatever the charts have got to say by now.
    let is_back = before == Some(None) && artifact.is_some();
    let name = new.name_any();
    wake.all(&new.namespace().unwrap_or_default(), |chart| {
        let reference = &chart.spec.source_ref;
        let is_source = reference.name == name && reference.kind.to_string() == S::NAMES.kind;
        is_source && (is_back || !has_seen(chart, artifact))
    });
}

/// Whether a chart was made of a source in this state. One that waits for its source was not, whatever it was made of before.
fn has_seen(chart: &Object<HelmChartSpec>, artifact: Option<&Artifact>) -> bool {
    let Some(status) = &chart.status else {
        return false;
    };
    let failed = status.condition(ConditionType::FETCH_FAILED);
    let waits = failed.is_some_and(|failed| {
        let waiting = [Reason::NO_SOURCE_ARTIFACT, Reason::SOURCE_UNAVAILABLE];
        waiting.iter().any(|reason| failed.reason == reason.as_str())
    });
    let revision = artifact.map(|artifact| artifact.revision.to_string());
    !waits && (revision.is_none() || status.observed_source_artifact_revision == revision)
}

/// The HelmRepositories of a namespace, by their addresses. One that is not there is reached without credentials.
pub(super) struct Neighbours {
    shared: Shared,
    namespace: String,
    known: Arc<Followed<HelmRepositorySpec>>,
}

impl Repositories for Neighbours {
    fn repository<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<dyn ChartFetcher>, FetchError>> {
        Box::pin(async move {
            let has_url = |object: &HelmRepository| {
                address::normalise(&object.spec.url).is_ok_and(|address| address == url)
            };
            let known = self.known.find(&self.namespace, has_url).await;
            let object = known.map_err(FetchError::external)?.unwrap_or_else(|| {
                let spec = HelmRepositorySpec {
                    url: url.to_owned(),
                    ..HelmRepositorySpec::default()
                };
                Arc::new(Object::new("", spec).within(&self.namespace))
            });
            let charts = helm_access::charts(&self.shared, &object, None).await;
            charts.map_err(FetchError::external)
        })
    }
}
