//! Where units are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::{Failure, Operation, Status, SyncUnit};

/// Keeps units: custom resources, files, or [memory](MemoryStore).
///
/// The engine asks for a unit when somebody says that it changed, and writes only where something differs. What it writes is
/// enough for another process to go on from.
///
/// What is owed: whoever reads after a write has returned sees what was written, also where a cache stands in between. Methods are called from
/// several tasks at a time, for one unit too: `set_status` and `set_operation` may come at the same time, and neither undoes
/// the other. Each has a minute to answer; after that, and after a failure or a panic, it is asked again later. A write that was given up may
/// have been done or not.
pub trait SyncUnitStore: Send + Sync + 'static {
    /// All units. It is called when the engine begins, until it answers, and before something is pruned, as another unit may want
    /// it: then a store of many thousands of units should not take long.
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>>;

    /// One unit; nothing if it is gone. Then everything is forgotten about it; what it applied stays.
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>>;

    /// Writes what has become of a unit, all of it; nothing else about the unit changes. For a unit that is gone it is a failure, and
    /// must not bring it back.
    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>>;

    /// Asks for an operation, or takes a request away, if what is asked for is `from` now. Whether it was: one that somebody else has
    /// made meanwhile stays. For a unit that is gone it is a failure.
    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>>;
}

/// Whoever asks for operations keeps a handle of the store that the engine has.
impl<T: SyncUnitStore + ?Sized> SyncUnitStore for Arc<T> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        (**self).list()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        (**self).get(id)
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        (**self).set_status(id, status)
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        (**self).set_operation(id, from, to)
    }
}

/// Keeps units in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    units: Arc<Mutex<BTreeMap<String, SyncUnit>>>,
}

impl MemoryStore {
    /// A store with these units.
    pub fn new(units: impl IntoIterator<Item = SyncUnit>) -> Self {
        let store = MemoryStore::default();
        for unit in units {
            store.put(unit);
        }
        store
    }

    /// Adds a unit or replaces it. The engine has to be [told](crate::Engine::refresh).
    pub fn put(&self, unit: SyncUnit) {
        self.units.lock().insert(unit.id.clone(), unit);
    }

    /// Takes a unit out. What it applied stays. The engine has to be [told](crate::Engine::refresh).
    pub fn remove(&self, id: &str) -> Option<SyncUnit> {
        self.units.lock().remove(id)
    }

    /// A unit as it is now.
    pub fn unit(&self, id: &str) -> Option<SyncUnit> {
        self.units.lock().get(id).cloned()
    }

    pub(super) fn change<T>(&self, id: &str, change: impl FnOnce(&mut SyncUnit) -> T) -> Result<T, Failure> {
        match self.units.lock().get_mut(id) {
            Some(unit) => Ok(change(unit)),
            None => Err(Failure::new(format!("there is no unit {id:?}"))),
        }
    }
}

impl SyncUnitStore for MemoryStore {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async { Ok(self.units.lock().values().cloned().collect()) })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async { Ok(self.unit(id)) })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { self.change(id, |unit| unit.status = status) })
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async move {
            self.change(id, |unit| {
                let is_it = unit.operation.as_ref() == from;
                if is_it {
                    unit.operation = to;
                }
                is_it
            })
        })
    }
}
