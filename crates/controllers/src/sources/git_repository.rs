//! GitRepository: the files of a commit.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use api::source::{GitRepositorySpec, GitVerification, GitVerificationMode, Include};
use api::{ConditionType, Object, Reason};
use kube::ResourceExt;
use model::{Artifact, Revision};
use parking_lot::Mutex;
use source::archive::ignore::Rules;
use source::archive::{Stoppable, Tree};
use source::git::signature::{self, Keys, Mode};
use source::git::{
    Cause, Checkout, Error, Mirror, Outcome, Reference, Remote, Request, Scheme, Settings, Url,
};
use source::store;
use source::store::share::{self, Sharing};
use source::trust::TrustScope;

use super::provider;
use super::secrets::{self, Data};
use super::storage;
use super::{SUMMARY, Shared, begin, chain, failed, found_new, git_include, timeout_of, told};
use crate::kit::{Conditions, Desk, Failure, Notice, Reconcile, Run, Summary, Wake, blocking};

/// Keeps GitRepositories.
pub struct GitRepositories {
    shared: Shared,
    /// One archive for all objects of one scope that want the same files of a commit.
    archives: Sharing<(), Unpacked>,
    /// What those that include an object know of it.
    told: git_include::Told,
    mirrors: Mirrors,
}

type GitRun<'r> = Run<'r, GitRepositorySpec>;

/// How long what was fetched of a repository is kept without being used. One that is polled less often is cloned each time.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest time that the archive of a commit may take to be packed.
const PACKING: Duration = Duration::from_secs(5 * 60);
/// How often what is kept is looked through.
const CLEARED_EVERY: Duration = Duration::from_secs(10 * 60);

const FAILURES: [ConditionType; 3] = [
    ConditionType::FETCH_FAILED,
    ConditionType::INCLUDE_UNAVAILABLE,
    ConditionType::STORAGE_OPERATION_FAILED,
];

impl Reconcile for GitRepositories {
    type Spec = GitRepositorySpec;

    const SUMMARY: Summary = SUMMARY;

    fn is_suspended(&self, object: &Object<GitRepositorySpec>) -> bool {
        object.spec.suspend
    }

    fn interval(&self, object: &Object<GitRepositorySpec>) -> Duration {
        object.spec.interval.to_std()
    }

    fn seen(&self, object: &Object<GitRepositorySpec>, wake: &Wake<GitRepositorySpec>) {
        git_include::wake(object, &self.told, wake);
    }

    /// Clears away what is kept of repositories that nobody has asked for any more.
    async fn follow(&self, _: Desk<GitRepositorySpec>) {
        loop {
            let (repositories, since) = (self.shared.repositories.clone(), SystemTime::now() - KEPT);
            blocking(move || repositories.remove_unused(since)).await;
            tokio::time::sleep(CLEARED_EVERY).await;
        }
    }

    async fn reconcile(&self, run: &mut GitRun<'_>) -> Result<Vec<Notice>, Failure> {
        begin(run).await;
        run.status.remove(ConditionType::STORAGE_OPERATION_FAILED);
        storage::check(run, &self.shared.store).await?;
        if run.status.is_false(ConditionType::SOURCE_VERIFIED) {
            run.status.remove(ConditionType::SOURCE_VERIFIED);
        }
        let (worker, namespace) = (run.worker, run.object.namespace().unwrap_or_default());
        let update = self.update(run);
        let (revision, subject) = self.shared.slow_fetches.run(worker, &namespace, update).await?;
        run.status.remove(ConditionType::ARTIFACT_OUTDATED);
        let message = format!("stored artifact for revision '{revision}'");
        let kind = ConditionType::ARTIFACT_IN_STORAGE;
        run.status.set_true(run.stamp, kind, Reason::SUCCEEDED, &message);
        let message = format!("stored artifact for commit '{subject}'");
        Ok(told(run, &message, &FAILURES))
    }

