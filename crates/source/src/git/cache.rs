//! What is kept of repositories between fetches, so that only what has changed is fetched again.
//!
//! ```text
//! <root>/<n>/              one process at a time holds the lock of a numbered directory
//!            lock
//!            key           a random key, readable by its owner alone
//!            <name>/       a repository of one owner, as the readers of one scope were given it
//!                       7/ a generation: objects/pack/…, and tips, the commits whose files are complete
//! ```
//!
//! A name is a keyed hash of the owner, the URL and the [`TrustScope`]: who reads (credentials), and whom they trust to be the server
//! (authorities, client certificate, proxy, known hosts). Readers of different scopes share nothing: neither objects, nor
//! `have` lines, nor what is known of the server. Owners of objects choose their proxies and authorities, so that the answer
//! of "the server" to one of them says nothing about what another may read. Names reveal no credential.
//!
//! Each repository has one owner, a namespace, whose share of the disk it counts for: the owner is part of the name. Two
//! namespaces that read the same repository fetch it each. So none can fill the share of another, or remove what another has,
//! or learn from a fetch what another has fetched.
//!
//! A pack becomes visible when it is complete, and a commit is a tip only after all its files were seen. So a process that
//! is killed leaves at worst files that nobody refers to. A generation that proves broken, or has collected too many
//! packs, is replaced by a new one; it goes when the last checkout of it does.

use std::collections::HashMap;
use std::fs::{self, DirEntry, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use sha2::Sha256;
use tempfile::TempDir;

use super::error::Cause;
use super::kept::KeptBytes;
use super::memory::Memory;
use super::quota::{DiskLimits, Quota, entries, is_directory};
use super::settings::Settings;
use super::slot::{Generation, Slot};
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

/// What is kept of one repository for one owner and the readers of one scope.
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
    /// The listings of files that are kept in memory.
    kept: KeptBytes,
    /// What names of directories are made with.
    key: [u8; 32],
    /// What goes with it.
    _temporary: Option<TempDir>,
}

/// Whose copy of which repository it is, and who was given it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    owner: String,
    url: String,
    scope: TrustScope,
}

#[derive(Debug, Default)]
struct Slots {
    by_key: HashMap<Key, (Arc<Slot>, u64)>,
    /// Counts uses: the slot with the smallest number is the least recently used one.
    used: u64,
}

impl Cache {
    /// Makes a cache in a directory of its own, which goes with the last clone.
    ///
    /// # Errors
    /// Where the directory cannot be made.
    pub fn temporary(parent: &Path) -> io::Result<Self> {
        Self::temporary_with(parent, DiskLimits::TEMPORARY)
    }

