//! What is kept of repositories between fetches, so that only what has changed is fetched again.
//!
//! ```text
//! <root>/<n>/              one process at a time holds the lock of a numbered directory
//!            lock
//!            key           a random key, readable by its owner alone
//!            <name>/       a repository, as the readers of one scope were given it
//!                       7/ a generation: objects/pack/…, and tips, the commits whose files are complete
//! ```
//!
//! A name is a keyed hash of the URL and of the [`TrustScope`]: who reads (credentials), and whom they trust to be the server
//! (authorities, client certificate, proxy, known hosts). Readers of different scopes share nothing: neither objects, nor
//! `have` lines, nor what is known of the server. Owners of objects choose their proxies and authorities, so that the answer
//! of "the server" to one of them says nothing about what another may read. Names reveal no credential.
//!
//! A pack becomes visible when it is complete, and a commit is a tip only after all its files were seen. So a process that
//! is killed leaves at worst files that nobody refers to. A generation that proves broken, or has collected too many
//! packs, is replaced by a new one; it goes when the last checkout of it does.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use sha2::Sha256;
use tempfile::TempDir;

use super::memory::Memory;
use super::quota::{DiskLimits, Quota, entries, is_directory, size_of};
use super::slot::Slot;
use super::url::Url;
use crate::trust::TrustScope;

/// How many processes can share a root.
const MAX_PROCESSES: usize = 256;
/// How many repositories are held in memory. What is on disk of the others is found again.
const MAX_SLOTS: usize = 4096;
/// The file with the key that names of directories are made with.
const KEY_FILE: &str = "key";

/// Repositories that were fetched before, on disk. Clones share them.
#[derive(Clone, Debug)]
pub struct Cache {
    inner: Arc<Inner>,
}

/// What is kept of one repository for the readers of one scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mirror(PathBuf);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    /// Held for as long as this lives; a process that dies lets go of it.
    _lock: File,
    slots: Mutex<Slots>,
    /// What objects of all repositories are read into.
    memory: Memory,
    /// What is on disk.
    quota: Quota,
    /// What names of directories are made with.
    key: [u8; 32],
    /// What goes with it.
    _temporary: Option<TempDir>,
}

#[derive(Debug, Default)]
struct Slots {
    by_key: HashMap<(String, TrustScope), (Arc<Slot>, u64)>,
    /// Counts uses: the slot with the smallest number is the least recently used one.
    used: u64,
}

impl Cache {
    /// Makes a cache in a directory of its own, which goes with the last clone.
    ///
    /// # Errors
    /// Where the directory cannot be made.
    pub fn temporary(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("sluice-bases-")
            .tempdir_in(parent)?;
        let lock = File::create(folder.path().join("lock"))?;
        let inner = Inner {
            root: folder.path().to_owned(),
            _lock: lock,
            slots: Mutex::default(),
            memory: Memory::default(),
            quota: Quota::new(DiskLimits::default()),
            key: random_key()?,
            _temporary: Some(folder),
        };
        Ok(Cache {
            inner: Arc::new(inner),
        })
    }

