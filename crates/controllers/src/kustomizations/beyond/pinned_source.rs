//! The files of an earlier revision: had by a source of its own.
//!
//! Stores keep an earlier artifact for a minute or so, if at all. So a Kustomization that is pinned has a source made beside its own, with the
//! same spec but for its `ref`, which is the commit or the digest. Whoever serves sources fetches it as any other: with the same credentials and
//! the same verification, also where that is another process. It goes with the pin, and with the Kustomization.
//!
//! Sources that keep no earlier revisions, such as a Bucket, cannot be pinned, which is told.

use std::sync::Arc;

use api::kustomize::Kustomization;
use api::source::{GitReference, GitRepositorySpec, OciReference, OciRepositorySpec};
use api::{ConditionStatus, ConditionType, Object, Reason, ReconcileStatus, Spec};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use model::{Artifact, Revision};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::super::Settings;
use super::super::source::namespace_of;
use super::Pin;
use crate::artifacts::owned_artifact;
use crate::kit::{Failure, Followed, chain, named};
use crate::sources::HasArtifact;

/// The label of such sources: whose they are.
const LABEL: &str = "sluice.dev/pinned-for";
/// The annotation of a source that allows pins by Kustomizations of other namespaces.
const ALLOWED: &str = "sluice.dev/pins";
/// Who writes them.
const MANAGER: &str = "kustomize-controller";
/// The part of a source's name that is kept in its pinned source's name. With the tag, the result fits into a label value.
const LONGEST: usize = 22;

/// What an object's pinned source is called.
pub(in super::super) fn name(object: &Kustomization) -> String {
    let source: String = object.spec.source_ref.name.chars().take(LONGEST).collect();
    format!("{}-pinned-{}", source.trim_end_matches('.'), tag(object))
}

/// Tells objects apart.
fn tag(object: &Kustomization) -> String {
    let whose = format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any());
    let digest = Sha256::digest(whose);
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a source is there for a pin.
pub(in super::super) fn is_for_a_pin<S: Spec>(object: &Object<S>) -> bool {
    object.labels().contains_key(LABEL)
}

/// Where pinned sources are made and looked for.
pub(in super::super) struct Pinned<'p> {
    /// The cluster.
    pub(in super::super) client: &'p Client,
    /// Whose source.
    pub(in super::super) object: &'p Kustomization,
    /// What flags say.
    pub(in super::super) settings: &'p Settings,
}