    fn gone(&self, object: &Object<GitRepositorySpec>) {
        provider::forget(&self.shared, object);
        if let Some(unused) = self.mirrors.forget(object) {
            self.remove_mirror(unused);
        }
    }

    async fn finalize(&self, run: &mut Run<'_, GitRepositorySpec>) -> Result<Vec<Notice>, Failure> {
        let object = run.object;
        let notices = storage::remove(&self.shared.store, object).await?;
        self.gone(object);
        Ok(notices)
    }
}

impl GitRepositories {
    /// A controller that shares these.
    pub fn new(shared: Shared) -> Self {
        let archives = Sharing::new(Arc::clone(&shared.store));
        GitRepositories {
            shared,
            archives,
            told: git_include::Told::default(),
            mirrors: Mirrors::default(),
        }
    }

    /// Removes what is kept of a repository that no object uses any more, unless it is being read.
    fn remove_mirror(&self, mirror: Mirror) {
        let repositories = self.shared.repositories.clone();
        tokio::task::spawn_blocking(move || repositories.remove_mirror(&mirror));
    }

    /// Includes, fetches, verifies and stores what the object wants. Returns the revision, and what to call it in messages.
    async fn update(&self, run: &mut GitRun<'_>) -> Result<(Revision, String), Failure> {
        let wait = self.shared.settings.requeue_dependency;
        let included = git_include::artifacts(run, &self.shared.store, wait).await?;
        let (fetched, scope) = self.fetch(run, &included).await?;
        run.status.remove(ConditionType::FETCH_FAILED);
        match fetched {
            Outcome::Unchanged(revision) => {
                let subject = revision.to_string();
                Ok((revision, subject))
            }
            Outcome::Fetched(checkout) => {
                self.verify(run, &checkout).await?;
                let subject = checkout.commit.short_message();
                Ok((self.store(run, checkout, &scope, included).await?, subject))
            }
        }
    }

    /// Fetches what the object wants; and who read it, which decides with whom the archive is shared.
    async fn fetch(
        &self,
        run: &mut GitRun<'_>,
        included: &[Artifact],
    ) -> Result<(Outcome, TrustScope), Failure> {
        let remote = self.remote(run.object).await;
        let (remote, doubt) = remote.map_err(|failure| failed(run, ConditionType::FETCH_FAILED, failure))?;
        if let Some(unused) = self.mirrors.set(run.object, remote.mirror()) {
            self.remove_mirror(unused);
        }
        let outcome = remote.fetch(&request(run, included)).await;
        let outcome = outcome.map_err(|error| {
            let failure = failure_of(&error, doubt.as_deref());
            failed(run, ConditionType::FETCH_FAILED, failure)
        })?;
        Ok((outcome, remote.scope()))
    }

