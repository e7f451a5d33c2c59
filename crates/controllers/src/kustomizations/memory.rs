//! What a process knows of its units beside what their objects say.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use builder::Reads;
use engine::unit::{Operation, Status};
use parking_lot::Mutex;

use super::beyond::{Asks, Held};
use super::ignored::Ignored;
use super::packed::Packed;
use crate::kit::Failure;

/// How far the last attempt to build a unit got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    /// The revision of the source.
    pub(super) revision: String,
    /// What the source itself was made of.
    pub(super) origin: Option<String>,
    /// How far it got.
    pub(super) stage: Stage,
}

/// How far an attempt got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// There is an artifact.
    Found,
    /// What it depends on is ready.
    Fetching,
    /// Its path is in the artifact.
    Building,
    /// It is built.
    Built,
}

/// What a build depends on, but for what is read from the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The artifact: its revision and its digest.
    pub(super) artifact: String,
    /// A digest of what is to be made of it.
    pub(super) spec: String,
}

/// What was built of a unit last.
#[derive(Clone, Debug)]
pub(super) struct Built {
    /// What it was built of: where that is the same, so is the build.
    pub(super) of: Origin,
    /// The objects.
    pub(super) manifests: Packed,
    /// The revision of the source that it is applied as.
    pub(super) revision: String,
    /// The newest revision of the source that is known to be built to the same.
    pub(super) source: String,
    /// What the source itself was made of.
    pub(super) origin: Option<String>,
    /// What of the files it was made of; nothing where it was made of more than files.
    pub(super) reads: Option<Arc<Reads>>,
    /// The digest of the objects as text, by which the history knows them.
    pub(super) digest: String,
    /// When what is in the cluster was read for it: variables and keys.
    pub(super) read: Instant,
}

/// What is known of a unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    /// Which object it is of: another one of the same name begins anew.
    pub(super) uid: Option<String>,
    /// What the engine has written last.
    pub(super) status: Option<Status>,
    /// What is asked for.
    pub(super) operation: Option<Operation>,
    /// The last request for a run that was taken note of.
    pub(super) requested: Option<String>,
    /// How often somebody has asked how it is: with a request for a run, a new spec, or what is beyond Flux.
    pub(super) asked: u64,
    /// How many of them the status answers that the engine has written last.
    pub(super) answered: u64,
    /// How far the last attempt got.
    pub(super) attempt: Option<Attempt>,
    /// Why nothing was built last.
    pub(super) failure: Option<Failure>,
    /// What was built last.
    pub(super) built: Option<Arc<Built>>,
    /// What the object has asked for beyond Flux when it was last seen.
    pub(super) asks: Asks,
    /// What waits to be confirmed before it is pruned.
    pub(super) held: Option<Held>,
    /// Whether something has changed that was read from the cluster for it.
    pub(super) is_stale: bool,
    /// Its ignore rules, as they were read last.
    pub(super) ignored: Option<Ignored>,
    /// Since when it is worked on.
    pub(super) started: Option<Instant>,
}

/// Whether the object of a unit, by its id and uid, is there.
type IsThere = Box<dyn Fn(&str, Option<&str>) -> bool + Send + Sync>;

/// What is known of all units whose objects are there.
#[derive(Default)]
pub(super) struct Memory {
    units: Mutex<HashMap<String, Remembered>>,
    is_there: OnceLock<IsThere>,
}

impl Memory {
    /// Keeps nothing of objects that are gone from now on. Whoever removes an object from those that are there forgets its unit after that.
    pub(super) fn only_of(&self, is_there: impl Fn(&str, Option<&str>) -> bool + Send + Sync + 'static) {
        // There is one list of objects, and the first who knows it says so.
        let _ = self.is_there.set(Box::new(is_there));
    }

    /// What is known of a unit of this object.
    pub(super) fn get(&self, id: &str, uid: Option<&str>) -> Remembered {
        let units = self.units.lock();
        let known = units.get(id).filter(|unit| unit.uid.as_deref() == uid);
        known.cloned().unwrap_or_else(|| Remembered::of(uid))
    }

    /// Changes what is known of a unit of this object. Of an object that is gone nothing is kept.
    pub(super) fn change<T>(
        &self,
        id: &str,
        uid: Option<&str>,
        change: impl FnOnce(&mut Remembered) -> T,
    ) -> T {
        let mut units = self.units.lock();
        if let Some(unit) = units.get_mut(id).filter(|unit| unit.uid.as_deref() == uid) {
            return change(unit);
        }
        let mut unit = Remembered::of(uid);
        let changed = change(&mut unit);
        // Where the object goes now, whoever forgets it waits for the lock.
        if self.is_there.get().is_none_or(|is_there| is_there(id, uid)) {
            units.insert(id.to_owned(), unit);
        }
        changed
    }

    /// Forgets a unit that is gone.
    pub(super) fn forget(&self, id: &str) {
        self.units.lock().remove(id);
    }

    /// Forgets the unit of an object that is gone, unless another one has taken its name.
    pub(super) fn forget_of(&self, id: &str, uid: Option<&str>) {
        let mut units = self.units.lock();
        if units.get(id).is_some_and(|unit| unit.uid.as_deref() == uid) {
            units.remove(id);
        }
    }

    /// The number of units that something is known of.
    pub(super) fn len(&self) -> usize {
        self.units.lock().len()
    }
}

impl Remembered {
    fn of(uid: Option<&str>) -> Self {
        Remembered {
            uid: uid.map(str::to_owned),
            ..Remembered::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn nothing_is_kept_of_an_object_that_is_gone() {
        let (memory, is_there) = (Memory::default(), Arc::new(AtomicBool::new(true)));
        memory.only_of({
            let is_there = Arc::clone(&is_there);
            move |_, uid| uid == Some("1") && is_there.load(Ordering::SeqCst)
        });
        let ask = |uid| memory.change("app", Some(uid), |unit| unit.requested = Some(uid.to_owned()));
        assert_eq!((memory.get("app", Some("1")).requested, memory.len()), (None, 0));
        ask("1");
        assert_eq!(memory.get("app", Some("1")).requested.as_deref(), Some("1"));
        ask("0");
        assert_eq!(
            memory.get("app", Some("0")).requested,
            None,
            "another has its name"
        );
        assert_eq!(memory.get("app", Some("1")).requested.as_deref(), Some("1"));
        is_there.store(false, Ordering::SeqCst);
        memory.forget_of("app", Some("1"));
        ask("1");
        assert_eq!(memory.len(), 0, "a run that goes on takes note of nothing");
    }
}