impl Pinned<'_> {
    /// The artifact of an earlier revision of a Git repository.
    pub(in super::super) async fn git(
        &self,
        kind: &Followed<GitRepositorySpec>,
        pin: &Pin,
    ) -> Result<Artifact, Failure> {
        self.artifact(kind, pin, git_at).await
    }

    /// The artifact of an earlier revision of an OCI repository.
    pub(in super::super) async fn oci(
        &self,
        kind: &Followed<OciRepositorySpec>,
        pin: &Pin,
    ) -> Result<Artifact, Failure> {
        self.artifact(kind, pin, oci_at).await
    }

    /// No earlier revision can be had of other kinds.
    pub(in super::super) fn impossible(&self, pin: &Pin) -> Failure {
        let source = &self.object.spec.source_ref;
        let message = format!(
            "revision {} cannot be had: a {} keeps no earlier revisions; bring it back in the source, and unpin",
            pin.revision, source.kind
        );
        Failure::stalled(Reason::ARTIFACT_FAILED, message)
    }

    async fn artifact<S: Spec<Status: HasArtifact + ReconcileStatus>>(
        &self,
        kind: &Followed<S>,
        pin: &Pin,
        at: impl Fn(&S, &Revision) -> Option<S>,
    ) -> Result<Artifact, Failure> {
        let failed = |message: String| Failure::transient(Reason::ARTIFACT_FAILED, message);
        let (namespace, name) = (namespace_of(self.object), name(self.object));
        let source = &self.object.spec.source_ref.name;
        let found = kind.get(&namespace, source).await;
        let found = found.map_err(|error| failed(chain(&error)))?;
        let found =
            found.ok_or_else(|| failed(format!("{} '{namespace}/{source}' is gone", S::NAMES.kind)))?;
        if !allows_pins(self.object, &found) {
            let kind = S::NAMES.kind;
            let message = format!(
                "revision {} cannot be fetched: {kind} '{namespace}/{source}' is in another namespace, and its annotation {ALLOWED} is \
                 not \"allow\": ask its owner to set it",
                pin.revision
            );
            return Err(Failure::stalled(Reason::ARTIFACT_FAILED, message));
        }
        let wanted = at(&found.spec, &pin.revision).ok_or_else(|| {
            let what = S::NAMES.kind;
            let message = format!("revision {} cannot be had: it is none of a {what}", pin.revision);
            Failure::stalled(Reason::ARTIFACT_FAILED, message)
        })?;
        let there = kind.get(&namespace, &name).await;
        let there = there.map_err(|error| failed(chain(&error)))?;
        let there = match there.filter(|there| value(&there.spec) == value(&wanted)) {
            Some(there) => there,
            None => self.make(&found, &wanted).await.map_err(|error| {
                let kind = S::NAMES.kind;
                failed(format!(
                    "cannot make {kind} '{namespace}/{name}' for the pin: {}",
                    chain(&error)
                ))
            })?,
        };
        self.judged(&there, pin)
    }

    /// The artifact of an earlier revision as the controller has had it fetched; the cluster is asked for it.
    pub(in super::super) async fn asked<S: Spec<Status: HasArtifact + ReconcileStatus>>(
        &self,
        pin: &Pin,
    ) -> Result<Artifact, Failure> {
        let (namespace, name) = (namespace_of(self.object), name(self.object));
        let there = named::get::<Object<S>>(self.client, &namespace, &name).await;
        let there = there.map_err(|error| {
            let message = format!("revision {} was not fetched yet: {}", pin.revision, chain(&error));
            Failure::transient(Reason::ARTIFACT_FAILED, message)
        })?;
        self.judged(&there, pin)
    }

    /// What is served of an earlier revision, or why nothing is.
    fn judged<S: Spec<Status: HasArtifact + ReconcileStatus>>(
        &self,
        there: &Object<S>,
        pin: &Pin,
    ) -> Result<Artifact, Failure> {
        let status = there.status.as_ref();
        let artifact = owned_artifact(there)
            .map_err(|foreign| Failure::transient(Reason::ARTIFACT_FAILED, foreign.to_string()))?;
        let artifact = artifact.filter(|artifact| artifact.revision.digest() == pin.revision.digest());
        if let Some(artifact) = artifact {
            // Without a branch or tag the source calls it by its digest alone.
            return Ok(Artifact {
                revision: pin.revision.clone(),
                ..artifact.clone()
            });
        }
        let what = format!(
            "{} '{}/{}'",
            S::NAMES.kind,
            there.namespace().unwrap_or_default(),
            there.name_any()
        );
        let ready = status.and_then(|status| {
            let conditions = status.conditions().iter();
            let mut ready = conditions.filter(|one| one.kind == ConditionType::READY.as_str());
            ready.next()
        });
        match ready.filter(|ready| ready.status == ConditionStatus::False) {
            Some(ready) => {
                let message = format!(
                    "revision {} cannot be had: {what}: {}",
                    pin.revision, ready.message
                );
                Err(Failure::transient(Reason::ARTIFACT_FAILED, message))
            }
            None => {
                let message = format!("waiting for {what} to have revision {}", pin.revision);
                let wait = self.settings.requeue_dependency;
                Err(Failure::waiting(wait, Reason::ARTIFACT_FAILED, message))
            }
        }
    }

    async fn make<S: Spec>(&self, source: &Object<S>, spec: &S) -> kube::Result<Arc<Object<S>>> {
        let (namespace, name) = (namespace_of(self.object), name(self.object));
        let mut labels = source.metadata.labels.clone().unwrap_or_default();
        // What applies the source itself would take this for its own otherwise.
        labels.retain(|label, _| !label.contains("toolkit.fluxcd.io/"));
        labels.insert(LABEL.to_owned(), tag(self.object));
        let mut metadata = json!({"name": name, "namespace": namespace, "labels": labels});
        if self.object.namespace().as_deref() == Some(&namespace) {
            metadata["ownerReferences"] = json!([{
                "apiVersion": <api::kustomize::KustomizationSpec as Spec>::NAMES.api_version(),
                "kind": <api::kustomize::KustomizationSpec as Spec>::NAMES.kind,
                "name": self.object.name_any(), "uid": self.object.metadata.uid,
            }]);
        }
        let object = json!({
            "apiVersion": S::NAMES.api_version(), "kind": S::NAMES.kind, "metadata": metadata, "spec": value(spec),
        });
        let api: Api<Object<S>> = Api::namespaced(self.client.clone(), &namespace);
        let by = PatchParams::apply(MANAGER).force();
        Ok(Arc::new(api.patch(&name, &by, &Patch::Apply(&object)).await?))
    }

    /// Takes the source of a pin away that is no more.
    pub(in super::super) async fn forget<S: Spec>(&self, kind: &Followed<S>) -> kube::Result<()> {
        let (namespace, name) = (namespace_of(self.object), name(self.object));
        let Ok(Some(there)) = kind.get(&namespace, &name).await else {
            return Ok(());
        };
        if !is_for_a_pin(&*there) {
            return Ok(());
        }
        let api: Api<Object<S>> = Api::namespaced(self.client.clone(), &namespace);
        match api.delete(&name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            deleted => deleted.map(|_| ()),
        }
    }
}

/// Returns whether an object may be pinned to any revision of its source. The credentials of a source can read more than the source
/// publishes, so the owner of a source in another namespace must allow it. The history in the object's status proves nothing: whoever may
/// write the object can mostly write its status too.
fn allows_pins<S: Spec>(object: &Kustomization, source: &Object<S>) -> bool {
    object.namespace() == source.namespace()
        || source
            .annotations()
            .get(ALLOWED)
            .is_some_and(|value| value.trim() == "allow")
}