    /// As [`Cache::temporary`], with other limits.
    ///
    /// # Errors
    /// As [`Cache::temporary`].
    pub fn temporary_with(parent: &Path, limits: DiskLimits) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("sluice-bases-")
            .tempdir_in(parent)?;
        let lock = File::create(folder.path().join("lock"))?;
        let inner = Inner {
            root: folder.path().to_owned(),
            _lock: lock,
            slots: Mutex::default(),
            memory: Memory::default(),
            quota: Quota::new(limits),
            kept: KeptBytes::default(),
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
                        kept: KeptBytes::default(),
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

    /// Counts bytes that are received into a generation. Where they are too many, other repositories make room.
    ///
    /// # Errors
    /// Where there is no room left.
    pub(super) async fn charge(&self, generation: &Generation, bytes: u64) -> Result<(), Cause> {
        if generation.charge(bytes).is_ok() {
            return Ok(());
        }
        let (cache, owner) = (self.clone(), generation.owner.clone());
        let room = tokio::task::spawn_blocking(move || cache.make_room(&owner));
        room.await.map_err(|error| Cause::Pack(Box::new(error)))?;
        // The bytes are counted already.
        generation.charge(0)
    }

    /// Removes repositories that nobody uses right now until an owner's share and all together are within their limits.
    fn make_room(&self, owner: &str) {
        let mut idle: Vec<(u64, SystemTime, PathBuf)> = {
            let slots = self.inner.slots.lock();
            let known: HashMap<&Path, (&Arc<Slot>, u64)> = slots
                .by_key
                .values()
                .map(|(slot, used)| (slot.directory.as_path(), (slot, *used)))
                .collect();
            let directories = entries(&self.inner.root).filter(is_directory);
            directories
                .filter_map(|entry| {
                    let path = entry.path();
                    let last = match known.get(path.as_path()) {
                        Some((slot, _)) if slot.is_used() => return None,
                        Some((_, used)) => *used,
                        None => 0,
                    };
                    Some((last, entry.metadata().ok()?.modified().ok()?, path))
                })
                .collect()
        };
        idle.sort_unstable();
        let idle = idle.into_iter().map(|(.., path)| path).collect();
        let victims = self.inner.quota.victims(owner, idle);
        if !victims.is_empty() {
            self.remove(|entry| victims.contains(&entry.path()));
        }
    }

    /// Removes what is kept of one repository, unless somebody uses it right now.
    pub fn remove_mirror(&self, mirror: &Mirror) {
        self.remove(|entry| entry.path() == mirror.0);
    }

    /// The repository of these settings for the readers of a scope.
    pub(super) fn mirror(&self, settings: &Settings, scope: &TrustScope) -> Mirror {
        Mirror(self.inner.directory(&Key::new(settings, scope)))
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
                removed.extend(fs::rename(&path, &gone).is_ok().then_some((path, gone)));
            }
            // Of a repository that was never fetched there is no directory.
            slots
                .by_key
                .retain(|_, (slot, _)| slot.directory.exists() || slot.is_used());
        }
        for (path, gone) in removed {
            // What cannot be removed now is found again the next time.
            let _ = fs::remove_dir_all(&gone);
            for directory in [path, gone] {
                self.inner.quota.measure(&directory);
            }
        }
    }

    /// What is kept of the repository of these settings for the readers of a scope.
    pub(super) fn slot(&self, settings: &Settings, scope: &TrustScope) -> Arc<Slot> {
        let key = Key::new(settings, scope);
        let mut slots = self.inner.slots.lock();
        slots.used += 1;
        let used = slots.used;
        if slots.by_key.len() >= MAX_SLOTS && !slots.by_key.contains_key(&key) {
            slots.make_room();
        }
        let Inner {
            memory, quota, kept, ..
        } = &*self.inner;
        let new = |key: &Key| {
            let directory = self.inner.directory(key);
            quota.assign(&directory, &key.owner);
            let owner = key.owner.clone();
            let slot = Slot::new(directory, owner, memory.clone(), quota.clone(), kept.clone());
            (Arc::new(slot), used)
        };
        let (slot, last) = slots.by_key.entry(key).or_insert_with_key(new);
        *last = used;
        slot.date();
        slot.clone()
    }
}

impl Key {
    fn new(settings: &Settings, scope: &TrustScope) -> Self {
        Key {
            owner: settings.owner.clone(),
            url: settings.url.to_string(),
            scope: *scope,
        }
    }
}

impl Inner {
    /// The directory of a repository.
    fn directory(&self, Key { owner, url, scope }: &Key) -> PathBuf {
        let mut hash = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        hash.update(scope.fingerprint().as_bytes());
        hash.update(&(owner.len() as u64).to_le_bytes());
        hash.update(owner.as_bytes());
        hash.update(url.as_bytes());
        let hash = hash.finalize().into_bytes();
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        self.root.join(name)
    }
}