    /// Opens or makes a cache in a directory. Several processes can do so at once; each gets a part of its own.
    ///
    /// # Errors
    /// Where the directory cannot be written to.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        Self::open_with(root, DiskLimits::default())
    }

    /// As [`Cache::open`], with other limits.
    ///
    /// # Errors
    /// As [`Cache::open`].
    pub fn open_with(root: impl AsRef<Path>, limits: DiskLimits) -> io::Result<Self> {
        for number in 0..MAX_PROCESSES {
            let root = root.as_ref().join(number.to_string());
            fs::create_dir_all(&root)?;
            let lock = File::create(root.join("lock"))?;
            match lock.try_lock() {
                Ok(()) => {
                    let inner = Inner {
                        key: stored_key(&root)?,
                        root,
                        _lock: lock,
                        slots: Mutex::default(),
                        memory: Memory::default(),
                        quota: Quota::new(limits),
                        _temporary: None,
                    };
                    inner.quota.measure_all(&inner.root);
                    return Ok(Cache {
                        inner: Arc::new(inner),
                    });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "too many processes share the cache of Git repositories",
        ))
    }

    /// Removes what is kept of repositories that were not used since a time, except of those that somebody uses right now.
    pub fn remove_unused(&self, since: SystemTime) {
        self.remove(|entry| {
            let metadata = entry.metadata();
            metadata.is_ok_and(|metadata| metadata.modified().is_ok_and(|modified| modified < since))
        });
    }

    /// Removes repositories until all together have at most so many bytes. Those that were not used for the longest time go first,
    /// and none that somebody uses right now.
    pub fn remove_beyond(&self, bytes: u64) {
        let mut kept: Vec<(SystemTime, PathBuf, u64)> = entries(&self.inner.root)
            .filter(is_directory)
            .filter_map(|entry| {
                let (path, used) = (entry.path(), entry.metadata().ok()?.modified().ok()?);
                let size = size_of(&path);
                Some((used, path, size))
            })
            .collect();
        kept.sort_unstable_by(|one, other| other.cmp(one));
        let mut total = 0u64;
        let beyond = kept.into_iter().filter_map(|(_, path, size)| {
            total = total.saturating_add(size);
            (total > bytes).then_some(path)
        });
        let beyond: HashSet<PathBuf> = beyond.collect();
        if !beyond.is_empty() {
            self.remove(|entry| beyond.contains(&entry.path()));
        }
    }

    /// Makes room for one more repository, where little is left: the least recently used ones go.
    pub(super) fn make_room(&self) {
        let total = self.inner.quota.limits().total;
        if self.inner.quota.total() > total / 4 * 3 {
            self.remove_beyond(total / 2);
        }
    }

    /// Removes what is kept of one repository, unless somebody uses it right now.
    pub fn remove_mirror(&self, mirror: &Mirror) {
        self.remove(|entry| entry.path() == mirror.0);
    }

    /// The repository of a URL for the readers of a scope.
    pub(super) fn mirror(&self, url: &Url, scope: &TrustScope) -> Mirror {
        Mirror(self.inner.root.join(self.inner.name(&(url.to_string(), *scope))))
    }

    /// Removes the repositories whose directory a rule applies to, except those that somebody uses right now.
    fn remove(&self, applies: impl Fn(&DirEntry) -> bool) {
        let mut removed = Vec::new();
        {
            // Nobody comes to a repository while it is looked at.
            let mut slots = self.inner.slots.lock();
            for entry in entries(&self.inner.root) {
                let path = entry.path();
                let is_used = |slot: &Arc<Slot>| slot.directory == path && slot.is_used();
                if !is_directory(&entry)
                    || !applies(&entry)
                    || slots.by_key.values().any(|(slot, _)| is_used(slot))
                {
                    continue;
                }
                slots.by_key.retain(|_, (slot, _)| slot.directory != path);
                // Its name is free from now on, and the rest can take its time.
                let gone = path.with_extension("gone");
                removed.extend(fs::rename(&path, &gone).is_ok().then_some(gone));
            }
            // Of a repository that was never fetched there is no directory.
            slots
                .by_key
                .retain(|_, (slot, _)| slot.directory.exists() || slot.is_used());
        }
        for path in removed {
            // What cannot be removed now is found again the next time.
            let _ = fs::remove_dir_all(path);
        }
        self.inner.quota.measure_all(&self.inner.root);
    }

    /// What is kept of a repository for the readers of a scope.
    pub(super) fn slot(&self, url: &Url, scope: &TrustScope) -> Arc<Slot> {
        let key = (url.to_string(), *scope);
        let mut slots = self.inner.slots.lock();
        slots.used += 1;
        let used = slots.used;
        if slots.by_key.len() >= MAX_SLOTS && !slots.by_key.contains_key(&key) {
            slots.make_room();
        }
        let directory = || self.inner.root.join(self.inner.name(&key));
        let (slot, last) = slots.by_key.entry(key.clone()).or_insert_with(|| {
            (
                Arc::new(Slot::new(
                    directory(),
                    self.inner.memory.clone(),
                    self.inner.quota.clone(),
                )),
                used,
            )
        });
        *last = used;
        slot.date();
        slot.clone()
    }
}

