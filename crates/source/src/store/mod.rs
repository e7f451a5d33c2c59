//! The artifact store: files by object, written at once or not at all, checked, collected, served.
//!
//! ```text
//! <root>/gitrepository/<namespace>/<name>/<commit>.tar.gz       an artifact
//! <root>/ocirepository/<namespace>/<name>/latest.tar.gz         a link to the current one
//! <root>/.content/sha256-<hex>                                  the same file under its digest, once per content
//! ```
//!
//! # How it is written
//!
//! 1. `<file>.lock` is made and locked; a dead process holds no lock.
//! 2. The content goes to `.tmp-…` in the same directory, with its digest computed on the way, and is synced.
//! 3. Where content of that digest is in the store, the temporary file becomes a hard link to it. Otherwise it is linked
//!    into `.content`.
//! 4. It is renamed to its name, the directory is synced, the lock goes.
//!
//! # Guarantees
//!
//! Killed at any point, what was returned by [`Store::put`] is there and valid, and what was there before a `put` that did not
//! return is there too. What such a death leaves (temporary files, locks, content that no object has) goes when the store is
//! opened the next time. Files are never changed, only replaced and removed: a reader that has one open reads it to its end.
//!
//! # Assumptions
//!
//! One process writes. Everything here blocks: async callers use [`Store::aside`].

mod aside;
mod check;
mod collect;
mod content;
mod error;
pub mod fetch;
mod latest;
mod lock;
mod place;
mod recover;
mod serve;
pub mod share;
mod usage;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::digest::Algorithm;
use tokio::sync::Semaphore;

pub use check::Presence;
pub use error::Error;
pub use place::Place;
pub use serve::serve;
pub use write::Stored;

use content::Contents;
use usage::Usage;

/// What tells the time: the moments that files are dated with.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a store names, digests and keeps its files.
#[derive(Clone, Debug)]
pub struct Options {
    /// The host, with its port where it has one, that URLs point to. With `http://` or `https://` in front it is taken as it
    /// stands.
    pub advertised_host: String,
    /// How digests are computed.
    pub algorithm: Algorithm,
    /// For how long a file that is not current any more is kept.
    pub retention_ttl: Duration,
    /// How many files an object keeps at most.
    pub retention_records: usize,
    /// The most bytes that the artifacts of one namespace have together.
    pub namespace_limit: u64,
}

impl Options {
    /// The defaults of Flux: SHA-256, a minute, two files. Flux has no limit of bytes; here it is 4 GiB.
    pub fn new(advertised_host: impl Into<String>) -> Self {
        Options {
            advertised_host: advertised_host.into(),
            algorithm: Algorithm::Sha256,
            retention_ttl: Duration::from_secs(60),
            retention_records: 2,
            namespace_limit: 4 << 30,
        }
    }
}

/// The files of all objects below one directory.
pub struct Store {
    root: PathBuf,
    options: Options,
    clock: Clock,
    contents: Contents,
    usage: Usage,
    turns: Arc<Semaphore>,
}

impl Store {
    /// Opens the store below a directory, which is made where it is not there, and clears away what a process that was
    /// killed has left.
    ///
    /// # Errors
    /// Where the directory cannot be made, read or cleared.
    pub fn open(root: impl Into<PathBuf>, options: Options, clock: Clock) -> Result<Self, Error> {
        let root = root.into();
        let contents = Contents::new(&root)?;
        let store = Store {
            root,
            usage: Usage::new(options.namespace_limit),
            options,
            clock,
            contents,
            turns: Arc::new(Semaphore::new(aside::AT_ONCE)),
        };
        store.recover()?;
        Ok(store)
    }

    /// The directory of all files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How it names, digests and keeps files.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Where a file of the store is served.
    pub fn url_of(&self, path: &str) -> String {
        let host = self.options.advertised_host.trim_end_matches('/');
        let path = path.trim_start_matches('/');
        if host.starts_with("http://") || host.starts_with("https://") {
            format!("{host}/{path}")
        } else {
            format!("http://{host}/{path}")
        }
    }

    /// A URL that was made for another host, as it is for the host of today: the host changes, the path stays.
    pub fn relocate(&self, url: &str) -> String {
        let path = match url.split_once("://") {
            Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
            None => url,
        };
        self.url_of(path)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("root", &self.root)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