impl Slots {
    /// Forgets the least recently used slot that nobody uses right now, of the owner that has the most of them.
    fn make_room(&mut self) {
        let idle = || self.by_key.iter().filter(|(_, (slot, _))| !slot.is_used());
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for (key, _) in idle() {
            *counts.entry(&key.owner).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        let of_most = idle().filter(|(key, _)| most.is_some_and(|(owner, _)| key.owner == owner));
        let oldest = of_most.min_by_key(|(_, (_, last))| *last);
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
        slot_for(cache, "ada")
    }

    /// The slot of a reader.
    fn slot_for(cache: &Cache, reader: &str) -> Arc<Slot> {
        cache.slot(&settings(""), &scope(reader))
    }

    fn settings(owner: &str) -> Settings {
        let mut settings = Settings::new("https://example.com/app.git".parse().unwrap());
        owner.clone_into(&mut settings.owner);
        settings
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
    fn an_owner_makes_room_with_what_it_does_not_use() {
        let root = tempfile::tempdir().unwrap();
        let limits = DiskLimits {
            total: 10_000,
            owner: 2500,
        };
        let cache = Cache::open_with(root.path(), limits).unwrap();
        let kept = ["oldest", "older", "newest"].map(|name| {
            let slot = cache.slot(&settings("mallory"), &scope(name));
            let generation = slot.generation().unwrap();
            fs::write(generation.objects().join("pack/big"), [0; 1000]).unwrap();
            generation.charge(0).unwrap();
            generation.measure();
            (slot, generation)
        });
        let other = cache.slot(&settings("ada"), &scope("oldest"));
        let others = other.generation().unwrap();
        fs::write(others.objects().join("pack/big"), [0; 1000]).unwrap();
        others.charge(1000).unwrap();
        assert_ne!(
            other.directory, kept[0].0.directory,
            "each owner has its own copy"
        );
        let directory = other.directory.clone();
        drop((other, others));
        let directories = kept.each_ref().map(|(slot, _)| slot.directory.clone());
        let left = || directories.each_ref().map(|directory| directory.exists());
        cache.make_room("mallory");
        assert_eq!(left(), [true; 3], "somebody uses them");
        drop(kept);
        cache.make_room("ada");
        assert_eq!(left(), [true; 3], "others have nothing to do with her share");
        cache.make_room("mallory");
        assert_eq!(left(), [false, true, true]);
        cache.make_room("mallory");
        assert_eq!(left(), [false, true, true]);
        assert!(directory.exists());
    }

    #[test]
    fn what_an_earlier_process_left_counts_for_its_owner_again() {
        let root = tempfile::tempdir().unwrap();
        let limits = DiskLimits {
            total: 10_000,
            owner: 500,
        };
        let open = || Cache::open_with(root.path(), limits).unwrap();
        let cache = open();
        let slot = cache.slot(&settings("mallory"), &scope("one"));
        let generation = slot.generation().unwrap();
        fs::write(generation.objects().join("pack/pack-big.pack"), [0; 1000]).unwrap();
        drop((slot, generation, cache));
        let cache = open();
        let other = cache.slot(&settings("mallory"), &scope("other"));
        other.generation().unwrap().charge(10).unwrap();
        let _again = cache.slot(&settings("mallory"), &scope("one"));
        other.generation().unwrap().charge(10).unwrap_err();
    }

    #[test]
    fn readers_of_different_scopes_have_directories_of_their_own_in_every_process() {
        let root = tempfile::tempdir().unwrap();
        let names = || {
            let cache = Cache::open(root.path()).unwrap();
            ["ada", "bob"].map(|name| slot_for(&cache, name).directory.clone())
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
        let few = Arc::downgrade(&cache.slot(&settings("ada"), &scope("ada")));
        for number in 0..MAX_SLOTS + 10 {
            slot_for(&cache, &number.to_string());
        }
        assert_eq!(cache.inner.slots.lock().by_key.len(), MAX_SLOTS);
        assert!(Arc::ptr_eq(&used, &slot_of(&cache)), "one that is used stays");
        assert!(
            few.upgrade().is_some(),
            "who has few makes no room for who has many"
        );
        drop(used);
        cache.remove_unused(SystemTime::now());
        assert!(cache.inner.slots.lock().by_key.is_empty());
    }
}