impl Inner {
    /// The name of a directory.
    fn name(&self, (url, scope): &(String, TrustScope)) -> String {
        let mut hash = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        hash.update(scope.fingerprint().as_bytes());
        hash.update(url.as_bytes());
        let hash = hash.finalize().into_bytes();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Slots {
    /// Forgets the least recently used slot that nobody uses right now.
    fn make_room(&mut self) {
        let idle = self.by_key.iter().filter(|(_, (slot, _))| !slot.is_used());
        let oldest = idle.min_by_key(|(_, (_, last))| *last);
        if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
            self.by_key.remove(&oldest);
        }
    }
}

fn random_key() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    aws_lc_rs::rand::fill(&mut key).map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(key)
}

/// The key of a directory, made where there is none. Repositories with names of another key are never found again, and go when
/// they are too old.
fn stored_key(root: &Path) -> io::Result<[u8; 32]> {
    let path = root.join(KEY_FILE);
    match fs::read(&path).map(<[u8; 32]>::try_from) {
        Ok(Ok(key)) => return Ok(key),
        Ok(Err(_)) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let key = random_key()?;
    // Files of this kind are readable by their owner alone.
    let mut file = tempfile::NamedTempFile::new_in(root)?;
    file.write_all(&key)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gix_hash::ObjectId;

    use super::*;
    use crate::trust::Fingerprint;

    fn scope(name: &str) -> TrustScope {
        let of = |kind: &str| Fingerprint::builder(kind).text(name).build();
        TrustScope::new(&of("identity"), &of("trust"))
    }

    fn slot_of(cache: &Cache) -> Arc<Slot> {
        cache.slot(&url(), &scope("ada"))
    }

    fn url() -> Url {
        "https://example.com/app.git".parse().unwrap()
    }

    fn id(digit: &str) -> ObjectId {
        ObjectId::from_hex(digit.repeat(40).as_bytes()).unwrap()
    }

    #[test]
    fn each_process_has_a_part_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let first = Cache::open(root.path()).unwrap();
        let second = Cache::open(root.path()).unwrap();
        assert_ne!(first.inner.root, second.inner.root);
        let used = first.inner.root.clone();
        drop(first);
        assert_eq!(Cache::open(root.path()).unwrap().inner.root, used);
    }

    #[test]
    fn a_temporary_one_leaves_nothing_behind() {
        let parent = tempfile::tempdir().unwrap();
        let cache = Cache::temporary(parent.path()).unwrap();
        let clone = cache.clone();
        drop(cache);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        drop(clone);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_later_process_finds_what_was_kept_and_clears_the_rest() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        let slot = slot_of(&cache);
        let generation = slot.generation().unwrap();
        generation.add_tip(id("1")).unwrap();
        generation.add_tip(id("2")).unwrap();
        generation.add_tip(id("1")).unwrap();
        let left = generation.objects().join("pack/tmp-half");
        fs::write(&left, "x").unwrap();
        drop((slot, generation, cache));

        let slot = slot_of(&Cache::open(root.path()).unwrap());
        let again = slot.generation().unwrap();
        assert_eq!(again.tips(), [id("2"), id("1")]);
        assert!(!left.exists());
    }

    #[test]
    fn a_broken_generation_is_replaced_and_goes_with_its_last_user() {
        let root = tempfile::tempdir().unwrap();
        let slot = slot_of(&Cache::open(root.path()).unwrap());
        let broken = slot.generation().unwrap();
        broken.condemn();
        let fresh = slot.generation().unwrap();
        assert_ne!(fresh.directory, broken.directory);
        let directory = broken.directory.clone();
        assert!(directory.exists());
        drop(broken);
        assert!(!directory.exists());
    }

    #[test]
    fn repositories_that_nobody_used_for_long_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        let hour = Duration::from_secs(3600);
        let (past, future) = (SystemTime::now() - hour, SystemTime::now() + hour);
        let slot = slot_of(&cache);
        let generation = slot.generation().unwrap();
        let directory = slot.directory.clone();
        cache.remove_unused(future);
        assert!(directory.exists(), "somebody is about to fetch");
        drop(slot);
        cache.remove_unused(future);
        assert!(directory.exists(), "a checkout is read");
        drop(generation);
        cache.remove_unused(past);
        assert!(directory.exists(), "it was used a moment ago");
        cache.remove_unused(future);
        assert!(!directory.exists());
        assert!(cache.inner.slots.lock().by_key.is_empty());

        // What an earlier process has left goes too, and what comes back begins anew.
        let slot = slot_of(&cache);
        slot.generation().unwrap();
        drop((slot, cache));
        let cache = Cache::open(root.path()).unwrap();
        File::open(&directory).unwrap().set_modified(past).unwrap();
        slot_of(&cache);
        cache.remove_unused(past + hour / 2);
        assert!(directory.exists(), "that it is used is written down");
        File::open(&directory).unwrap().set_modified(past).unwrap();
        cache.remove_unused(past + hour / 2);
        assert!(!directory.exists());
        let slot = slot_of(&cache);
        let generation = slot.generation().unwrap();
        assert!(generation.tips().is_empty());
    }

    #[test]
    fn repositories_together_keep_only_so_many_bytes() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        let kept = ["oldest", "older", "newest"].map(|name| {
            let slot = cache.slot(&url(), &scope(name));
            let generation = slot.generation().unwrap();
            fs::write(generation.objects().join("pack/big"), [0; 1000]).unwrap();
            (slot, generation)
        });
        let directories = kept.each_ref().map(|(slot, _)| slot.directory.clone());
        let left = || directories.each_ref().map(|directory| directory.exists());
        let hour = Duration::from_secs(3600);
        for (directory, age) in directories.iter().zip([3, 2, 1]) {
            let used = SystemTime::now() - age * hour;
            File::open(directory).unwrap().set_modified(used).unwrap();
        }
        cache.remove_beyond(0);
        assert_eq!(left(), [true; 3], "somebody uses them");
        drop(kept);
        cache.remove_beyond(1 << 20);
        assert_eq!(left(), [true; 3]);
        cache.remove_beyond(2500);
        assert_eq!(left(), [false, true, true]);
        cache.remove_beyond(0);
        assert_eq!(left(), [false; 3]);
    }

    #[test]
    fn readers_of_different_scopes_have_directories_of_their_own_in_every_process() {
        let root = tempfile::tempdir().unwrap();
        let names = || {
            let cache = Cache::open(root.path()).unwrap();
            ["ada", "bob"].map(|name| cache.slot(&url(), &scope(name)).directory.clone())
        };
        let first = names();
        assert_ne!(first[0], first[1]);
        assert_eq!(names(), first);
        // With another key nobody can tell which credentials a name was made of.
        fs::remove_file(root.path().join("0").join(KEY_FILE)).unwrap();
        assert_ne!(names(), first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let key = fs::metadata(root.path().join("0").join(KEY_FILE)).unwrap();
            assert_eq!(key.permissions().mode() & 0o077, 0);
        }
    }

    #[test]
    fn repositories_that_were_never_fetched_do_not_pile_up() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        let used = slot_of(&cache);
        for number in 0..MAX_SLOTS + 10 {
            cache.slot(&url(), &scope(&number.to_string()));
        }
        assert_eq!(cache.inner.slots.lock().by_key.len(), MAX_SLOTS);
        assert!(Arc::ptr_eq(&used, &slot_of(&cache)), "one that is used stays");
        drop(used);
        cache.remove_unused(SystemTime::now());
        assert!(cache.inner.slots.lock().by_key.is_empty());
    }
}
