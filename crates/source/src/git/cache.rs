//! What is kept of repositories between fetches, so that only what has changed is fetched again.
//!
//! ```text
//! <root>/<n>/              one process at a time holds the lock of a numbered directory
//!            lock
//!            <url hash>/   a repository
//!                       7/ a generation: objects/pack/…, and tips, the commits whose files are complete
//! ```
//!
//! A pack becomes visible when it is complete, and a commit is a tip only after all its files were seen. So a process that
//! is killed leaves at worst files that nobody refers to. A generation that proves broken, or has collected too many
//! packs, is replaced by a new one; it goes when the last checkout of it does.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use gix_hash::ObjectId;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::error::Cause;
use super::listing::Listing;
use super::receive;
use super::transport::Known;
use super::url::Url;

/// How many processes can share a root.
const MAX_PROCESSES: usize = 256;
/// How many commits are remembered: those of the references that objects of one cluster follow in one repository.
const MAX_TIPS: usize = 32;
/// How many packs a generation collects. Then one full clone costs less than looking into all of them.
const MAX_PACKS: usize = 64;
/// How exactly it is known when a repository was last used.
const DATED_FOR: Duration = Duration::from_secs(60 * 60);

/// Repositories that were fetched before, on disk. Clones share them.
#[derive(Clone, Debug)]
pub struct Cache {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    /// Held for as long as this lives; a process that dies lets go of it.
    _lock: File,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
    /// What goes with it.
    _temporary: Option<TempDir>,
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
        for number in 0..MAX_PROCESSES {
            let root = root.as_ref().join(number.to_string());
            fs::create_dir_all(&root)?;
            let lock = File::create(root.join("lock"))?;
            match lock.try_lock() {
                Ok(()) => {
                    let inner = Inner {
                        root,
                        _lock: lock,
                        slots: Mutex::default(),
                        _temporary: None,
                    };
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
        let mut removed = Vec::new();
        {
            // Nobody comes to a repository while it is looked at.
            let mut slots = self.inner.slots.lock();
            let directories = fs::read_dir(&self.inner.root).into_iter().flatten().flatten();
            for entry in directories {
                let is_old = entry.metadata().is_ok_and(|metadata| {
                    metadata.is_dir() && metadata.modified().is_ok_and(|modified| modified < since)
                });
                let path = entry.path();
                let slot = slots.iter().find(|(_, slot)| slot.directory == path);
                if !is_old || slot.is_some_and(|(_, slot)| slot.is_used()) {
                    continue;
                }
                if let Some(url) = slot.map(|(url, _)| url.clone()) {
                    slots.remove(&url);
                }
                // Its name is free from now on, and the rest can take its time.
                let gone = path.with_extension("gone");
                removed.extend(fs::rename(&path, &gone).is_ok().then_some(gone));
            }
        }
        for path in removed {
            // What cannot be removed now is found again the next time.
            let _ = fs::remove_dir_all(path);
        }
    }

    pub(super) fn slot(&self, url: &Url) -> Arc<Slot> {
        let name = url.to_string();
        let mut slots = self.inner.slots.lock();
        let slot = slots.entry(name.clone()).or_insert_with(|| {
            let hash: String = Sha256::digest(name.as_bytes())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            Arc::new(Slot {
                directory: self.inner.root.join(&hash[..32]),
                known: Mutex::default(),
                current: tokio::sync::Mutex::default(),
                dated: Mutex::default(),
            })
        });
        slot.date();
        slot.clone()
    }
}

/// What is kept of one repository.
#[derive(Debug)]
pub(super) struct Slot {
    directory: PathBuf,
    /// What is known of its server.
    pub(super) known: Mutex<Option<Known>>,
    /// Held while it is fetched.
    pub(super) current: tokio::sync::Mutex<Option<Arc<Generation>>>,
    /// When the directory was last said to be used.
    dated: Mutex<Option<Instant>>,
}

impl Slot {
    /// Says that it is used: by the time of its directory, so that a later process knows.
    fn date(&self) {
        let mut dated = self.dated.lock();
        if dated.is_none_or(|last| last.elapsed() >= DATED_FOR) {
            *dated = Some(Instant::now());
            // One that is not there yet is as new as can be.
            let _ = File::open(&self.directory).and_then(|own| own.set_modified(SystemTime::now()));
        }
    }

    /// Whether somebody has it beside the cache, or reads its files.
    fn is_used(self: &Arc<Self>) -> bool {
        let is_read = |current: &Option<Arc<Generation>>| {
            let generation = current.as_ref();
            generation.is_some_and(|generation| Arc::strong_count(generation) > 1)
        };
        Arc::strong_count(self) > 1 || self.current.try_lock().map_or(true, |current| is_read(&current))
    }

    /// The generation to fetch into.
    pub(super) fn generation(&self, current: &mut Option<Arc<Generation>>) -> Result<Arc<Generation>, Cause> {
        if current.is_none() {
            *current = self.newest()?;
        }
        match current {
            Some(generation) if !generation.is_worn() => Ok(generation.clone()),
            _ => self.replace(current),
        }
    }

    /// A new generation in place of the present one.
    pub(super) fn replace(&self, current: &mut Option<Arc<Generation>>) -> Result<Arc<Generation>, Cause> {
        let number = self.numbers()?.into_iter().max().unwrap_or_default() + 1;
        if let Some(old) = current.take() {
            old.retire();
        }
        let generation = Arc::new(Generation::new(self.directory.join(number.to_string())));
        receive::prepare(&generation.objects())?;
        *current = Some(generation.clone());
        Ok(generation)
    }

    /// The newest generation that an earlier process left; what else it left is removed.
    fn newest(&self) -> Result<Option<Arc<Generation>>, Cause> {
        let numbers = self.numbers()?;
        let Some(newest) = numbers.iter().max() else {
            return Ok(None);
        };
        for old in numbers.iter().filter(|number| *number != newest) {
            let _ = fs::remove_dir_all(self.directory.join(old.to_string()));
        }
        let generation = Generation::new(self.directory.join(newest.to_string()));
        let packs = receive::prepare(&generation.objects())?;
        for entry in fs::read_dir(packs).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !(name.starts_with("pack-") && (name.ends_with(".pack") || name.ends_with(".idx"))) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Some(Arc::new(generation)))
    }

    fn numbers(&self) -> Result<Vec<u64>, Cause> {
        let failed = |source| Cause::Cache {
            what: format!("reading {}", self.directory.display()),
            source,
        };
        fs::create_dir_all(&self.directory).map_err(failed)?;
        let entries = fs::read_dir(&self.directory).map_err(failed)?;
        Ok(entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect())
    }
}

/// Objects of a repository, and the commits among them that are complete.
#[derive(Debug)]
pub(super) struct Generation {
    directory: PathBuf,
    is_retired: AtomicBool,
    /// The files that this process has seen to be there last.
    pub(super) listing: Mutex<Option<Arc<Listing>>>,
}

impl Generation {
    fn new(directory: PathBuf) -> Self {
        Generation {
            directory,
            is_retired: AtomicBool::new(false),
            listing: Mutex::default(),
        }
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.directory.join("objects")
    }

