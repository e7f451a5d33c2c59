//! The bytes on disk that fetched repositories have: all together, and those of each owner.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::error::Cause;

/// How many bytes a cache may have on disk.
///
/// Packs are counted as they are received. While a pack is indexed there are two copies of it, so that at worst twice the
/// bytes are on disk for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
    /// All repositories together.
    pub total: u64,
    /// The repositories of one owner ([`super::Settings::owner`]).
    pub owner: u64,
}

impl DiskLimits {
    /// The limits for what is only a copy of files for builds, such as the bases of kustomizations.
    pub const TEMPORARY: DiskLimits = DiskLimits {
        total: 4 << 30,
        owner: 2 << 30,
    };
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

/// The bytes of one repository.
#[derive(Clone, Debug, Default)]
struct Repository {
    /// Whose it is. It is empty for what another process has left and nobody has used since.
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

    /// Names the owner of a repository that is on disk already.
    pub(super) fn assign(&self, directory: &Path, owner: &str) {
        if let Some(repository) = self.0.repositories.lock().get_mut(directory) {
            owner.clone_into(&mut repository.owner);
        }
    }

    /// Adds bytes that are received for a repository of an owner. They are counted even when they are too many.
    pub(super) fn charge(&self, directory: &Path, owner: &str, bytes: u64) -> Result<(), Cause> {
        let mut repositories = self.0.repositories.lock();
        let charged = repositories.entry(directory.to_owned()).or_default();
        owner.clone_into(&mut charged.owner);
        charged.bytes += bytes;
        let limits = self.0.limits;
        let (mut own, mut all) = (0, 0);
        for repository in repositories.values() {
            all += repository.bytes;
            if repository.owner == owner {
                own += repository.bytes;
            }
        }
        if own > limits.owner {
            return Err(Cause::Share {
                owner: owner.to_owned(),
                limit: limits.owner,
            });
        }
        match all > limits.total {
            true => Err(Cause::Full(limits.total)),
            false => Ok(()),
        }
    }

    /// Chooses the repositories that make room for an owner. `idle` are those that nobody uses right now, the least recently used
    /// ones first.
    ///
    /// An owner whose share is full makes room with repositories of its own. Where all together are too many, whoever has the
    /// most gives way, unless the owner has more: nobody loses anything to an owner with more bytes.
    pub(super) fn victims(&self, owner: &str, mut idle: Vec<PathBuf>) -> HashSet<PathBuf> {
        let mut repositories = self.0.repositories.lock().clone();
        let (limits, mut victims) = (self.0.limits, HashSet::new());
        loop {
            let all = Bytes::of(repositories.values());
            let is_share_full = all.of_owner(owner) > limits.owner;
            let weight = |path: &PathBuf| {
                let found = &repositories.get(path)?.owner;
                let may_go = match is_share_full {
                    true => found == owner,
                    false => all.total > limits.total && all.weight(found) >= all.weight(owner),
                };
                may_go.then(|| all.weight(found))
            };
            let weights = idle.iter().enumerate();
            let weights = weights.filter_map(|(at, path)| Some((weight(path)?, Reverse(at))));
            // Of those of one owner, the least recently used one.
            let Some((_, Reverse(at))) = weights.max() else {
                return victims;
            };
            let victim = idle.remove(at);
            repositories.remove(&victim);
            victims.insert(victim);
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

    /// Counts all repositories below a directory.
    pub(super) fn measure_all(&self, root: &Path) {
        for entry in entries(root).filter(is_directory) {
            self.measure(&entry.path());
        }
    }
}

/// The bytes of repositories by owner.
struct Bytes<'a> {
    total: u64,
    owners: HashMap<&'a str, u64>,
}

impl<'a> Bytes<'a> {
    fn of(repositories: impl Iterator<Item = &'a Repository>) -> Self {
        let mut bytes = Bytes {
            total: 0,
            owners: HashMap::new(),
        };
        for repository in repositories {
            bytes.total += repository.bytes;
            *bytes.owners.entry(&repository.owner).or_default() += repository.bytes;
        }
        bytes
    }

    fn of_owner(&self, owner: &str) -> u64 {
        self.owners.get(owner).copied().unwrap_or_default()
    }

    /// Who weighs most gives way first: repositories without an owner before all others.
    fn weight(&self, owner: &str) -> u64 {
        match owner {
            "" => u64::MAX,
            owner => self.of_owner(owner),
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

    fn quota(total: u64, owner: u64) -> Quota {
        Quota::new(DiskLimits { total, owner })
    }

    #[test]
    fn an_owner_and_all_together_have_their_limits() {
        let quota = quota(150, 100);
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
        quota.measure(Path::new("/none/a"));
        charge("/none/c", "ada", 1).unwrap();
    }

    #[test]
    fn whoever_has_the_most_makes_room() {
        let quota = quota(100, 60);
        let idle = || ["/left", "/m1", "/a1", "/m2", "/m3"].map(PathBuf::from).to_vec();
        let victims = |owner: &str| {
            let mut victims: Vec<_> = quota.victims(owner, idle()).into_iter().collect();
            victims.sort();
            victims
        };
        for (name, owner, bytes) in [
            ("/left", "", 10),
            ("/m1", "mallory", 20),
            ("/m2", "mallory", 20),
            ("/m3", "mallory", 15),
            ("/a1", "ada", 20),
        ] {
            quota.charge(Path::new(name), owner, bytes).unwrap();
        }
        assert_eq!(victims("ada"), Vec::<PathBuf>::new(), "there is room");
        // Mallory's share is full: she makes room herself, from what she used least recently.
        quota.charge(Path::new("/m4"), "mallory", 6).unwrap_err();
        assert_eq!(victims("mallory"), [PathBuf::from("/m1")]);
        quota.measure(Path::new("/m4"));
        // All is full: what is nobody's goes first, then of Mallory, who has the most.
        quota.charge(Path::new("/b1"), "bob", 30).unwrap_err();
        assert_eq!(victims("bob"), ["/left", "/m1"].map(PathBuf::from));
        // For Mallory nobody else makes room, though Ada used hers less recently than Mallory her last two.
        quota.measure(Path::new("/m3"));
        quota.charge(Path::new("/b1"), "bob", 1).unwrap_err();
        quota.charge(Path::new("/m4"), "mallory", 10).unwrap_err();
        assert_eq!(victims("mallory"), ["/left", "/m1"].map(PathBuf::from));
    }
}