    /// The repository with all that is needed to reach it, and what of the Secret cannot be used for that.
    async fn remote(&self, object: &Object<GitRepositorySpec>) -> Result<(Remote, Option<String>), Failure> {
        let spec = &object.spec;
        let namespace = object.namespace().unwrap_or_default();
        let authentication = |message: String| Failure::transient(Reason::AUTHENTICATION_FAILED, message);
        let url: Url = spec.url.parse().map_err(|error| {
            let message = format!(
                "failed to parse url '{}': {}",
                without_password(&spec.url),
                chain(&error)
            );
            Failure::stalled(Reason::URL_INVALID, message)
        })?;
        let scheme = url.scheme();
        let mut settings = Settings::new(url);
        settings.owner.clone_from(&namespace);
        settings.ssh = self.shared.settings.ssh.clone();
        settings.http = self.shared.http();
        settings.timeout = timeout_of(spec.timeout);
        if let Some(proxy) = &spec.proxy_secret_ref {
            let data = Data::read(&self.shared.client, &namespace, &proxy.name).await;
            let proxy = data.and_then(|data| data.proxy());
            let proxy = proxy.map_err(|error| {
                authentication(format!("failed to configure proxy options: {}", chain(&error)))
            })?;
            settings.http.proxy = Some(proxy);
        }
        let data = match &spec.secret_ref {
            Some(secret) => Some(self.credentials(&namespace, &secret.name).await?),
            None => None,
        };
        let mut doubt = None;
        if let Some(data) = &data {
            let auth = match scheme {
                Scheme::Ssh => data.git_ssh().map(|auth| (auth, Default::default(), None)),
                Scheme::Http | Scheme::Https => data.git_http(),
            };
            let (auth, tls, unusable) = auth.map_err(|error| {
                let reason = match &error {
                    secrets::Error::Certificate { .. } => Reason::GIT_OPERATION_FAILED,
                    _ => Reason::AUTHENTICATION_FAILED,
                };
                let message = format!("failed to configure authentication options: {}", chain(&error));
                Failure::transient(reason, message)
            })?;
            settings.auth = auth;
            settings.http.tls = tls;
            doubt = unusable;
        }
        provider::git(&self.shared, object, data.as_ref(), &mut settings).await?;
        Ok((Remote::new(settings, self.shared.repositories.clone()), doubt))
    }

    async fn credentials(&self, namespace: &str, name: &str) -> Result<Data, Failure> {
        let data = Data::read(&self.shared.client, namespace, name).await;
        data.map_err(|error| {
            let message = format!("failed to get credentials: {}", chain(&error));
            Failure::transient(Reason::AUTHENTICATION_FAILED, message)
        })
    }

    /// Verifies the signatures of a commit, where that is asked for.
    async fn verify(&self, run: &mut GitRun<'_>, checkout: &Checkout) -> Result<(), Failure> {
        let kind = ConditionType::SOURCE_VERIFIED;
        let Some(wanted) = &run.object.spec.verify else {
            run.status.source_verification_mode = None;
            run.status.remove(kind);
            return Ok(());
        };
        let namespace = run.object.namespace().unwrap_or_default();
        let checked = match Data::read(&self.shared.client, &namespace, &wanted.secret_ref.name).await {
            Ok(data) => {
                let keys = Keys::of(data.files());
                let now = run.stamp.now.timestamp().as_second();
                let (commit, tag) = (&checkout.commit, checkout.tag.as_ref());
                signature::verify(commit, tag, mode_of(wanted), &keys, now).map_err(|error| unsigned(&error))
            }
            Err(error) => {
                let message = format!("public keys secret error: {}", chain(&error));
                Err(Failure::transient(Reason::VERIFICATION_ERROR, message))
            }
        };
        match checked {
            Ok(verified) => {
                run.status.source_verification_mode = Some(named(mode_of(wanted)));
                run.status
                    .set_true(run.stamp, kind, Reason::SUCCEEDED, &verified.message());
                Ok(())
            }
            Err(failure) => {
                run.status
                    .set_false(run.stamp, kind, failure.reason, &failure.message);
                Err(failure)
            }
        }
    }

