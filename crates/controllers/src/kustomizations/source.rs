//! What Kustomizations are made of: the object that each names, followed by a watch.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::kustomize::{Kustomization, KustomizationSourceKind, KustomizationSpec};
use api::source::{BucketSpec, ExternalArtifactSpec, GitRepositorySpec, OciRepositorySpec};
use api::{Object, Reason, Spec};
use kube::{Client, ResourceExt};
use model::Artifact;

use super::Settings;
use super::beyond::{Asks, Pin, Pinned, is_for_a_pin, pinned_name};
use crate::artifacts::{ForeignArtifact, owned_artifact};
use crate::kit::{Desk, Failure, Followed, NotListed, Wake, chain, named};
use crate::sources::HasArtifact;

/// The annotation of an OCI artifact that says what it was made of.
const ORIGIN_REVISION: &str = "org.opencontainers.image.revision";

/// The kinds that Kustomizations are made of.
pub(super) struct Sources {
    git: Arc<Followed<GitRepositorySpec>>,
    oci: Arc<Followed<OciRepositorySpec>>,
    buckets: Arc<Followed<BucketSpec>>,
    external: Arc<Followed<ExternalArtifactSpec>>,
}

impl Sources {
    pub(super) fn new(client: &Client) -> Self {
        Sources {
            git: Followed::new(client.clone()),
            oci: Followed::new(client.clone()),
            buckets: Followed::new(client.clone()),
            external: Followed::new(client.clone()),
        }
    }

    /// Follows all of them, and wakes the Kustomizations whose source has another revision than they have tried.
    pub(super) async fn follow(&self, desk: &Desk<KustomizationSpec>, with_external: bool) {
        let wake = || desk.wake();
        let options = || desk.options().of_others();
        let (git, oci, buckets, external) = (wake(), wake(), wake(), wake());
        let external = async {
            if !with_external {
                return std::future::pending().await;
            }
            let run = Arc::clone(&self.external).run(options(), move |old, new| changed(&external, old, new));
            run.await;
        };
        tokio::join!(
            Arc::clone(&self.git).run(options(), move |old, new| changed(&git, old, new)),
            Arc::clone(&self.oci).run(options(), move |old, new| changed(&oci, old, new)),
            Arc::clone(&self.buckets).run(options(), move |old, new| changed(&buckets, old, new)),
            external,
        );
    }

    /// The artifact of the source of an object.
    pub(super) async fn artifact(
        &self,
        object: &Kustomization,
        settings: &Settings,
    ) -> Result<Artifact, Failure> {
        let (namespace, name) = (namespace_of(object), &object.spec.source_ref.name);
        let kind = &object.spec.source_ref.kind;
        check_access(object, &namespace, settings)?;
        let found = match kind {
            KustomizationSourceKind::GitRepository => artifact_in(&self.git, &namespace, name).await,
            KustomizationSourceKind::OciRepository => artifact_in(&self.oci, &namespace, name).await,
            KustomizationSourceKind::Bucket => artifact_in(&self.buckets, &namespace, name).await,
            KustomizationSourceKind::ExternalArtifact => artifact_in(&self.external, &namespace, name).await,
            KustomizationSourceKind::Other(kind) => return Err(unsupported(name, kind)),
        };
        judged(object, settings, found)
    }

    /// The artifact of an earlier revision of the source of an object.
    pub(super) async fn pinned(&self, pinned: &Pinned<'_>, pin: &Pin) -> Result<Artifact, Failure> {
        match &pinned.object.spec.source_ref.kind {
            KustomizationSourceKind::GitRepository => pinned.git(&self.git, pin).await,
            KustomizationSourceKind::OciRepository => pinned.oci(&self.oci, pin).await,
            _ => Err(pinned.impossible(pin)),
        }
    }

