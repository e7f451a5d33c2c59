//! What the engine tells, and to whom. Callbacks run outside of every lock, in the order in which they were added, on the worker that has
//! something to tell: they hand on what takes long. One that panics is told of and called again the next time.

use std::sync::Arc;

use model::ObjectKey;

use crate::cache::Entry;
use crate::plan::Plan;
use crate::unit::{Failure, OperationState, SyncUnit};

use super::callbacks::{Callbacks, Subscription};
use super::{Engine, Shared};

/// What is told of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitEvent {
    /// What kind of thing happened.
    pub kind: UnitEventKind,
    /// What happened, for people: nothing where the kind says it all, and several lines where a plan or many objects are told.
    pub message: String,
}

/// What can happen to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitEventKind {
    /// It was looked at, and its status is another one now. What an operation comes to is told by the events of that.
    Changed,
    /// Its cluster is not as its source says, and was before. The message is the plan.
    OutOfSync,
    /// An operation began.
    Started,
    /// An operation waits.
    Waiting,
    /// What somebody has changed about objects of an operation that waits was put right.
    Corrected,
    /// An operation ended well.
    Succeeded,
    /// An operation ended because something newer is to be done.
    Superseded,
    /// It is in another cluster than before, and what it has made stays where it was.
    Moved,
    /// A callback has refused an operation.
    Vetoed,
    /// Something failed.
    Failed,
}

type BeforeSync = dyn Fn(&SyncUnit, Plan) -> Result<Plan, Failure> + Send + Sync;
type SyncCompleted = dyn Fn(&str, &OperationState) + Send + Sync;
type CacheInitialized = dyn Fn(&str) + Send + Sync;
type ResourceUpdated = dyn Fn(&str, &Entry) + Send + Sync;
type ResourceRemoved = dyn Fn(&str, &ObjectKey) + Send + Sync;
type OnUnitEvent = dyn Fn(&str, &UnitEvent) + Send + Sync;

/// Who is told of what.
#[derive(Default)]
pub(super) struct Told {
    pub(super) before_sync: Callbacks<BeforeSync>,
    pub(super) sync_completed: Callbacks<SyncCompleted>,
    pub(super) cache_initialized: Callbacks<CacheInitialized>,
    pub(super) resource_updated: Callbacks<ResourceUpdated>,
    pub(super) resource_removed: Callbacks<ResourceRemoved>,
    pub(super) unit_event: Callbacks<OnUnitEvent>,
}

impl Engine {
    /// Before an operation begins: the plan may be changed, or the operation refused. Steps can be taken out; what the unit has
    /// afterwards follows from those that are left ([`Plan::edited`]). A unit of which something is left out is out of sync, and callbacks are
    /// asked again each time that it is looked at; an operation begins only if they leave something to do.
    ///
    /// It may be called several times for one operation, also for dry runs and for deletions
    /// ([`SyncUnit::is_deleting`], whose plans have no revision): it has no effects of its own. What somebody has asked for and a callback
    /// refuses is not answered: why is in the unit's errors, and callbacks are asked again after [`Policy::retry`](field@crate::unit::Policy::retry),
    /// when something changes, and when [`Engine::refresh`] is said. Who gives it up takes it out of the store. A dry run that is
    /// refused has failed.
    pub fn on_before_sync(
        &self,
        callback: impl Fn(&SyncUnit, Plan) -> Result<Plan, Failure> + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.before_sync.add(Arc::new(callback))
    }

    /// After an operation has ended: [`OperationState::request`] is whose answer this is. The status of the unit may be that of a later operation
    /// by the time that somebody reads it.
    pub fn on_sync_completed(
        &self,
        callback: impl Fn(&str, &OperationState) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.sync_completed.add(Arc::new(callback))
    }

    /// When all that units have in the cluster of this name was looked at for the first time since it is followed.
    pub fn on_cluster_cache_initialized(
        &self,
        callback: impl Fn(&str) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.cache_initialized.add(Arc::new(callback))
    }

    /// When an object that is followed was created or changed, in the cluster of this name.
    pub fn on_resource_updated(
        &self,
        callback: impl Fn(&str, &Entry) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.resource_updated.add(Arc::new(callback))
    }

    /// When an object that is followed is gone.
    pub fn on_resource_removed(
        &self,
        callback: impl Fn(&str, &ObjectKey) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.resource_removed.add(Arc::new(callback))
    }

    /// Whatever happens to units.
    pub fn on_unit_event(&self, callback: impl Fn(&str, &UnitEvent) + Send + Sync + 'static) -> Subscription {
        self.shared.told.unit_event.add(Arc::new(callback))
    }
}

impl Shared {
    pub(super) fn tell(&self, unit: &str, kind: UnitEventKind, message: impl Into<String>) {
        let event = UnitEvent {
            kind,
            message: message.into(),
        };
        for panic in self.told.unit_event.each(|callback| callback(unit, &event)) {
            // Those who would be told are those who cannot take it.
            tracing::error!(%unit, %panic, "a callback of on_unit_event panicked");
        }
    }

    /// Calls all callbacks of a kind for a unit. What panics is told.
    pub(super) fn call<F>(&self, unit: &str, kind: &str, callbacks: &Callbacks<F>, call: impl Fn(&F))
    where
        F: ?Sized + Send + Sync + 'static,
    {
        for panic in callbacks.each(call) {
            tracing::error!(%unit, %panic, "a callback of {kind} panicked");
            let message = format!("a callback of {kind} panicked: {panic}");
            self.tell(unit, UnitEventKind::Failed, message);
        }
    }

    /// An operation has ended.
    pub(super) fn completed(&self, unit: &str, state: &OperationState) {
        let callbacks = &self.told.sync_completed;
        self.call(unit, "on_sync_completed", callbacks, |callback| {
            callback(unit, state)
        });
    }
}
