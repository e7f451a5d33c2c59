//! The trusted root of a sigstore instance: part of this program, or kept fresh through The Update Framework (TUF).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sigstore_trust_root::{SigstoreInstance, TrustedRoot};
use sigstore_tuf::{HttpRepository, Updater};
use tokio::sync::Mutex;

use super::keyless::unusable;
use super::{Error, Identity, Keyless};
use crate::http;

/// The repository of the public instance.
pub const PUBLIC_REPOSITORY: &str = "https://tuf-repo-cdn.sigstore.dev";

const TARGET: &str = "trusted_root.json";
/// A root is refreshed after this long.
const REFRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// A root that cannot be refreshed is used for this long: sigstore signs anew within a week.
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The time that one request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The root that keyless signatures are checked by where an object names none. Cheap to clone; clones share what was fetched.
#[derive(Clone, Debug)]
pub struct Root(Arc<Source>);

#[derive(Debug)]
enum Source {
    Embedded,
    Tuf {
        repository: Box<Repository>,
        kept: Mutex<Option<Kept>>,
    },
}

/// A TUF repository with a `trusted_root.json`.
#[derive(Clone)]
pub struct Repository {
    /// The address that metadata is below.
    pub url: String,
    /// The `root.json` that trust begins with.
    pub root: Vec<u8>,
    /// How it is reached.
    pub http: http::Options,
}

struct Kept {
    root: Arc<TrustedRoot>,
    at: Timestamp,
}

impl Root {
    /// The root of the public instance that is part of this program.
    pub fn embedded() -> Self {
        Root(Arc::new(Source::Embedded))
    }

    /// The root in a TUF repository. It is fetched when it is first needed, and once a day from then on.
    ///
    /// # Errors
    /// Where the `root.json` cannot be used.
    pub fn refreshed(repository: Repository) -> Result<Self, Error> {
        Updater::new(repository.http()?, &repository.root).map_err(unusable)?;
        Ok(Root(Arc::new(Source::Tuf {
            repository: Box::new(repository),
            kept: Mutex::new(None),
        })))
    }

    /// A verifier that trusts this root. One of the identities must match; without any, everyone may sign.
    ///
    /// # Errors
    /// Where the root cannot be fetched, or an identity is no regular expression.
    pub async fn keyless(&self, identities: &[Identity], now: Timestamp) -> Result<Keyless, Error> {
        match &*self.0 {
            Source::Embedded => {
                let root = TrustedRoot::from_embedded(SigstoreInstance::PublicGood);
                Keyless::new(&root.map_err(unusable)?, identities)
            }
            Source::Tuf { repository, kept } => {
                // Concurrent callers wait for one refresh.
                let mut kept = kept.lock().await;
                let root = current(&mut kept, repository, now).await?;
                Keyless::new(&root, identities)
            }
        }
    }
}

/// The kept root, refreshed where that is due.
async fn current(
    kept: &mut Option<Kept>,
    repository: &Repository,
    now: Timestamp,
) -> Result<Arc<TrustedRoot>, Error> {
    let age = |kept: &Kept| now.duration_since(kept.at).unsigned_abs();
    if let Some(kept) = kept.as_ref().filter(|kept| age(kept) < REFRESH) {
        return Ok(Arc::clone(&kept.root));
    }
    match (repository.fetch(now).await, kept.as_ref()) {
        (Ok(root), _) => {
            let root = Arc::new(root);
            *kept = Some(Kept {
                root: Arc::clone(&root),
                at: now,
            });
            Ok(root)
        }
        (Err(error), Some(old)) if age(old) < LIFETIME => {
            tracing::warn!(url = repository.url, "{error}; the last one is used");
            Ok(Arc::clone(&old.root))
        }
        (Err(error), _) => Err(error),
    }
}

impl Repository {
    fn http(&self) -> Result<HttpRepository, Error> {
        let options = http::Options {
            timeout: Some(TIMEOUT),
            ..self.http.clone()
        };
        let client = options.client().map_err(unusable)?;
        let repository = HttpRepository::new(&self.url).map_err(unusable)?;
        Ok(repository.with_http_client(client))
    }

    /// Runs the whole workflow of TUF: root, timestamp, snapshot, targets, and the target.
    async fn fetch(&self, now: Timestamp) -> Result<TrustedRoot, Error> {
        let failed = |error: sigstore_tuf::Error| {
            let mut text = format!("it cannot be fetched from {}: {error}", self.url);
            let mut cause = std::error::Error::source(&error);
            while let Some(next) = cause {
                text = format!("{text}: {next}");
                cause = next.source();
            }
            Error::TrustedRoot(text)
        };
        let mut updater = Updater::new(self.http()?, &self.root).map_err(failed)?;
        updater.refresh(now).await.map_err(failed)?;
        let json = updater.get_target(TARGET, now).await.map_err(failed)?;
        let json = std::str::from_utf8(&json).map_err(unusable)?;
        TrustedRoot::from_json(json).map_err(unusable)
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
