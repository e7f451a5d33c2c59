//! Makes the objects of a Kustomization: its source, what it depends on, its files, variables and keys, built.

use std::sync::Arc;
use std::time::Instant;

use api::Reason;
use api::kustomize::{Kustomization, KustomizationSpec};
use builder::{Directory, Files as _, Remote, Request, Sops, Tools};
use engine::unit::{Failure as NotGenerated, Generated, ManifestGenerator, SyncUnit};
use futures::future::BoxFuture;
use kube::ResourceExt;
use model::{Artifact, Manifest};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::access::Clusters;
use super::artifact::Artifacts;
use super::decryption::Keys;
use super::memory::{Attempt, Built, Memory, Stage};
use super::source::{Sources, origin_revision};
use super::{Shared, common_metadata, dependencies, request, unit, variables};
use crate::kit::{Desk, Failure, Key, chain};
use crate::sources::blocking;

/// What begins the message of a failure that only a change of the object mends.
const TERMINAL: &str = "Reconciliation failed terminally due to configuration error";

/// Makes the objects of Kustomizations.
pub(super) struct Generator {
    pub(super) shared: Arc<Shared>,
    pub(super) desk: Desk<KustomizationSpec>,
    pub(super) sources: Arc<Sources>,
    pub(super) artifacts: Artifacts,
    pub(super) memory: Arc<Memory>,
    pub(super) clusters: Clusters,
}

impl ManifestGenerator for Generator {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        _: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, NotGenerated>> {
        Box::pin(async move {
            let gone = || NotGenerated::new(format!("{} is gone", unit.id));
            let object = key(&unit.id)
                .and_then(|key| self.desk.get(&key))
                .ok_or_else(gone)?;
            let uid = object.metadata.uid.as_deref();
            let kept = self.memory.change(&unit.id, uid, |known| {
                let is_stale = std::mem::take(&mut known.is_stale);
                known.built.clone().filter(|_| !is_stale && !fresh)
            });
            let had_kept = kept.clone();
            let mut attempt = None;
            let made = self.make(&object, kept, &mut attempt).await;
            // What is read from the cluster for a build is read anew for it, and so is the way to another one.
            let is_kept = had_kept
                .zip(made.as_ref().ok())
                .is_some_and(|(had, made)| Arc::ptr_eq(&had, made));
            if !is_kept {
                self.clusters.look_again(&unit.destination.cluster).await;
            }
            self.memory.change(&unit.id, uid, |unit| {
                unit.attempt = attempt;
                match &made {
                    Ok(built) => {
                        unit.failure = None;
                        unit.built = Some(Arc::clone(built));
                    }
                    Err(failure) => unit.failure = Some(failure.clone()),
                }
            });
            let built = made.map_err(|failure| NotGenerated::new(failure.message))?;
            Ok(Generated {
                manifests: built.manifests.clone(),
                revision: built.revision.clone(),
            })
        })
    }
}

/// Namespace and name of the object of a unit.
pub(super) fn key(id: &str) -> Option<Key> {
    let (namespace, name) = id.split_once('/')?;
    Some((namespace.to_owned(), name.to_owned()))
}

impl Generator {
    /// Builds an object, and notes how far that got.
    async fn make(
        &self,
        object: &Kustomization,
        kept: Option<Arc<Built>>,
        attempt: &mut Option<Attempt>,
    ) -> Result<Arc<Built>, Failure> {
        if let Some(problem) = unit::problem(&object.spec) {
            let message = format!("{TERMINAL}: {problem}");
            return Err(Failure::stalled(Reason::INVALID_CEL_EXPRESSION, message));
        }
        if let Err(problem) = unit::ignored(&object.spec) {
            return Err(Failure::transient(Reason::RECONCILIATION_FAILED, chain(&problem)));
        }
        let artifact = self.sources.artifact(object, &self.shared.settings).await?;
        let attempt = attempt.insert(Attempt {
            revision: artifact.revision.to_string(),
            origin: origin_revision(&artifact),
            stage: Stage::Found,
        });
        self.check_dependencies(object, &artifact)?;
        attempt.stage = Stage::Fetching;
        let of = made_of(object, &artifact);
        let interval = object.spec.interval.to_std();
        if let Some(kept) = kept.filter(|kept| kept.of == of && kept.read.elapsed() < interval) {
            attempt.stage = Stage::Built;
            return Ok(kept);
        }
        let files = self.artifacts.files(&artifact, &self.shared.settings).await?;
        check_path(&files, object.spec.path.as_deref().unwrap_or_default())?;
        attempt.stage = Stage::Building;
        let built = self.built(object, &artifact, files, of).await?;
        attempt.stage = Stage::Built;
        Ok(Arc::new(built))
    }