    /// An object is not pinned any more: the source that was made for that goes.
    pub(super) async fn unpinned(&self, pinned: &Pinned<'_>) -> kube::Result<()> {
        match &pinned.object.spec.source_ref.kind {
            KustomizationSourceKind::GitRepository => pinned.forget(&self.git).await,
            KustomizationSourceKind::OciRepository => pinned.forget(&self.oci).await,
            _ => Ok(()),
        }
    }
}

/// The artifact of the source of an object, which the cluster is asked for.
pub(super) async fn asked(
    client: &Client,
    object: &Kustomization,
    settings: &Settings,
) -> Result<Artifact, Failure> {
    let (namespace, name) = (namespace_of(object), object.spec.source_ref.name.clone());
    check_access(object, &namespace, settings)?;
    let found = match &object.spec.source_ref.kind {
        KustomizationSourceKind::GitRepository => get::<GitRepositorySpec>(client, &namespace, &name).await,
        KustomizationSourceKind::OciRepository => get::<OciRepositorySpec>(client, &namespace, &name).await,
        KustomizationSourceKind::Bucket => get::<BucketSpec>(client, &namespace, &name).await,
        KustomizationSourceKind::ExternalArtifact => {
            get::<ExternalArtifactSpec>(client, &namespace, &name).await
        }
        KustomizationSourceKind::Other(kind) => return Err(unsupported(&name, kind)),
    };
    judged(object, settings, found)
}

/// The artifact of the revision that an object is pinned to, which the cluster is asked for, or else the one of its source.
pub(super) async fn asked_pinned(
    client: &Client,
    object: &Kustomization,
    settings: &Settings,
    current: Artifact,
) -> Result<Artifact, Failure> {
    let pin = Asks::or_careful(object).pin;
    let pin = pin.filter(|pin| pin.counts(&current.revision.to_string()) && pin.revision != current.revision);
    let Some(pin) = pin else {
        return Ok(current);
    };
    let pinned = Pinned {
        client,
        object,
        settings,
    };
    match &object.spec.source_ref.kind {
        KustomizationSourceKind::GitRepository => pinned.asked::<GitRepositorySpec>(&pin).await,
        KustomizationSourceKind::OciRepository => pinned.asked::<OciRepositorySpec>(&pin).await,
        _ => Err(pinned.impossible(&pin)),
    }
}

async fn get<S: Spec<Status: HasArtifact>>(
    client: &Client,
    namespace: &str,
    name: &str,
) -> kube::Result<Found> {
    let found = named::get_opt::<Object<S>>(client, namespace, name).await?;
    Ok(found.map_or(Found::Nothing(S::NAMES.plural), |object| found_in(&object)))
}

fn unsupported(name: &str, kind: &str) -> Failure {
    let message = format!("source `{name}` kind '{kind}' not supported");
    Failure::transient(Reason::ARTIFACT_FAILED, message)
}

/// What it means to an object what was found of its source.
fn judged<E: std::error::Error + 'static>(
    object: &Kustomization,
    settings: &Settings,
    found: Result<Found, E>,
) -> Result<Artifact, Failure> {
    let (namespace, name) = (namespace_of(object), &object.spec.source_ref.name);
    match found {
        Err(error) => {
            let message = format!("unable to get source '{namespace}/{name}': {}", chain(&error));
            Err(Failure::transient(Reason::ARTIFACT_FAILED, message))
        }
        Ok(Found::Nothing(plural)) => {
            let message = format!("{plural}.{} \"{name}\" not found", api::source::GROUP);
            let wait = retry_interval(object);
            Err(Failure::waiting(wait, Reason::ARTIFACT_FAILED, message))
        }
        Ok(Found::NoArtifact) => {
            let wait = settings.requeue_dependency;
            let message = format!(
                "Source artifact not found, retrying in {}",
                api::Duration::from(wait)
            );
            Err(Failure::waiting(wait, Reason::ARTIFACT_FAILED, message))
        }
        Ok(Found::Foreign(foreign)) => Err(Failure::transient(Reason::ARTIFACT_FAILED, foreign.to_string())),
        Ok(Found::Artifact(artifact)) => Ok(*artifact),
    }
}

