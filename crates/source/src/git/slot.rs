//! What is kept of one repository: generations of packs, and the commits that are complete.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use gix_hash::ObjectId;
use parking_lot::Mutex;

use super::error::Cause;
use super::kept::{Kept, KeptBytes};
use super::listing::Listing;
use super::memory::Memory;
use super::quota::Quota;
use super::receive;
use super::transport::Known;

/// How many commits are remembered: those of the references that objects of one cluster follow in one repository.
const MAX_TIPS: usize = 32;
/// How many packs a generation collects. Then one full clone costs less than looking into all of them.
const MAX_PACKS: usize = 64;
/// How exactly it is known when a repository was last used.
const DATED_FOR: Duration = Duration::from_secs(60 * 60);

/// What is kept of one repository for one owner and the readers of one scope.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) directory: PathBuf,
    /// Whose share of the disk it counts for.
    owner: String,
    /// What is known of its server.
    pub(super) known: Mutex<Option<Known>>,
    /// Locked while files are looked at, never while a server is asked.
    current: Mutex<Option<Arc<Generation>>>,
    /// The transfers that are under way.
    turns: Mutex<HashMap<ObjectId, Weak<Turn>>>,
    /// When the directory was last said to be used.
    dated: Mutex<Option<Instant>>,
    memory: Memory,
    quota: Quota,
    kept: KeptBytes,
}

/// Held by the one reader that transfers an object. Readers that want the same object of the same server wait for it, each no
/// longer than its own deadline.
type Turn = tokio::sync::Mutex<()>;

impl Slot {
    pub(super) fn new(
        directory: PathBuf,
        owner: String,
        memory: Memory,
        quota: Quota,
        kept: KeptBytes,
    ) -> Self {
        Slot {
            directory,
            owner,
            known: Mutex::default(),
            current: Mutex::default(),
            turns: Mutex::default(),
            dated: Mutex::default(),
            memory,
            quota,
            kept,
        }
    }

    /// The turn to transfer an object.
    pub(super) fn turn(&self, want: ObjectId) -> Arc<Turn> {
        let mut turns = self.turns.lock();
        if let Some(turn) = turns.get(&want).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::default());
        turns.insert(want, Arc::downgrade(&turn));
        turn
    }

    /// Says that it is used: by the time of its directory, so that a later process knows.
    pub(super) fn date(&self) {
        let mut dated = self.dated.lock();
        if dated.is_none_or(|last| last.elapsed() >= DATED_FOR) {
            *dated = Some(Instant::now());
            // One that is not there yet is as new as can be.
            let _ = File::open(&self.directory).and_then(|own| own.set_modified(SystemTime::now()));
        }
    }

    /// Whether somebody has it beside the cache, or reads its files.
    pub(super) fn is_used(self: &Arc<Self>) -> bool {
        let is_read = |current: &Option<Arc<Generation>>| {
            let generation = current.as_ref();
            generation.is_some_and(|generation| Arc::strong_count(generation) > 1)
        };
        Arc::strong_count(self) > 1 || self.current.try_lock().is_none_or(|current| is_read(&current))
    }

    /// The generation to fetch into.
    pub(super) fn generation(&self) -> Result<Arc<Generation>, Cause> {
        let mut current = self.current.lock();
        if current.is_none() {
            *current = self.newest()?;
        }
        match &*current {
            Some(generation) if !generation.is_worn() => Ok(generation.clone()),
            _ => self.begin(&mut current),
        }
    }

    /// The generation to fetch into after this one proved broken: a new one, unless another reader has begun one already.
    pub(super) fn replace(&self, broken: &Arc<Generation>) -> Result<Arc<Generation>, Cause> {
        let mut current = self.current.lock();
        match &*current {
            Some(other) if !Arc::ptr_eq(other, broken) => Ok(other.clone()),
            _ => self.begin(&mut current),
        }
    }

    /// Begins a new generation in place of the present one.
    fn begin(&self, current: &mut Option<Arc<Generation>>) -> Result<Arc<Generation>, Cause> {
        let number = self.numbers()?.into_iter().max().unwrap_or_default() + 1;
        if let Some(old) = current.take() {
            old.retire();
        }
        let generation = Arc::new(self.at(number));
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
        let generation = self.at(*newest);
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

    fn at(&self, number: u64) -> Generation {
        Generation {
            directory: self.directory.join(number.to_string()),
            slot: self.directory.clone(),
            owner: self.owner.clone(),
            is_retired: AtomicBool::new(false),
            changing_tips: Mutex::default(),
            listing: Mutex::default(),
            kept: self.kept.clone(),
            memory: self.memory.clone(),
            quota: self.quota.clone(),
        }
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
    pub(super) directory: PathBuf,
    /// The directory of the repository.
    slot: PathBuf,
    /// Whose share of the disk it counts for.
    pub(super) owner: String,
    is_retired: AtomicBool,
    /// Held while the list of tips changes.
    changing_tips: Mutex<()>,
    /// The files that this process has seen to be there last, if there was room to keep them.
    listing: Mutex<Option<Kept>>,
    kept: KeptBytes,
    /// What its objects are read into.
    pub(super) memory: Memory,
    quota: Quota,
}

impl Generation {
    /// Counts bytes that are received for it. They are counted even when they are too many.
    pub(super) fn charge(&self, bytes: u64) -> Result<(), Cause> {
        self.quota.charge(&self.slot, &self.owner, bytes)
    }

    /// Counts what is on disk, after something was received or was not.
    pub(super) fn measure(&self) {
        self.quota.measure(&self.slot);
    }

    /// The files that this process has seen to be there last.
    pub(super) fn listing(&self) -> Option<Arc<Listing>> {
        let kept = self.listing.lock();
        kept.as_ref().map(|kept| Arc::clone(&kept.listing))
    }

    /// Keeps a list of files for the next fetch in place of the last one, if there is room for it.
    pub(super) fn keep_listing(&self, listing: &Arc<Listing>) {
        let mut kept = self.listing.lock();
        drop(kept.take());
        *kept = self.kept.keep(&self.owner, listing);
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
        let _changing = self.changing_tips.lock();
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
            self.measure();
        }
    }
}