    fn check_dependencies(&self, object: &Kustomization, artifact: &Artifact) -> Result<(), Failure> {
        let keys = object
            .spec
            .depends_on
            .iter()
            .map(|one| dependencies::key(object, one));
        if keys.len() == 0 {
            return Ok(());
        }
        let revision = artifact.revision.to_string();
        let additive = self.shared.settings.additive_dependency_check;
        let checked = dependencies::check(object, &revision, additive, |key| self.desk.get(key));
        checked.map_err(|unmet| match unmet.is_final() {
            true => {
                let message = format!("{TERMINAL}: {unmet}");
                Failure::stalled(Reason::INVALID_CEL_EXPRESSION, message)
            }
            false => {
                let wait = self.shared.settings.requeue_dependency;
                Failure::waiting(wait, Reason::DEPENDENCY_NOT_READY, unmet.to_string())
            }
        })
    }

    async fn built(
        &self,
        object: &Kustomization,
        artifact: &Artifact,
        files: Arc<Directory>,
        of: String,
    ) -> Result<Built, Failure> {
        let read = Instant::now();
        let (digest, manifests) = manifests(&self.shared, object, files, request(&object.spec)).await?;
        Ok(Built {
            of,
            manifests,
            revision: artifact.revision.to_string(),
            origin: origin_revision(artifact),
            digest,
            read,
        })
    }
}

/// The objects of a Kustomization, made of these files with what is in the cluster for it, and their digest.
pub(super) async fn manifests(
    shared: &Arc<Shared>,
    object: &Kustomization,
    files: Arc<Directory>,
    mut wanted: Request,
) -> Result<(String, Vec<Manifest>), Failure> {
    let failed = |message: String| Failure::transient(Reason::BUILD_FAILED, message);
    let namespace = object.namespace().unwrap_or_default();
    if let Some(post_build) = &object.spec.post_build {
        let strict = shared.settings.strict_substitutions;
        let found = variables(Some(&shared.client), &namespace, post_build, strict).await;
        wanted.substitution = Some(found.map_err(|error| failed(chain(&error)))?);
    }
    let keys = Keys::of(object, shared).await?;
    let common = common_metadata(&object.spec);
    let has_decryption = object.spec.decryption.is_some();
    let (shared, runtime) = (Arc::clone(shared), Handle::current());
    let built = blocking(move || build(&files, &wanted, keys.as_ref(), &shared, runtime)).await;
    let (digest, mut objects) = built.map_err(failed)?;
    objects.iter_mut().for_each(|object| common.set_on(object));
    let mut manifests = Vec::with_capacity(objects.len());
    for object in objects {
        if !has_decryption && builder::is_encrypted_secret(&object) {
            let name = object.str_at(&["metadata", "name"]).to_owned();
            let namespace = object.str_at(&["metadata", "namespace"]).to_owned();
            let message = format!(
                "Secret/{namespace}/{name} is SOPS encrypted, configuring decryption is required for this secret to be \
                 reconciled"
            );
            return Err(Failure::transient(Reason::RECONCILIATION_FAILED, message));
        }
        let manifest = Manifest::new(object, None).map_err(|error| failed(chain(&error)))?;
        manifests.push(manifest);
    }
    Ok((digest, manifests))
}

/// The path must be in the source before anything is said to be tried.
pub(super) fn check_path(files: &Directory, path: &str) -> Result<(), Failure> {
    let inside = path.split('/').fold(Vec::new(), |mut inside, part| {
        match part {
            "" | "." => {}
            ".." => drop(inside.pop()),
            part => inside.push(part),
        }
        inside
    });
    if files.list(&inside.join("/")).is_ok() {
        return Ok(());
    }
    let message = format!("kustomization path not found: stat {path}: no such file or directory");
    Err(Failure::transient(Reason::ARTIFACT_FAILED, message))
}

fn build(
    files: &Directory,
    request: &Request,
    keys: Option<&Keys>,
    shared: &Shared,
    runtime: Handle,
) -> Result<(String, Vec<model::Value>), String> {
    let services = keys.map(|keys| keys.services(shared, runtime.clone()));
    let decrypter = keys
        .zip(services.as_ref())
        .map(|(keys, services)| Sops::new(&keys.own).asking(services));
    let remote = Remote::new(runtime, shared.http.clone(), shared.repositories.clone());
    let tools = Tools {
        decrypter: decrypter.as_ref().map(|sops| sops as &dyn builder::Decrypter),
        fetcher: (!shared.settings.no_remote_bases).then_some(&remote),
        ..Tools::default()
    };
    let manifests = builder::build(files, request, &tools).map_err(|errors| errors.to_string())?;
    let digest = manifests.digest().map_err(|errors| errors.to_string())?;
    let objects = manifests.into_objects().map_err(|errors| errors.to_string())?;
    Ok((digest.to_string(), objects))
}

/// What a build depends on, but for what is read from the cluster.
fn made_of(object: &Kustomization, artifact: &Artifact) -> String {
    let spec = serde_json::to_vec(&object.spec).unwrap_or_default();
    let digest = artifact
        .digest
        .map(|digest| digest.to_string())
        .unwrap_or_default();
    let spec: String = Sha256::digest(&spec)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{} {digest} {spec}", artifact.revision)
}
