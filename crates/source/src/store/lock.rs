//! The lock of one artifact, which dies with its process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Error;
use super::place::LOCK;

const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// Held while an artifact is written. The file goes with it.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks the artifact. The system has no way to be told when a file is unlocked, so another writer is waited for by
    /// asking again, and not for long.
    pub(super) fn acquire(artifact: &Path) -> Result<Self, Error> {
        let mut path = artifact.as_os_str().to_owned();
        path.push(LOCK);
        let path = PathBuf::from(path);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match attempt(&path) {
                Ok(Some(file)) => return Ok(Lock { path, _file: file }),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Ok(None) => {
                    let source = io::Error::new(io::ErrorKind::TimedOut, "another writer holds it");
                    return Err(Error::Lock { path, source });
                }
                Err(source) => return Err(Error::Lock { path, source }),
            }
        }
    }

    /// Whether someone alive holds the lock at a path.
    pub(super) fn is_held(path: &Path) -> io::Result<bool> {
        // Network file systems lock only what is open for writing.
        match File::options().read(true).write(true).open(path)?.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The locked file, or nothing where another one has it.
fn attempt(path: &Path) -> io::Result<Option<File>> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // Whoever had it before may have removed the file between our opening and locking it: then we hold nothing.
    match fs::metadata(path) {
        Ok(found) if found.ino() == file.metadata()?.ino() => Ok(Some(file)),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // It is removed while it is held. Where that fails, it is removed when the store is opened.
        let _ = fs::remove_file(&self.path);
    }
}