/// The revision that an artifact's source was itself made of.
pub(super) fn origin_revision(artifact: &Artifact) -> Option<String> {
    let origin = artifact.metadata.get(ORIGIN_REVISION);
    origin.filter(|origin| !origin.is_empty()).cloned()
}

/// The source of an object as messages show it.
pub(super) fn source_shown(object: &Kustomization) -> String {
    let reference = &object.spec.source_ref;
    format!("{}/{}/{}", reference.kind, namespace_of(object), reference.name)
}

/// How soon a failed attempt is made again.
pub(super) fn retry_interval(object: &Kustomization) -> std::time::Duration {
    let spec = &object.spec;
    spec.retry_interval.unwrap_or(spec.interval).to_std()
}

pub(super) fn namespace_of(object: &Kustomization) -> String {
    let reference = object.spec.source_ref.namespace.clone();
    let reference = reference.filter(|namespace| !namespace.is_empty());
    reference.or_else(|| object.namespace()).unwrap_or_default()
}

fn check_access(object: &Kustomization, namespace: &str, settings: &Settings) -> Result<(), Failure> {
    let reference = &object.spec.source_ref;
    let denied = |why: &str| {
        let message = format!(
            "can't access '{}/{namespace}/{}', {why}",
            reference.kind, reference.name
        );
        Err(Failure::stalled(Reason::ACCESS_DENIED, message))
    };
    if settings.no_cross_namespace_refs && object.namespace().as_deref() != Some(namespace) {
        return denied("cross-namespace references have been blocked");
    }
    if reference.kind == KustomizationSourceKind::ExternalArtifact && !settings.external_artifact {
        return denied("ExternalArtifact feature gate is disabled");
    }
    Ok(())
}

enum Found {
    Nothing(&'static str),
    NoArtifact,
    Foreign(ForeignArtifact),
    Artifact(Box<Artifact>),
}

async fn artifact_in<S: Spec<Status: HasArtifact>>(
    kind: &Followed<S>,
    namespace: &str,
    name: &str,
) -> Result<Found, NotListed> {
    let Some(object) = kind.get(namespace, name).await? else {
        return Ok(Found::Nothing(S::NAMES.plural));
    };
    Ok(found_in(&object))
}

fn found_in<S: Spec<Status: HasArtifact>>(object: &Object<S>) -> Found {
    match owned_artifact(object) {
        Ok(Some(artifact)) => Found::Artifact(Box::new(artifact.clone())),
        Ok(None) => Found::NoArtifact,
        Err(foreign) => Found::Foreign(foreign),
    }
}

fn artifact_of<S: Spec<Status: HasArtifact>>(object: &Object<S>) -> Option<&Artifact> {
    object.status.as_ref()?.artifact()
}

/// Wakes the Kustomizations of a source that has a new revision, or that is there at last.
fn changed<S>(wake: &Wake<KustomizationSpec>, old: Option<&Object<S>>, new: &Object<S>)
where
    S: Spec<Status: HasArtifact>,
{
    let (namespace, name) = (new.namespace().unwrap_or_default(), new.name_any());
    if is_for_a_pin(new) {
        // Also that it cannot be had is of interest.
        return wake.everywhere(|object| pinned_name(object) == name && namespace_of(object) == namespace);
    }
    let Some(artifact) = artifact_of(new) else {
        return;
    };
    if old
        .and_then(artifact_of)
        .is_some_and(|old| old.has_content_of(artifact))
    {
        return;
    }
    wake.everywhere(|object| {
        let reference = &object.spec.source_ref;
        reference.name == name
            && reference.kind.to_string() == S::NAMES.kind
            && namespace_of(object) == namespace
    });
}

/// What events and histories say of a revision.
pub(super) fn revision_metadata(revision: &str, origin: Option<&str>) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    if !revision.is_empty() {
        metadata.insert("revision".to_owned(), revision.to_owned());
    }
    if let Some(origin) = origin {
        metadata.insert("originRevision".to_owned(), origin.to_owned());
    }
    metadata
}
