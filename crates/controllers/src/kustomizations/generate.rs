//! Makes the objects of a Kustomization: its source, what it depends on, its files, variables and keys, built.

use std::sync::Arc;
use std::time::Instant;

use api::Reason;
use api::kustomize::{Kustomization, KustomizationSpec};
use builder::{
    Cancellation, Directory, Files, Noting, NotingFetcher, Reads, Remote, Request, Sops, Tools, WaitBudget,
};
use engine::unit::{Failure as NotGenerated, Generated, ManifestGenerator, SyncUnit};
use futures::future::BoxFuture;
use kube::ResourceExt;
use model::{Artifact, Manifest, Time};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::artifact::Artifacts;
use super::beyond::{Asks, Pinned, is_settled, is_unrecorded, recorded, released};
use super::decryption::Keys;
use super::dependencies::{self, Unmet};
use super::memory::{Attempt, Built, Memory, Origin, Stage};
use super::packed::Packed;
use super::source::{Sources, origin_revision};
use super::store::stamp;
use super::{Shared, common_metadata, ignored, request, unit, variables};
use crate::clusters::Clusters;
use crate::kit::{
    Desk, Failure, Key, Permit, Permits, Shape, blocking, chain, check_namespaces, has_expressions, jittered,
    unseen,
};

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
    /// Limits how many builds run at once. Those that wait for servers do not count.
    pub(super) builds: Permits,
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
            let look = self.memory.change(&unit.id, uid, |known| Look {
                unit,
                object: &object,
                last: known.built.clone(),
                is_kept: !std::mem::take(&mut known.is_stale) && !fresh,
                jitter: self.desk.options().jitter,
            });
            let mut attempt = None;
            let made = self.make(&look, &mut attempt).await;
            // What is read from the cluster for a build is read anew for it, and so is the way to another one.
            let is_same = look.last.as_ref().zip(made.as_ref().ok());
            if !is_same.is_some_and(|(had, made)| Arc::ptr_eq(had, made)) {
                self.clusters.look_again(&unit.destination.cluster).await;
            }
            let now = key(&unit.id).and_then(|key| self.desk.get(&key));
            if now.is_none_or(|now| now.metadata.uid != object.metadata.uid) {
                return Err(gone());
            }
            if let Err(failure) = &made
                && let Shape::Waiting(wait) = failure.shape
            {
                // A watch wakes it sooner, as a rule. What a watch does not tell of is looked for after Flux's time.
                self.desk.wake().one_after(&object, wait);
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
            if is_unrecorded(&object, &built) {
                let stamp = stamp(&object, Time::new(jiff::Timestamp::now()));
                let (said, notice) = recorded(&object, &built, stamp);
                self.desk.tell_news(&object, vec![notice], None);
                self.desk.write(&object, &said).await?;
            }
            Ok(Generated {
                manifests: built.manifests.manifests(),
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

/// What a unit is looked at with.
struct Look<'l> {
    unit: &'l SyncUnit,
    object: &'l Kustomization,
    /// What was built last.
    last: Option<Arc<Built>>,
    /// Whether that may be used again where it was made of the same.
    is_kept: bool,
    /// How far intervals are spread, in percent.
    jitter: u8,
}

impl Look<'_> {
    /// What was built last, if what was read from the cluster for it may still be used.
    fn kept(&self) -> Option<&Arc<Built>> {
        // A run that is due at the shortest interval reads again, too.
        let interval = jittered(self.object.spec.interval.to_std(), self.jitter, 0.0);
        let last = self.last.as_ref().filter(|_| self.is_kept);
        last.filter(|last| last.read.elapsed() < interval)
    }
}

impl Generator {
    /// Builds an object, and notes how far that got.
    async fn make(&self, look: &Look<'_>, attempt: &mut Option<Attempt>) -> Result<Arc<Built>, Failure> {
        let object = look.object;
        let asks = Asks::of(object).map_err(|unclear| {
            Failure::stalled(Reason::INVALID_ANNOTATION, format!("{TERMINAL}: {unclear}"))
        })?;
        let tenant = object.namespace().unwrap_or_default();
        let problem = match unit::has_expressions(&object.spec) {
            true => {
                let parsed = || unit::problem(&object.spec);
                self.desk.evaluations().run(&tenant, parsed).await
            }
            false => None,
        };
        if let Some(problem) = problem {
            let message = format!("{TERMINAL}: {problem}");
            return Err(Failure::stalled(Reason::INVALID_CEL_EXPRESSION, message));
        }
        let rules = ignored::read(&self.memory, self.desk.evaluations(), object).await;
        rules.map_err(|problem| Failure::transient(Reason::RECONCILIATION_FAILED, problem))?;
        let current = self.sources.artifact(object, &self.shared.settings).await?;
        let newest = current.revision.to_string();
        let artifact = self.pinned_or(current, object, &asks).await?;
        let attempt = attempt.insert(Attempt {
            revision: artifact.revision.to_string(),
            origin: origin_revision(&artifact),
            stage: Stage::Found,
        });
        self.check_dependencies(object, &newest).await?;
        attempt.stage = Stage::Fetching;
        let of = made_of(object, &artifact);
        if let Some(kept) = look.kept().filter(|kept| kept.of == of) {
            attempt.stage = Stage::Built;
            return Ok(Arc::clone(kept));
        }
        let files = self.artifacts.files(&artifact, &self.shared.settings).await?;
        check_path(&files, object.spec.path.as_deref().unwrap_or_default())?;
        attempt.stage = Stage::Building;
        let built = match self.unread(look, &asks, &of, &files).await {
            Some(last) => Built {
                of,
                source: artifact.revision.to_string(),
                origin: origin_revision(&artifact),
                ..last
            },
            None => self.built(look, &artifact, files, of).await?,
        };
        attempt.stage = Stage::Built;
        Ok(Arc::new(built))
    }

    /// The artifact of the revision that an object is pinned to, or what its source has.
    async fn pinned_or(
        &self,
        current: Artifact,
        object: &Kustomization,
        asks: &Asks,
    ) -> Result<Artifact, Failure> {
        let pinned = Pinned {
            client: &self.shared.client,
            object,
            settings: &self.shared.settings,
        };
        let newest = current.revision.to_string();
        let failed = |error: kube::Error| {
            let message = format!("cannot unpin: {}", chain(&error));
            Failure::transient(Reason::RECONCILIATION_FAILED, message)
        };
        match &asks.pin {
            Some(pin) if pin.counts(&newest) && pin.revision == current.revision => return Ok(current),
            Some(pin) if pin.counts(&newest) => return self.sources.pinned(&pinned, pin).await,
            Some(pin) => {
                let released = released(&self.shared.client, object, pin, &newest).await;
                let notice = released.map_err(failed)?;
                self.desk.tell_news(object, notice.into_iter().collect(), None);
            }
            None => {}
        }
        self.sources.unpinned(&pinned).await.map_err(failed)?;
        Ok(current)
    }

    /// What was built last, if these files would be built to the same and nothing else is to be done.
    async fn unread(
        &self,
        look: &Look<'_>,
        asks: &Asks,
        of: &Origin,
        files: &Arc<Directory>,
    ) -> Option<Built> {
        let last = look.kept().filter(|last| {
            let may_skip = asks.skip_unread && asks.pin.is_none() && last.of.spec == of.spec;
            may_skip && is_settled(look.unit, look.object, last)
        })?;
        let (reads, files) = (last.reads.clone()?, Arc::clone(files));
        let is_same = blocking(move || reads.are_same_in(&*files)).await;
        is_same.then(|| Built::clone(last))
    }

    async fn check_dependencies(&self, object: &Kustomization, revision: &str) -> Result<(), Failure> {
        if self.shared.settings.no_cross_namespace_refs {
            check_namespaces(object, &object.spec.depends_on)
                .map_err(|denied| Failure::stalled(Reason::ACCESS_DENIED, denied))?;
        }
        let additive = self.shared.settings.additive_dependency_check;
        let unseen = unseen(&self.desk, object, &object.spec.depends_on).await;
        let checked = match unseen.map_err(Unmet::unread) {
            Ok(unseen) => {
                let find = |key: &(String, String)| self.desk.get(key).or_else(|| unseen.get(key).cloned());
                let check = || dependencies::check(object, revision, additive, find);
                let tenant = object.namespace().unwrap_or_default();
                match has_expressions(&object.spec.depends_on) {
                    true => self.desk.evaluations().run(&tenant, check).await,
                    false => check(),
                }
            }
            Err(unmet) => Err(unmet),
        };
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
        look: &Look<'_>,
        artifact: &Artifact,
        files: Arc<Directory>,
        of: Origin,
    ) -> Result<Built, Failure> {
        let read = Instant::now();
        let object = look.object;
        let wanted = request(&object.spec);
        let made = manifests(&self.shared, object, files, wanted, Some(&self.builds)).await?;
        let source = artifact.revision.to_string();
        // What was recorded without a run is not run for later, since nothing has changed.
        let last = look.last.as_ref().filter(|_| look.is_kept);
        let last = last.filter(|last| last.source == source && last.digest == made.digest);
        Ok(Built {
            of,
            manifests: Packed::new(made.manifests),
            revision: last.map_or_else(|| source.clone(), |last| last.revision.clone()),
            source,
            origin: origin_revision(artifact),
            reads: made.reads.map(Arc::new),
            digest: made.digest,
            read,
        })
    }
}

/// What is made of files.
pub(super) struct Made {
    /// The digest of the objects as text.
    digest: String,
    /// The objects.
    pub(super) manifests: Vec<Manifest>,
    /// What of the files was read, if it is to be known and nothing else was.
    reads: Option<Reads>,
}

/// The objects of a Kustomization, made of these files with what is in the cluster for it, and their digest.
///
/// The build runs on a thread of its own, which keeps its permit until it ends. Dropping the future cancels the build.
pub(super) async fn manifests(
    shared: &Arc<Shared>,
    object: &Kustomization,
    files: Arc<Directory>,
    mut wanted: Request,
    builds: Option<&Permits>,
) -> Result<Made, Failure> {
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
    let notes = Asks::or_careful(object).skip_unread;
    let permit = match builds {
        Some(builds) => builds.acquire(&namespace).await.map(Arc::new),
        None => None,
    };
    let (_cancel_on_drop, cancellation) = Cancellation::new();
    let waits = Waits {
        runtime: Handle::current(),
        cancellation,
        permit,
    };
    let shared = Arc::clone(shared);
    let built = blocking(move || -> Result<_, String> {
        let keys = keys.as_ref();
        if !notes {
            return Ok((build(&*files, &wanted, &namespace, keys, &shared, &waits)?, None));
        }
        let noting = Noting::new(&*files);
        let built = build(&noting, &wanted, &namespace, keys, &shared, &waits)?;
        let reads = (!built.is_of_more).then(|| noting.reads());
        Ok((built, reads))
    });
    let (built, reads) = built.await.map_err(failed)?;
    let (digest, mut objects) = (built.digest, built.objects);
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
    Ok(Made {
        digest,
        manifests,
        reads,
    })
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

/// What comes out of the builder.
struct Output {
    digest: String,
    objects: Vec<model::Value>,
    /// Whether it was made of more than the files.
    is_of_more: bool,
}

/// How a build waits for servers.
struct Waits {
    runtime: Handle,
    cancellation: Cancellation,
    permit: Option<Arc<Permit>>,
}

impl Waits {
    /// The time for all servers of one kind. The permit is left to other builds meanwhile.
    fn budget(&self) -> WaitBudget {
        let budget = WaitBudget::new(self.cancellation.clone());
        match &self.permit {
            Some(permit) => budget.leaving(Arc::clone(permit) as Arc<dyn builder::Place>),
            None => budget,
        }
    }
}

fn build(
    files: &dyn Files,
    request: &Request,
    namespace: &str,
    keys: Option<&Keys>,
    shared: &Shared,
    waits: &Waits,
) -> Result<Output, String> {
    let services = keys.map(|keys| keys.services(shared, waits.runtime.clone(), waits.budget()));
    let decrypter = keys
        .zip(services.as_ref())
        .map(|(keys, services)| Sops::new(&keys.own).asking(services));
    let remote = Remote::new(
        waits.runtime.clone(),
        shared.http.clone(),
        shared.repositories.clone(),
    );
    let remote = remote.owned_by(namespace).within(waits.budget());
    let remote = NotingFetcher::new(&remote);
    let tools = Tools {
        decrypter: decrypter.as_ref().map(|sops| sops as &dyn builder::Decrypter),
        fetcher: (!shared.settings.no_remote_bases).then_some(&remote),
        ..Tools::default()
    };
    let manifests = builder::build(files, request, &tools).map_err(|errors| errors.to_string())?;
    let digest = manifests.digest().map_err(|errors| errors.to_string())?;
    let objects = manifests.into_objects().map_err(|errors| errors.to_string())?;
    Ok(Output {
        digest: digest.to_string(),
        objects,
        is_of_more: remote.is_used(),
    })
}

/// What a build depends on, but for what is read from the cluster.
fn made_of(object: &Kustomization, artifact: &Artifact) -> Origin {
    let spec = serde_json::to_vec(&object.spec).unwrap_or_default();
    let digest = artifact
        .digest
        .map(|digest| digest.to_string())
        .unwrap_or_default();
    let spec: String = Sha256::digest(&spec)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Origin {
        artifact: format!("{} {digest}", artifact.revision),
        spec,
    }
}