    async fn store(
        &self,
        run: &mut GitRun<'_>,
        checkout: Box<Checkout>,
        scope: &TrustScope,
        included: Vec<Artifact>,
    ) -> Result<Revision, Failure> {
        let revision = checkout.revision.clone();
        let artifact = run.status.artifact.as_ref();
        if artifact.is_none_or(|artifact| artifact.revision != revision) {
            found_new(run, &format!("new upstream revision '{revision}'")).await;
        }
        let place = storage::place(run.object)?;
        let file = format!("{}.tar.gz", checkout.commit.id);
        let spec = &run.object.spec;
        let includes = spec.include.iter().cloned().zip(included.iter().cloned());
        let includes: Vec<(Include, Artifact)> = includes.collect();
        // All that the content depends on.
        let mut key = format!(
            "{:?} {} {:?} {} {:?}",
            spec.url, checkout.commit.id, spec.sparse_checkout, spec.recurse_submodules, spec.ignore
        );
        for (include, artifact) in &includes {
            key.push_str(&format!(" {include:?} {:?}", artifact.digest));
        }
        let pack = async || {
            let (store, ignore) = (Arc::clone(&self.shared.store), spec.ignore.clone());
            let (place, file) = (place.clone(), file.clone());
            let stop = StopOnDrop::default();
            let is_stopped = Arc::clone(&stop.0);
            let packed = blocking(move || {
                let pack = |tree: &dyn Tree| {
                    let rules = Rules::of(tree, ignore.as_deref());
                    let rules = rules.map_err(|error| Unpacked::Ignore(chain(&error)))?;
                    let tree = Stoppable::new(tree, &is_stopped);
                    let stored = store.pack(&place, &file, &tree, &rules);
                    stored.map_err(Unpacked::Store)
                };
                if includes.is_empty() {
                    return pack(&*checkout);
                }
                let (tree, _scratch) = git_include::combine(*checkout, &includes, &store, &is_stopped)?;
                pack(&tree)
            });
            let packed = tokio::time::timeout(PACKING, packed).await;
            Ok((packed.map_err(|_| Unpacked::Late)??, ()))
        };
        let stored = self.archives.get(scope, &key, &place, &file, pack).await;
        let (stored, ()) = stored.map_err(|error| match error {
            share::Error::Fetch(unpacked) => unpacked.failure(run),
            share::Error::Store(error) => Unpacked::Store(error).failure(run),
        })?;
        let spec = &run.object.spec;
        run.status.artifact = Some(stored.artifact(revision.clone(), Default::default()));
        run.status.observed_ignore = spec.ignore.clone();
        run.status.observed_recurse_submodules = spec.recurse_submodules;
        run.status.observed_sparse_checkout = spec.sparse_checkout.clone();
        run.status.observed_include = spec.include.clone();
        run.status.included_artifacts = included;
        Ok(revision)
    }
}

/// What is kept of a repository for each object.
#[derive(Default)]
struct Mirrors(Mutex<HashMap<(String, String), Mirror>>);

impl Mirrors {
    /// Remembers what an object uses. Returns what it used before, where no other object uses that.
    fn set(&self, object: &Object<GitRepositorySpec>, mirror: Mirror) -> Option<Mirror> {
        let mut mirrors = self.0.lock();
        let before = mirrors.insert(key(object), mirror)?;
        unused(&mirrors, before)
    }

    /// Forgets an object. Returns what it used, where no other object uses that.
    fn forget(&self, object: &Object<GitRepositorySpec>) -> Option<Mirror> {
        let mut mirrors = self.0.lock();
        let before = mirrors.remove(&key(object))?;
        unused(&mirrors, before)
    }
}

fn key(object: &Object<GitRepositorySpec>) -> (String, String) {
    (object.namespace().unwrap_or_default(), object.name_any())
}

fn unused(mirrors: &HashMap<(String, String), Mirror>, mirror: Mirror) -> Option<Mirror> {
    (!mirrors.values().any(|used| *used == mirror)).then_some(mirror)
}

/// What must be signed. A word that the definition does not know cannot be there.
fn mode_of(wanted: &GitVerification) -> Mode {
    match wanted.mode {
        Some(GitVerificationMode::Tag) => Mode::Tag,
        Some(GitVerificationMode::TagAndHead) => Mode::TagAndHead,
        _ => Mode::Head,
    }
}

fn named(mode: Mode) -> GitVerificationMode {
    match mode {
        Mode::Head => GitVerificationMode::Head,
        Mode::Tag => GitVerificationMode::Tag,
        Mode::TagAndHead => GitVerificationMode::TagAndHead,
    }
}

