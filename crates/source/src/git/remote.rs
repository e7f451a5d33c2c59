//! A repository on a server: what it has, and fetching some of it.

use std::future::Future;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use gix_hash::ObjectId;
use model::Revision;

use super::auth::Auth;
use super::cache::{Cache, Mirror};
use super::checkout::{Checkout, Origin, Part};
use super::commit::Tag;
use super::error::{Cause, Error};
use super::obtain::{Fetch, Obtained};
use super::reference::{Reference, Target};
use super::refs::Ref;
use super::settings::Settings;
use super::slot::Slot;
use super::submodule;
use super::transport::Session;
use super::walk::{Found, Sparse};
use crate::trust::TrustScope;

/// How deep submodules of submodules are followed.
const MAX_SUBMODULE_DEPTH: usize = 10;

/// What is wanted of a repository.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The commit.
    pub reference: Reference,
    /// The revision that we have already and would not fetch again.
    pub previous: Option<Revision>,
    /// The directories that alone are wanted; none means all.
    pub sparse: Vec<String>,
    /// Whether submodules are fetched too.
    pub submodules: bool,
}

/// What a fetch ends with.
#[derive(Debug)]
pub enum Outcome {
    /// The revision is the previous one. Only references were listed.
    Unchanged(Revision),
    /// There is a new one.
    Fetched(Box<Checkout>),
}

/// A repository on a server.
#[derive(Clone, Debug)]
pub struct Remote {
    pub(super) settings: Settings,
    pub(super) cache: Cache,
    scope: TrustScope,
}

impl Remote {
    /// A repository. Nothing is asked yet.
    pub fn new(settings: Settings, cache: Cache) -> Self {
        let scope = settings.scope();
        Remote {
            settings,
            cache,
            scope,
        }
    }

    /// Who reads, and whom they trust to be the server. What was fetched is for readers of this scope alone.
    pub fn scope(&self) -> TrustScope {
        self.scope
    }

    /// What is kept of it for its owner and the readers of this scope, to remove it when nobody wants it any more.
    pub fn mirror(&self) -> Mirror {
        self.cache.mirror(&self.settings, &self.scope)
    }

    fn slot(&self) -> Arc<Slot> {
        self.cache.slot(&self.settings, &self.scope)
    }

    /// The references that decide what `reference` means (a server may name others too).
    ///
    /// # Errors
    /// Where the server cannot be asked.
    pub async fn list(&self, reference: &Reference) -> Result<Vec<Ref>, Error> {
        let listing = async {
            let mut session = self.session().await?;
            let refs = self.list_in(&mut session, &reference.prefixes()).await?;
            session.close().await;
            Ok(refs)
        };
        self.limited(listing).await
    }

    /// Fetches a commit, unless it is the previous one.
    ///
    /// # Errors
    /// Where it cannot be had; [`Error::cause`] says why. Nothing is changed then but what is cached.
    pub async fn fetch(&self, request: &Request) -> Result<Outcome, Error> {
        self.limited(self.fetch_unlimited(request)).await
    }

    async fn limited<T>(&self, work: impl Future<Output = Result<T, Cause>>) -> Result<T, Error> {
        let result = match tokio::time::timeout(self.settings.timeout, work).await {
            Ok(result) => result,
            Err(_) => Err(Cause::Timeout(self.settings.timeout)),
        };
        result.map_err(|cause| self.settings.told(cause))
    }

    pub(super) async fn session(&self) -> Result<Session, Cause> {
        let known = self.slot().known.lock().clone();
        Session::open(&self.settings, known).await
    }

    pub(super) async fn list_in(
        &self,
        session: &mut Session,
        prefixes: &[String],
    ) -> Result<Vec<Ref>, Cause> {
        let refs = session.list(prefixes).await?;
        *self.slot().known.lock() = session.known();
        Ok(refs)
    }

    async fn fetch_unlimited(&self, request: &Request) -> Result<Outcome, Cause> {
        request.reference.check()?;
        let mut session = self.session().await?;
        let targets = self.targets(&mut session, &request.reference).await?;
        if let ([target], Some(previous)) = (&targets[..], &request.previous)
            && target.revision == *previous
        {
            session.close().await;
            return Ok(Outcome::Unchanged(previous.clone()));
        }
        let sparse = Sparse::new(&request.sparse, request.submodules);
        let mut newest: Option<(Target, Obtained)> = None;
        let mut session = Some(session);
        for target in targets {
            let obtained = self
                .obtain(session.take(), &target, &request.reference, &sparse)
                .await?;
            // What counts is what was fetched, not what the server said of it when it listed its references.
            let target = target.leading_to(obtained.commit.id);
            let is_newer =
                |(_, best): &(Target, Obtained)| obtained.commit.committer.time >= best.commit.committer.time;
            if newest.as_ref().is_none_or(is_newer) {
                newest = Some((target, obtained));
            }
        }
        let (target, obtained) = newest.expect("a reference leads to at least one target or is an error");
        if request.previous.as_ref() == Some(&target.revision) {
            return Ok(Outcome::Unchanged(target.revision));
        }
        let sparse = request.submodules.then_some(&sparse);
        let checkout = self.complete(target, obtained, sparse).await?;
        Ok(Outcome::Fetched(Box::new(checkout)))
    }

