//! Why the store did not do what it was asked to.

use std::io;
use std::path::{Path, PathBuf};

use model::Digest;

/// By what was being done, so that each has the reason that Flux gives for it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Kind, namespace, name or file name cannot be a part of a path.
    #[error("{path:?} is no path of the artifact store: {reason}")]
    Path {
        /// The path or the part of it.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A directory cannot be made or listed.
    #[error(
        "the directory {path:?} of the artifact store cannot be made or listed: is the volume mounted and writable?"
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another writer has the artifact.
    #[error("the lock {path:?} of the artifact cannot be acquired")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content cannot be made or written.
    #[error("the artifact {path:?} cannot be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The link to the current file cannot be set.
    #[error("the link {path:?} to the current artifact cannot be set")]
    Link {
        /// The link.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is there and cannot be read.
    #[error("the artifact {path:?} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file cannot be removed.
    #[error("{path:?} cannot be removed from the artifact store")]
    Remove {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The artifact has no digest, so nothing can be said about its file.
    #[error("artifact {path:?} has no digest")]
    NoDigest {
        /// The path of the artifact.
        path: String,
    },
    /// The file is not there.
    #[error("artifact {path:?} is not in the store")]
    Missing {
        /// The path of the artifact.
        path: String,
    },
    /// The file is not what it was.
    #[error("artifact {path:?} has another digest than {wanted}")]
    Mismatch {
        /// The path of the artifact.
        path: String,
        /// The digest it should have.
        wanted: Box<Digest>,
    },
}

impl Error {
    pub(super) fn directory(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Directory { path, source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Write { path, source }
    }

    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Read { path, source }
    }

    pub(super) fn remove(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        |source| Error::Remove { path, source }
    }
}