    /// The commits that are here with all their files, oldest first.
    pub(super) fn tips(&self) -> Vec<ObjectId> {
        let text = fs::read_to_string(self.directory.join("tips")).unwrap_or_default();
        text.lines()
            .filter_map(|line| ObjectId::from_hex(line.as_bytes()).ok())
            .collect()
    }

    /// Remembers a commit that is complete. It replaces the list in one step.
    pub(super) fn add_tip(&self, id: ObjectId) -> Result<(), Cause> {
        let mut tips = self.tips();
        if tips.last() == Some(&id) {
            return Ok(());
        }
        tips.retain(|tip| *tip != id);
        tips.push(id);
        let kept = &tips[tips.len().saturating_sub(MAX_TIPS)..];
        let text: String = kept.iter().map(|id| format!("{id}\n")).collect();
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
            file.write_all(text.as_bytes())?;
            file.persist(self.directory.join("tips"))
                .map_err(|error| error.error)
        };
        let what = || format!("writing to {}", self.directory.display());
        write()
            .map(drop)
            .map_err(|source| Cause::Cache { what: what(), source })
    }

    /// Something here is broken: no fetch shall build on it.
    pub(super) fn condemn(&self) {
        // If even this cannot be written, the next fetch meets the broken object again.
        let _ = File::create(self.directory.join("condemned"));
    }

    fn is_worn(&self) -> bool {
        let packs = fs::read_dir(self.objects().join("pack")).map_or(0, Iterator::count) / 2;
        self.directory.join("condemned").exists() || packs >= MAX_PACKS
    }

    fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        if self.is_retired.load(Ordering::Relaxed) {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[tokio::test]
    async fn a_later_process_finds_what_was_kept_and_clears_the_rest() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        let slot = cache.slot(&url());
        let generation = slot.generation(&mut *slot.current.lock().await).unwrap();
        generation.add_tip(id("1")).unwrap();
        generation.add_tip(id("2")).unwrap();
        generation.add_tip(id("1")).unwrap();
        let left = generation.objects().join("pack/tmp-half");
        fs::write(&left, "x").unwrap();
        drop((slot, generation, cache));

        let slot = Cache::open(root.path()).unwrap().slot(&url());
        let again = slot.generation(&mut *slot.current.lock().await).unwrap();
        assert_eq!(again.tips(), [id("2"), id("1")]);
        assert!(!left.exists());
    }

    #[tokio::test]
    async fn a_broken_generation_is_replaced_and_goes_with_its_last_user() {
        let root = tempfile::tempdir().unwrap();
        let slot = Cache::open(root.path()).unwrap().slot(&url());
        let mut current = slot.current.lock().await;
        let broken = slot.generation(&mut current).unwrap();
        broken.condemn();
        let fresh = slot.generation(&mut current).unwrap();
        assert_ne!(fresh.directory, broken.directory);
        let directory = broken.directory.clone();
        assert!(directory.exists());
        drop(broken);
        assert!(!directory.exists());
    }

    #[tokio::test]
    async fn repositories_that_nobody_used_for_long_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(root.path()).unwrap();
        let hour = Duration::from_secs(3600);
        let (past, future) = (SystemTime::now() - hour, SystemTime::now() + hour);
        let slot = cache.slot(&url());
        let generation = slot.generation(&mut *slot.current.lock().await).unwrap();
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
        assert!(cache.inner.slots.lock().is_empty());

        // What an earlier process has left goes too, and what comes back begins anew.
        let slot = cache.slot(&url());
        slot.generation(&mut *slot.current.lock().await).unwrap();
        drop((slot, cache));
        let cache = Cache::open(root.path()).unwrap();
        File::open(&directory).unwrap().set_modified(past).unwrap();
        cache.slot(&url());
        cache.remove_unused(past + hour / 2);
        assert!(directory.exists(), "that it is used is written down");
        File::open(&directory).unwrap().set_modified(past).unwrap();
        cache.remove_unused(past + hour / 2);
        assert!(!directory.exists());
        let slot = cache.slot(&url());
        let generation = slot.generation(&mut *slot.current.lock().await).unwrap();
        assert!(generation.tips().is_empty());
    }
}
