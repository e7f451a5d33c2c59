//! The bytes on disk that fetched repositories have: all together, and those of each owner.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::error::Cause;

/// How many bytes a cache may have on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
    /// All repositories together.
    pub total: u64,
    /// The repositories of one owner ([`super::Settings::owner`]).
    pub owner: u64,
}

impl Default for DiskLimits {
    fn default() -> Self {
        DiskLimits {
            total: 8 << 30,
            owner: 4 << 30,
        }
    }
}

/// What is on disk, by the directory of a repository. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Quota(Arc<State>);

#[derive(Debug)]
struct State {
    limits: DiskLimits,
    repositories: Mutex<HashMap<PathBuf, Repository>>,
}

#[derive(Debug, Default)]
struct Repository {
    /// Who fetched it first. It is empty for what another process has left.
    owner: String,
    bytes: u64,
}

impl Quota {
    pub(super) fn new(limits: DiskLimits) -> Self {
        Quota(Arc::new(State {
            limits,
            repositories: Mutex::default(),
        }))
    }

    pub(super) fn limits(&self) -> DiskLimits {
        self.0.limits
    }

    /// The bytes of all repositories.
    pub(super) fn total(&self) -> u64 {
        let repositories = self.0.repositories.lock();
        repositories.values().map(|repository| repository.bytes).sum()
    }

    /// Adds bytes that are received for a repository, unless there are too many then.
    pub(super) fn charge(&self, directory: &Path, owner: &str, bytes: u64) -> Result<(), Cause> {
        let mut repositories = self.0.repositories.lock();
        let charged = repositories.entry(directory.to_owned()).or_default();
        if charged.owner.is_empty() {
            owner.clone_into(&mut charged.owner);
        }
        charged.bytes += bytes;
        let owner = charged.owner.clone();
        let (mut own, mut all) = (0, 0);
        for repository in repositories.values() {
            all += repository.bytes;
            if repository.owner == owner {
                own += repository.bytes;
            }
        }
        let limits = self.0.limits;
        if own > limits.owner {
            return Err(Cause::Share {
                owner,
                limit: limits.owner,
            });
        }
        match all > limits.total {
            true => Err(Cause::Full(limits.total)),
            false => Ok(()),
        }
    }

    /// Counts what a repository has on disk now.
    pub(super) fn measure(&self, directory: &Path) {
        let bytes = size_of(directory);
        let mut repositories = self.0.repositories.lock();
        match bytes {
            0 => drop(repositories.remove(directory)),
            _ => repositories.entry(directory.to_owned()).or_default().bytes = bytes,
        }
    }

    /// Counts all repositories below a directory anew, and none that are gone.
    pub(super) fn measure_all(&self, root: &Path) {
        let known: Vec<PathBuf> = self.0.repositories.lock().keys().cloned().collect();
        let found = entries(root).filter(is_directory).map(|entry| entry.path());
        for directory in known.into_iter().chain(found) {
            self.measure(&directory);
        }
    }
}

/// The entries of a directory, as far as they can be read.
pub(super) fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

pub(super) fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// The bytes of all files below a directory.
pub(super) fn size_of(directory: &Path) -> u64 {
    let sizes = entries(directory).map(|entry| match is_directory(&entry) {
        true => size_of(&entry.path()),
        false => entry.metadata().map_or(0, |metadata| metadata.len()),
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_and_all_together_have_their_limits() {
        let quota = Quota::new(DiskLimits {
            total: 150,
            owner: 100,
        });
        let charge = |name: &str, owner: &str, bytes: u64| quota.charge(Path::new(name), owner, bytes);
        charge("/none/a", "mallory", 60).unwrap();
        charge("/none/b", "mallory", 40).unwrap();
        assert!(matches!(
            charge("/none/b", "mallory", 1).unwrap_err(),
            Cause::Share { owner, limit: 100 } if owner == "mallory"
        ));
        quota.measure(Path::new("/none/b"));
        charge("/none/c", "ada", 90).unwrap();
        assert!(matches!(
            charge("/none/c", "ada", 1).unwrap_err(),
            Cause::Full(150)
        ));
        quota.measure_all(Path::new("/none"));
        assert_eq!(quota.total(), 0);
    }
}