fn value<S: Spec>(spec: &S) -> Value {
    serde_json::to_value(spec).unwrap_or_default()
}

/// A Git repository at a commit, which is looked for on the branch if there is one.
fn git_at(spec: &GitRepositorySpec, revision: &Revision) -> Option<GitRepositorySpec> {
    let commit = revision.digest()?.hex();
    let before = spec.r#ref.clone().unwrap_or_default();
    let is_by_branch = before.tag.is_none() && before.semver.is_none() && before.name.is_none();
    Some(GitRepositorySpec {
        r#ref: Some(GitReference {
            branch: before.branch.filter(|_| is_by_branch),
            commit: Some(commit),
            ..GitReference::default()
        }),
        suspend: false,
        ..spec.clone()
    })
}

/// An OCI repository at a digest.
fn oci_at(spec: &OciRepositorySpec, revision: &Revision) -> Option<OciRepositorySpec> {
    let digest = revision.digest()?.to_string();
    digest.starts_with("sha256:").then(|| OciRepositorySpec {
        r#ref: Some(OciReference {
            digest: Some(digest),
            ..OciReference::default()
        }),
        suspend: false,
        ..spec.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::annotated;
    use super::*;

    #[test]
    fn each_object_has_a_pinned_source_of_its_own() {
        let one = annotated(&[]);
        let mut other = one.clone();
        other.metadata.name = Some("other".to_owned());
        assert!(name(&one).starts_with("app-pinned-"), "{}", name(&one));
        assert_ne!(name(&one), name(&other));
        other.spec.source_ref.name = "x".repeat(253);
        assert!(name(&other).len() < 63, "{}", name(&other));
        other.spec.source_ref.name = format!("{}.example", "x".repeat(21));
        assert!(name(&other).starts_with(&format!("{}-pinned-", "x".repeat(21))));
    }

    /// The history of the status is what a tenant writes.
    #[test]
    fn a_source_in_another_namespace_has_to_allow_pins() {
        let source = |namespace: &str, annotations: Value| -> Object<GitRepositorySpec> {
            serde_json::from_value(json!({
                "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
                "metadata": {"name": "app", "namespace": namespace, "annotations": annotations},
                "spec": {"url": "https://a", "interval": "1m"},
            }))
            .unwrap()
        };
        let mut object = annotated(&[]);
        let entry = json!({
            "digest": "sha256:0", "firstReconciled": "2026-11-01T00:00:00Z", "lastReconciled": "2026-11-01T00:00:00Z",
            "lastReconciledDuration": "1s", "lastReconciledStatus": "ReconciliationSucceeded", "totalReconciliations": 1,
            "metadata": {"revision": format!("main@sha1:{}", "0".repeat(40))},
        });
        object.status = Some(serde_json::from_value(json!({"history": [entry]})).unwrap());
        assert!(allows_pins(&object, &source("team", json!({}))));
        object.spec.source_ref.namespace = Some("platform".to_owned());
        assert!(!allows_pins(&object, &source("platform", json!({}))));
        for (value, allows) in [("", false), ("deny", false), ("allow", true)] {
            let source = source("platform", json!({(ALLOWED): value}));
            assert_eq!(allows_pins(&object, &source), allows, "{value:?}");
        }
    }

    #[test]
    fn a_commit_is_looked_for_on_the_branch_that_the_source_follows() {
        let revision: Revision = "main@sha1:0123456789abcdef0123456789abcdef01234567"
            .parse()
            .unwrap();
        let spec = |reference: Value| -> GitRepositorySpec {
            serde_json::from_value(
                json!({"url": "https://a", "interval": "1m", "suspend": true, "ref": reference}),
            )
            .unwrap()
        };
        let pinned = git_at(&spec(json!({"branch": "main"})), &revision).unwrap();
        let reference = pinned.r#ref.unwrap();
        assert_eq!(reference.branch.as_deref(), Some("main"));
        assert_eq!(
            reference.commit.as_deref(),
            Some("0123456789abcdef0123456789abcdef01234567")
        );
        assert!(!pinned.suspend);
        let pinned = git_at(&spec(json!({"branch": "main", "semver": ">1"})), &revision).unwrap();
        assert_eq!(pinned.r#ref.unwrap().branch, None);
    }

    #[test]
    fn an_oci_repository_is_pinned_by_digest() {
        let spec: OciRepositorySpec =
            serde_json::from_value(json!({"url": "oci://a/b", "interval": "1m", "ref": {"tag": "latest"}}))
                .unwrap();
        let digest = format!("sha256:{}", "ab".repeat(32));
        let pinned = oci_at(&spec, &format!("latest@{digest}").parse().unwrap()).unwrap();
        let reference = pinned.r#ref.unwrap();
        assert_eq!((reference.digest, reference.tag), (Some(digest), None));
        let commit = "main@sha1:0123456789abcdef0123456789abcdef01234567"
            .parse()
            .unwrap();
        assert!(oci_at(&spec, &commit).is_none());
    }
}
