//! The engine: keeps units in sync, by two queues.
//!
//! ```text
//!  refresh ─▶ status queue ─▶ generate ─▶ observe ─▶ plan ─▶ operation queue ─▶ sync ─▶ status
//!     ▲       (look)                                 (begin)       ▲ waits end  (operate)│
//!     └──────────────────────── what the cache sees ───────────────┴─────────────────────┘
//! ```
//!
//! Looking at a unit takes milliseconds and is done often; an operation takes seconds and may wait for minutes, which holds no
//! worker. Each unit is worked on by one of each at most.

mod answers;
mod around;
mod arrived;
mod awaited;
mod begin;
mod callbacks;
mod claims;
mod clusters;
mod corrections;
mod desired;
mod ended;
mod events;
mod follow;
#[cfg(test)]
mod forgotten;
mod found;
mod generate;
mod guarded;
mod heard;
mod intent;
mod known;
mod look;
mod mending;
mod operate;
mod prove;
mod remote;
mod restless;
mod sharing;

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use jiff::Timestamp;
use parking_lot::RwLock;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::cache::Assess;
use crate::cluster::Counts;
use crate::diff::Normaliser;
use crate::health::{Evaluations, Rules};
use crate::queue::{Backoff, Queue};
use crate::unit::{CredentialsStore, ManifestGenerator, ReconciliationSettings, SyncUnitStore};
use crate::workers::{SlowWork, Workers};

pub use callbacks::Subscription;
pub use events::{UnitEvent, UnitEventKind};

use clusters::Clusters;
use events::Told;
use follow::Starting;
use guarded::Guarded;
use heard::Heard;
use known::Units;
use remote::RemoteQueue;

/// Held by each task that works on a unit: a run ends when all are dropped.
type Alive = mpsc::Sender<Infallible>;