/// What a missing or bad signature means.
fn unsigned(error: &signature::Error) -> Failure {
    let message = chain(error);
    match error {
        signature::Error::NoTag => Failure::stalled(Reason::INVALID_VERIFICATION_MODE, message),
        signature::Error::TagNotSigned(_) => Failure::transient(Reason::INVALID_GIT_OBJECT, message),
        signature::Error::Tag { .. } => Failure::transient(Reason::INVALID_TAG_SIGNATURE, message),
        signature::Error::Commit { .. } => Failure::transient(Reason::INVALID_COMMIT_SIGNATURE, message),
    }
}

/// Why a commit did not become an artifact.
#[derive(Debug, thiserror::Error)]
enum Unpacked {
    #[error("failed to load source ignore patterns from repository: {0}")]
    Ignore(String),
    #[error("unable to archive artifact to storage")]
    Store(#[source] store::Error),
    #[error(transparent)]
    Include(#[from] git_include::Error),
    #[error(
        "the artifact was not packed within {PACKING:?}: ignore files with spec.ignore, or split the repository"
    )]
    Late,
}

/// Ends what runs on another thread when nobody waits for it any more.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Unpacked {
    fn failure(&self, run: &mut GitRun<'_>) -> Failure {
        match self {
            Unpacked::Ignore(_) => Failure::transient(Reason::SOURCE_IGNORE_ERROR, self.to_string()),
            Unpacked::Store(error) => storage::failure(run, &self.to_string(), error),
            Unpacked::Include(error) => error.failure(run),
            Unpacked::Late => {
                let failure = Failure::transient(Reason::ARCHIVE_OPERATION_FAILED, self.to_string());
                failed(run, ConditionType::STORAGE_OPERATION_FAILED, failure)
            }
        }
    }
}

/// What to ask the repository for. What we have already counts only where it was made as it would be made now.
fn request(run: &GitRun<'_>, included: &[Artifact]) -> Request {
    let spec = &run.object.spec;
    let status = &run.status;
    let same = spec.ignore == status.observed_ignore
        && spec.recurse_submodules == status.observed_recurse_submodules
        && spec.sparse_checkout == status.observed_sparse_checkout
        && git_include::is_unchanged(run, included)
        && is_verified(run);
    let artifact = status.artifact.as_ref().filter(|_| same);
    let reference = spec.r#ref.as_ref();
    let reference = reference.map_or_else(Reference::default, |reference| Reference {
        branch: reference.branch.clone(),
        tag: reference.tag.clone(),
        semver: reference.semver.clone(),
        name: reference.name.clone(),
        commit: reference.commit.clone(),
    });
    Request {
        reference,
        previous: artifact.map(|artifact| artifact.revision.clone()),
        sparse: spec.sparse_checkout.clone(),
        submodules: spec.recurse_submodules,
    }
}

/// Whether as much was verified as must be.
fn is_verified(run: &GitRun<'_>) -> bool {
    let done = run.status.source_verification_mode.as_ref();
    match run.object.spec.verify.as_ref().map(mode_of) {
        None => done.is_none(),
        Some(wanted) => {
            done.is_some_and(|done| *done == named(wanted) || *done == GitVerificationMode::TagAndHead)
        }
    }
}

/// What a failure of a fetch means, with what of the Secret could not be used for it.
fn failure_of(error: &Error, doubt: Option<&str>) -> Failure {
    let reason = match error.cause() {
        Cause::Credentials(_) | Cause::Client(_) => Reason::AUTHENTICATION_FAILED,
        Cause::Empty => Reason::EMPTY_GIT_REPOSITORY,
        _ => Reason::GIT_OPERATION_FAILED,
    };
    let message = format!("failed to checkout and determine revision: {}", chain(error));
    Failure::transient(reason, secrets::with_doubt(message, doubt))
}

/// A URL that cannot be read, without what may be a password in it.
fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}://***{}", &url[..scheme], &url[at..]),
        _ => url.to_owned(),
    }
}
