//! The engine: keeps units in sync, by two queues.
//!
//! ```text
//!  refresh ─▶ status queue ─▶ generate ─▶ observe ─▶ plan ─▶ operation queue ─▶ sync ─▶ status
//!     ▲                                                            ▲ waits end           │
//!     └──────────────────────── what the cache sees ───────────────┴─────────────────────┘
//! ```
//!
//! Looking at a unit takes milliseconds and is done often; an operation takes seconds and may wait for minutes, which holds no
//! worker. Each unit is worked on by one of each at most.

mod callbacks;
mod clusters;
mod known;
mod operate;
mod refresh;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use model::ObjectKey;
use parking_lot::RwLock;

use crate::cache::Entry;
use crate::cluster::Counts;
use crate::plan::Plan;
use crate::queue::{Backoff, Queue};
use crate::unit::{
    CredentialsStore, Failure, ManifestGenerator, OperationState, ReconciliationSettings, SyncUnit,
    SyncUnitStore,
};

pub use callbacks::Subscription;

use callbacks::Callbacks;
use clusters::Clusters;
use known::Units;

/// Keeps units in sync with their sources. Clones are handles to the same engine.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

/// What is told of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitEvent {
    /// What kind of thing happened.
    pub kind: UnitEventKind,
    /// What happened, for people.
    pub message: String,
}

/// What can happen to a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitEventKind {
    /// It was looked at, and its status is another one now.
    Changed,
    /// Its cluster is not as its source says.
    OutOfSync,
    /// An operation began.
    Started,
    /// An operation waits.
    Waiting,
    /// An operation ended well.
    Succeeded,
    /// Something failed.
    Failed,
}

type BeforeSync = dyn Fn(&SyncUnit, Plan) -> Result<Plan, Failure> + Send + Sync;
type SyncCompleted = dyn Fn(&str, &OperationState) + Send + Sync;
type CacheInitialized = dyn Fn(&str) + Send + Sync;
type ResourceUpdated = dyn Fn(&str, &Entry) + Send + Sync;
type ResourceRemoved = dyn Fn(&str, &ObjectKey) + Send + Sync;
type OnUnitEvent = dyn Fn(&str, &UnitEvent) + Send + Sync;

struct Shared {
    units: Arc<dyn SyncUnitStore>,
    manifests: Arc<dyn ManifestGenerator>,
    clusters: Clusters,
    settings: RwLock<Arc<ReconciliationSettings>>,
    known: Units,
    status: Queue<String>,
    operations: Queue<String>,
    looks: AtomicU64,
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    told: Told,
}

/// Who is told of what.
#[derive(Default)]
struct Told {
    before_sync: Callbacks<BeforeSync>,
    sync_completed: Callbacks<SyncCompleted>,
    cache_initialized: Callbacks<CacheInitialized>,
    resource_updated: Callbacks<ResourceUpdated>,
    resource_removed: Callbacks<ResourceRemoved>,
    unit_event: Callbacks<OnUnitEvent>,
}

impl Engine {
    /// An engine for the units of a store.
    pub fn new(
        settings: ReconciliationSettings,
        clusters: impl CredentialsStore,
        manifests: impl ManifestGenerator,
        units: impl SyncUnitStore,
    ) -> Self {
        let shared = Shared {
            units: Arc::new(units),
            manifests: Arc::new(manifests),
            clusters: Clusters::new(Arc::new(clusters)),
            settings: RwLock::new(Arc::new(settings)),
            known: Units::default(),
            status: Queue::new(Backoff::default()),
            operations: Queue::new(Backoff::default()),
            looks: AtomicU64::new(0),
            now: Box::new(Timestamp::now),
            told: Told::default(),
        };
        Engine {
            shared: Arc::new(shared),
        }
    }

    /// Works on units until `until` is ready: so many at a time are looked at, and so many operations go on at a time.
    pub async fn run(
        &self,
        status_processors: usize,
        operation_processors: usize,
        until: impl Future<Output = ()>,
    ) {
        let mut work = tokio::task::JoinSet::new();
        for _ in 0..status_processors.max(1) {
            work.spawn(refresh::work(Arc::clone(&self.shared)));
        }
        for _ in 0..operation_processors.max(1) {
            work.spawn(operate::work(Arc::clone(&self.shared)));
        }
        work.spawn(clusters::follow_clusters(Arc::clone(&self.shared)));
        refresh::all(&self.shared).await;
        until.await;
        self.shared.status.close();
        self.shared.operations.close();
        // What is under way ends where it is: everything can be gone on with.
        work.shutdown().await;
        self.shared.clusters.clear();
    }

    /// Says that a unit has changed: it is looked at now.
    pub fn refresh(&self, unit: &str) {
        self.shared.status.add(unit.to_owned());
    }

    /// Ends the operation of a unit, if one is under way.
    pub fn terminate(&self, unit: &str) {
        self.shared.known.terminate(unit);
        self.shared.operations.add(unit.to_owned());
    }

    /// How many requests were sent to a cluster so far; nothing if no unit is in it.
    pub fn requests(&self, cluster: &str) -> Option<Counts> {
        let open = self.shared.clusters.there(cluster)?;
        Some(open.cluster.counts())
    }

    /// How often a unit was looked at so far.
    pub fn looks(&self) -> u64 {
        self.shared.looks.load(Ordering::Relaxed)
    }

    /// Changes what holds for all units. Only what it touches is done again.
    pub fn set_reconciliation_settings(&self, settings: ReconciliationSettings) {
        *self.shared.settings.write() = Arc::new(settings);
        self.shared.settings_changed();
    }

    /// Before an operation begins: the plan may be changed, or the operation refused.
    pub fn on_before_sync(
        &self,
        callback: impl Fn(&SyncUnit, Plan) -> Result<Plan, Failure> + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.before_sync.add(Arc::new(callback))
    }

    /// After an operation has ended.
    pub fn on_sync_completed(
        &self,
        callback: impl Fn(&str, &OperationState) + Send + Sync + 'static,
    ) -> Subscription {
        self.shared.told.sync_completed.add(Arc::new(callback))
    }

    /// When all that units have in a cluster is known for the first time.
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
    fn settings(&self) -> Arc<ReconciliationSettings> {
        Arc::clone(&self.settings.read())
    }

    fn tell(&self, unit: &str, kind: UnitEventKind, message: impl Into<String>) {
        let event = UnitEvent {
            kind,
            message: message.into(),
        };
        for callback in self.told.unit_event.all() {
            callback(unit, &event);
        }
    }
}