/// Keeps units in sync with their sources. Clones are handles to the same engine.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    units: Arc<dyn SyncUnitStore>,
    manifests: Arc<dyn ManifestGenerator>,
    clusters: Clusters,
    settings: RwLock<Arc<ReconciliationSettings>>,
    normaliser: Normaliser,
    /// How objects are doing where nothing special is said of their kind or by their unit. It is one for all time: other settings are no reason
    /// to look at all objects again.
    health: Arc<dyn Assess>,
    /// Where the rules of units are evaluated, in all clusters.
    evaluations: Evaluations,
    known: Units,
    heard: Heard,
    starting: Starting,
    status: Queue<String>,
    operations: Queue<String>,
    generations: SlowWork,
    /// Those of them that wait for a worker for clusters that others vouch for.
    remote_status: Arc<RemoteQueue>,
    remote_operations: Arc<RemoteQueue>,
    /// Whether it runs, or has run.
    started: AtomicBool,
    looks: AtomicU64,
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    told: Told,
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
            units: Arc::new(Guarded(units)),
            manifests: Arc::new(Guarded(manifests)),
            clusters: Clusters::new(Arc::new(Guarded(clusters))),
            settings: RwLock::new(Arc::new(settings)),
            normaliser: Normaliser::new(Arc::new(smd::schema::Schema::builtin())),
            health: Arc::new(Rules::default()),
            evaluations: Evaluations::default(),
            known: Units::default(),
            heard: Heard::default(),
            starting: Starting::default(),
            status: Queue::new(Backoff::default()),
            operations: Queue::new(Backoff::default()),
            generations: generate::generations(),
            remote_status: Arc::default(),
            remote_operations: Arc::default(),
            started: AtomicBool::new(false),
            looks: AtomicU64::new(0),
            now: Box::new(Timestamp::now),
            told: Told::default(),
        };
        Engine {
            shared: Arc::new(shared),
        }
    }

    /// Works on units until `until` is ready: so many at a time are looked at, and so many operations go on at a time. Units in clusters
    /// that [others vouch for](crate::unit::Access::vouched_by) hold none of these workers: everyone who vouches has half as many of their own.
    /// A unit whose manifests take long to generate holds no worker meanwhile.
    /// Panics of what was brought along end nothing: they are told, and what they were about is tried again.
    ///
    /// What is under way at the end is not waited for: it ends where it is, and is gone on with by whoever runs an engine on the same store next. So
    /// it does where the future is dropped. Subscriptions end by themselves, and end nothing but callbacks.
    ///
    /// # Errors
    /// It runs already or has run, or one of its tasks has died.
    pub async fn run(
        &self,
        status_processors: usize,
        operation_processors: usize,
        until: impl Future<Output = ()>,
    ) -> Result<(), RunError> {
        if self.shared.started.swap(true, Ordering::AcqRel) {
            return Err(RunError::Again);
        }
        let mut work = JoinSet::new();
        let (alive, mut ended_all) = mpsc::channel(1);
        let ended = tokio::select! {
            () = until => Ok(()),
            died = self.work(status_processors, operation_processors, &mut work, alive) => Err(RunError::Died(died)),
        };
        self.shared.status.close();
        self.shared.operations.close();
        // What is under way ends where it is: everything can be gone on with.
        work.shutdown().await;
        ended_all.recv().await;
        self.shared.let_go();
        ended
    }

    /// Works until a task dies, and tells what of.
    async fn work(&self, status: usize, operations: usize, work: &mut JoinSet<()>, alive: Alive) -> String {
        work.spawn(clusters::follow_clusters(Arc::clone(&self.shared)));
        look::all(&self.shared).await;
        work.spawn(look::work(
            Arc::clone(&self.shared),
            Workers::new(status),
            alive.clone(),
        ));
        for _ in 0..operations.max(1) {
            work.spawn(operate::work(Arc::clone(&self.shared)));
        }
        let each = |workers: usize| (workers / 2).max(1);
        work.spawn(look::work_remotely(
            Arc::clone(&self.shared),
            each(status),
            alive.clone(),
        ));
        work.spawn(operate::work_remotely(
            Arc::clone(&self.shared),
            each(operations),
            alive,
        ));
        match work.join_next().await {
            Some(Err(error)) => error.to_string(),
            _ => "it ended by itself".to_owned(),
        }
    }

    /// Says that a unit has changed: it is looked at now, and what has failed is tried again.
    pub fn refresh(&self, unit: &str) {
        self.shared.known.let_try(unit);
        self.shared.status.add(unit.to_owned());
    }

    /// Ends the operation of a unit, if one is under way.
    pub fn terminate(&self, unit: &str) {
        self.shared.known.terminate(unit);
        self.shared.operations.add(unit.to_owned());
        // It may be one of a process before us, which nobody has taken up.
        self.shared.status.add(unit.to_owned());
    }

    /// Changes what holds for all units. Only what it touches is done again: watches of other kinds and objects that are
    /// compared by the same rules are left as they are.
    pub fn set_reconciliation_settings(&self, settings: ReconciliationSettings) {
        *self.shared.settings.write() = Arc::new(settings);
        self.shared.settings_changed();
    }

    /// How many requests were sent to a cluster so far; nothing if no unit is in it.
    pub fn requests(&self, cluster: &str) -> Option<Counts> {
        let open = self.shared.clusters.there(cluster)?;
        Some(open.cluster().counts())
    }

    /// How often a unit was looked at so far.
    pub fn looks(&self) -> u64 {
        self.shared.looks.load(Ordering::Relaxed)
    }
}

/// Why an engine does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It runs already, or has run: what it knows of the cluster is gone.
    #[error("the engine runs already, or has run; another run needs a new engine")]
    Again,
    /// One of its tasks has died, which is a defect of the engine.
    #[error("a task of the engine has died: {0}")]
    Died(String),
}

impl Shared {
    fn settings(&self) -> Arc<ReconciliationSettings> {
        Arc::clone(&self.settings.read())
    }
}