    async fn targets(&self, session: &mut Session, reference: &Reference) -> Result<Vec<Target>, Cause> {
        let refs = self.list_in(session, &reference.prefixes()).await?;
        let resolved = reference.resolve(&refs);
        let is_missing = matches!(resolved, Err(Cause::ReferenceMissing(_) | Cause::NoVersion(_)));
        if is_missing && refs.is_empty() && self.list_in(session, &[]).await?.is_empty() {
            return Err(Cause::Empty);
        }
        resolved
    }

    /// Sees to it that a commit is here with all its files.
    async fn obtain(
        &self,
        session: Option<Session>,
        target: &Target,
        reference: &Reference,
        sparse: &Sparse,
    ) -> Result<Obtained, Cause> {
        let slot = self.slot();
        let turn = slot.turn(target.want);
        let _turn = turn.lock().await;
        let generation = slot.generation()?;
        let fetch = Fetch {
            remote: self,
            target,
            reference,
            sparse,
        };
        let first = fetch.run(session, Arc::clone(&generation)).await;
        match first {
            Err(cause) if cause.may_be_stale_cache() => {
                tracing::warn!(
                    url = %self.settings.url, %cause,
                    "what is kept of a Git repository may be broken: cloning it anew"
                );
                let generation = slot.replace(&generation)?;
                fetch.run(None, generation).await
            }
            result => result,
        }
    }

    /// Adds what is wanted of submodules, if they are wanted at all, and makes a checkout of it all.
    async fn complete(
        &self,
        target: Target,
        obtained: Obtained,
        submodules: Option<&Sparse>,
    ) -> Result<Checkout, Cause> {
        let Obtained {
            origin,
            commit,
            tag,
            found,
        } = obtained;
        let modules = match submodules {
            Some(sparse) => self.modules(&origin, &found, sparse, 1).await?,
            None => Vec::new(),
        };
        let mut parts = vec![Part {
            origin,
            prefix: String::new(),
            listing: found.listing,
        }];
        parts.extend(modules);
        let is_tag = target
            .name
            .as_deref()
            .and_then(|name| name.strip_prefix("refs/tags/"));
        let tag = match (tag, is_tag) {
            (Some(tag), _) => Some(tag),
            (None, Some(name)) => Some(Tag::light(name.trim_end_matches("^{}"))),
            (None, None) => None,
        };
        Ok(Checkout::new(target.revision, commit, tag, parts))
    }

    fn modules<'a>(
        &'a self,
        origin: &'a Origin,
        found: &'a Found,
        sparse: &'a Sparse,
        depth: usize,
    ) -> BoxFuture<'a, Result<Vec<Part>, Cause>> {
        async move {
            let modules = match found.gitmodules.filter(|_| depth <= MAX_SUBMODULE_DEPTH) {
                Some(file) => {
                    let objects = Arc::clone(&origin.objects);
                    let read = move || submodule::read(&objects, file);
                    let task = tokio::task::spawn_blocking(read);
                    task.await
                        .map_err(|error| Cause::Submodules(error.to_string()))??
                }
                None => Vec::new(),
            };
            let mut parts = Vec::new();
            for (path, commit) in &found.links {
                let inside = sparse.inside(path);
                match (modules.iter().find(|module| module.path == *path), inside.first()) {
                    (Some(module), _) => parts.extend(self.module(module, *commit, &inside, depth).await?),
                    // Without an entry nobody knows where it comes from: it stays an empty directory, as in Git.
                    (None, None) => {}
                    (None, Some(wanted)) => return Err(Cause::SparsePath(format!("{path}/{wanted}"))),
                }
            }
            Ok(parts)
        }
        .boxed()
    }

    async fn module(
        &self,
        module: &submodule::Module,
        id: ObjectId,
        sparse: &[String],
        depth: usize,
    ) -> Result<Vec<Part>, Cause> {
        let unusable = |error| Cause::Submodules(format!("the URL of submodule '{}': {error}", module.path));
        let url = self.settings.url.join(&module.url).map_err(unusable)?;
        let auth = self.settings.auth.for_submodule(&self.settings.url, &url);
        let settings = Settings {
            // Without the credentials it is read as anybody.
            identity: self.settings.identity.filter(|_| !matches!(auth, Auth::None)),
            auth,
            url,
            ..self.settings.clone()
        };
        let remote = Remote::new(settings, self.cache.clone());
        let fetched = async {
            let reference = Reference::commit(id.to_string());
            let target = reference.resolve(&[])?.remove(0);
            let sparse = Sparse::new(sparse, true);
            let obtained = remote.obtain(None, &target, &reference, &sparse).await?;
            let inner = remote
                .modules(&obtained.origin, &obtained.found, &sparse, depth + 1)
                .await?;
            Ok((obtained, inner))
        };
        let (obtained, inner) = fetched.await.map_err(|cause| {
            let source = Box::new(remote.settings.told(cause));
            Cause::Submodule {
                path: module.path.clone(),
                source,
            }
        })?;
        let prefix = format!("{}/", module.path);
        let mut parts = vec![Part {
            origin: obtained.origin,
            prefix: prefix.clone(),
            listing: obtained.found.listing,
        }];
        parts.extend(inner.into_iter().map(|part| Part {
            prefix: format!("{prefix}{}", part.prefix),
            ..part
        }));
        Ok(parts)
    }
}
