//! Looks at a unit: what it should be, what is there, and what is to be done about it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use model::health::State as HealthState;
use model::object_key::split_api_version;
use model::{Health, Manifest, ObjectKey, Time};
use tokio::time::Instant;

use crate::cache::{self, Interest};
use crate::observe::Observer;
use crate::plan::{self, Desired, GroupKind, Input, Objects, Options, Plan};
use crate::queue::Done;
use crate::sync::{Progress, Run, Stop};
use crate::unit::{Failure, OperationState, Phase, ReconciliationSettings, Status, SyncState, SyncUnit};

use super::clusters::Handle;
use super::known::{Active, Known};
use super::{Shared, UnitEventKind};

/// How long the first list of a kind may take before it is looked at again.
const LISTING: Duration = Duration::from_secs(30);

/// Looks at one unit after another.
pub(super) async fn work(shared: Arc<Shared>) {
    while let Some(ticket) = shared.status.next().await {
        let known = shared.known.get(ticket.key());
        let seen = known.state.lock().endings;
        let done = match shared.units.get(ticket.key()).await {
            Ok(Some(unit)) => shared.refresh(unit, &known, seen).await,
            Ok(None) => {
                shared.known.forget(ticket.key());
                Done::Forget
            }
            Err(error) => {
                shared.tell(ticket.key(), UnitEventKind::Failed, error.to_string());
                Done::Retry
            }
        };
        shared.looks.fetch_add(1, Ordering::Relaxed);
        ticket.finish(done);
    }
}

/// Looks at all units of the store, and again until it answers.
pub(super) async fn all(shared: &Shared) {
    let mut wait = Duration::from_millis(100);
    loop {
        match shared.units.list().await {
            Ok(units) => return units.into_iter().for_each(|unit| shared.status.add(unit.id)),
            Err(error) => shared.tell("", UnitEventKind::Failed, error.to_string()),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(30));
    }
}

impl Shared {
    async fn refresh(self: &Arc<Self>, unit: SyncUnit, known: &Known, seen: u64) -> Done {
        match self.look(&unit, known, seen).await {
            Ok(Looked::Done) => Done::After(unit.policy.interval),
            Ok(Looked::Listing) => Done::After(LISTING),
            Ok(Looked::TooLate) => Done::After(Duration::ZERO),
            Err(errors) => {
                let status = Status {
                    sync: SyncState::Unknown,
                    errors,
                    ..unit.status.clone()
                };
                if status != unit.status {
                    self.tell(&unit.id, UnitEventKind::Failed, status.errors.join("; "));
                }
                // While an operation is under way the status is its own.
                if !known.state.lock().is_busy(seen) {
                    self.write(&unit, status).await;
                }
                Done::After(unit.policy.retry)
            }
        }
    }

    async fn look(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        seen: u64,
    ) -> Result<Looked, Vec<String>> {
        let failed = |error: Failure| vec![error.to_string()];
        let cluster = self.cluster(&unit.destination.cluster).await.map_err(failed)?;
        let operation = unit.operation.as_ref();
        let revision = operation.and_then(|operation| operation.revision.as_deref());
        let generated = self
            .manifests
            .generate(unit, revision, false)
            .await
            .map_err(failed)?;
        let revision = generated.revision;
        let settings = self.settings();
        let observer = Observer {
            cluster: &cluster.cluster,
            cache: &cluster.cache,
            memory: &known.memory,
            manager: &unit.policy.manager,
            takeover: &unit.policy.takeover,
            ignore: &settings.ignore,
            left_alone: &|object| unit.policy.strategy.markers.leave_alone(object),
        };
        let desired = observer.scoped(managed(&settings, generated.manifests)).await;
        let options = self.options(unit);
        let mut desired = plan::prepare(desired, &unit.policy.strategy, &options, &revision);
        desired
            .iter_mut()
            .for_each(|desired| mark(desired, unit, &settings));
        if !self.follow(unit, known, &cluster, &desired) {
            return Ok(Looked::Listing);
        }
        if self.goes_on(unit, known, &desired, &revision) {
            return Ok(Looked::Done);
        }
        if known.state.lock().is_busy(seen) {
            // An operation has ended since the unit was read, and has written its status.
            return Ok(Looked::TooLate);
        }
        let desired = observer.look(desired).await;
        let previous = unit.status.inventory.clone();
        let stale = plan::stale(&previous, &desired, &unit.destination.namespace);
        let candidates = observer.candidates(stale).await;
        let input = Input {
            unit: unit.id.clone(),
            revision,
            desired,
            previous,
            candidates,
            options,
        };
        let (plan, objects) = plan::plan(&input, &unit.policy.strategy)
            .map_err(|refusals| refusals.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let asked = operation.is_some() || unit.policy.automatic;
        let differs = plan.changes_anything() || unit.status.revision != plan.revision;
        if differs && asked {
            self.start(unit, known, plan, objects).await?;
        } else {
            self.found(unit, known, &cluster, &plan).await;
        }
        Ok(Looked::Done)
    }

    /// What this run asks for. An operation that is gone on with began when it began: the names of its hooks say so.
    fn options(&self, unit: &SyncUnit) -> Options {
        let stored = unit.status.operation.as_deref();
        let under_way = stored.filter(|stored| !stored.phase.is_final());
        let started = under_way.map_or_else(|| (self.now)(), |stored| stored.started);
        let operation = unit.operation.clone().unwrap_or_default();
        Options {
            namespace: unit.destination.namespace.clone(),
            only: operation.only,
            started: Some(Time::new(started)),
            ..unit.policy.options.clone()
        }
    }

    /// Follows the kinds that a unit has. Whether all of them have been listed, or cannot be; if not, the unit is looked at
    /// again when they have.
    fn follow(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        desired: &[Desired],
    ) -> bool {
        let mut kinds: HashMap<GroupKind, String> = HashMap::new();
        let mut objects: HashSet<ObjectKey> = HashSet::new();
        for entry in &unit.status.inventory.entries {
            let key = entry.id.0.clone();
            kinds.insert(kind_of(&key), entry.version.clone());
            objects.insert(key);
        }
        for desired in desired {
            let key = desired.key(&unit.destination.namespace);
            let (_, version) = split_api_version(desired.object.str_at(&["apiVersion"]));
            kinds.insert(kind_of(&key), version.to_owned());
            objects.insert(key);
        }
        let mut starting = Vec::new();
        {
            let mut state = known.state.lock();
            state.cluster = Some(Arc::clone(cluster));
            state.follows.retain(|kind, _| kinds.contains_key(kind));
            for (kind, version) in kinds {
                let interest = self.interest(&kind, &version);
                let follow = state
                    .follows
                    .entry(kind)
                    .or_insert_with(|| cluster.cache.follow(interest.clone()));
                if matches!(follow.state(), cache::State::Starting) {
                    starting.push(interest);
                }
            }
        }
        self.known.set_objects(&unit.id, &cluster.name, objects);
        let listed = starting.is_empty();
        if !listed {
            let listed = when_listed(
                Arc::downgrade(self),
                unit.id.clone(),
                Arc::clone(cluster),
                starting,
            );
            tokio::spawn(listed);
        }
        listed
    }

    fn interest(&self, kind: &GroupKind, version: &str) -> Interest {
        Interest {
            version: Some(version.into()),
            selector: self.settings().instance_label.as_deref().map(Into::into),
            ..Interest::in_all(kind.group.clone(), kind.kind.clone())
        }
    }

    /// Whether the operation that is under way, in this process or left by one before, goes on. One for another revision is
    /// ended, so that the newer one can begin.
    fn goes_on(&self, unit: &SyncUnit, known: &Known, desired: &[Desired], revision: &str) -> bool {
        let mut state = known.state.lock();
        let stored = unit.status.operation.as_deref();
        if state.running {
            // It looks for a reason to stop by itself.
            if stored.is_some_and(|stored| !stored.phase.is_final() && stored.plan.revision != revision) {
                state.stop = Some(Stop::Superseded);
            }
            return true;
        }
        if state.active.is_none() && state.endings == 0 {
            state.active = left_behind(unit, desired, revision);
        }
        let Some(active) = &mut state.active else {
            return false;
        };
        active.approved |= unit
            .operation
            .as_ref()
            .is_some_and(|operation| operation.approved);
        if active.run.plan().revision != revision {
            state.stop = Some(Stop::Superseded);
        }
        drop(state);
        self.operations.add(unit.id.clone());
        true
    }

    /// Begins an operation, unless somebody refuses it.
    async fn start(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        mut plan: Plan,
        objects: Objects,
    ) -> Result<(), Vec<String>> {
        for callback in self.told.before_sync.all() {
            plan = callback(unit, plan).map_err(|error| vec![error.to_string()])?;
        }
        let operation = unit.operation.clone().unwrap_or_default();
        let started = (self.now)();
        let state = OperationState {
            phase: Phase::Running,
            plan: plan.clone(),
            progress: Progress::default(),
            started,
            finished: None,
            message: String::new(),
        };
        if operation.dry_run {
            return self.only_told(unit, state).await;
        }
        let counts = plan.counts();
        let message = format!(
            "{} to create, {} to change, {} to prune, {} hooks to run, {} unchanged",
            counts.create, counts.change, counts.prune, counts.hooks, counts.unchanged
        );
        self.tell(&unit.id, UnitEventKind::Started, message);
        let status = Status {
            sync: if plan.changes_anything() {
                SyncState::OutOfSync
            } else {
                unit.status.sync
            },
            attempted: plan.revision.clone(),
            operation: Some(Box::new(state)),
            ..unit.status.clone()
        };
        // What is about to be done is stored before it is done: whoever comes after a crash knows of it.
        self.units
            .set_status(&unit.id, status)
            .await
            .map_err(|error| vec![error.to_string()])?;
        {
            let mut state = known.state.lock();
            state.stop = None;
            state.active = Some(Active {
                run: Run::new(Arc::new(plan), objects),
                started,
                approved: operation.approved,
                waits_for: HashSet::new(),
            });
        }
        self.operations.add(unit.id.clone());
        Ok(())
    }

    /// A dry run ends with the plan.
    async fn only_told(&self, unit: &SyncUnit, state: OperationState) -> Result<(), Vec<String>> {
        let finished = OperationState {
            phase: Phase::Succeeded,
            finished: Some((self.now)()),
            message: "dry run: nothing was changed".to_owned(),
            ..state
        };
        for callback in self.told.sync_completed.all() {
            callback(&unit.id, &finished);
        }
        let status = Status {
            operation: Some(Box::new(finished)),
            ..unit.status.clone()
        };
        let written = self.units.set_status(&unit.id, status).await;
        let written = written.and(self.units.set_operation(&unit.id, None).await);
        written.map_err(|error| vec![error.to_string()])
    }

    /// Nothing is to be done, or nobody asks for it: what was found is told.
    async fn found(&self, unit: &SyncUnit, known: &Known, cluster: &Handle, plan: &Plan) {
        let differs = plan.changes_anything();
        let health = health(known, cluster);
        let status = Status {
            sync: if differs {
                SyncState::OutOfSync
            } else {
                SyncState::Synced
            },
            attempted: plan.revision.clone(),
            health: Some(health),
            errors: Vec::new(),
            ..unit.status.clone()
        };
        if differs && unit.status.sync != SyncState::OutOfSync {
            self.tell(&unit.id, UnitEventKind::OutOfSync, plan.to_string());
        }
        self.write(unit, status).await;
    }

    /// Writes a status where it differs from what is there.
    pub(super) async fn write(&self, unit: &SyncUnit, status: Status) {
        if status == unit.status {
            return;
        }
        match self.units.set_status(&unit.id, status).await {
            Ok(()) => self.tell(&unit.id, UnitEventKind::Changed, ""),
            Err(error) => {
                self.tell(&unit.id, UnitEventKind::Failed, error.to_string());
                self.status.add_after(unit.id.clone(), unit.policy.retry);
            }
        }
    }
}

/// The manifests that the engine looks after.
fn managed(settings: &ReconciliationSettings, manifests: Vec<Manifest>) -> Vec<Manifest> {
    let excluded = |manifest: &Manifest| settings.filter.excludes(manifest.group(), manifest.kind());
    manifests
        .into_iter()
        .filter(|manifest| !excluded(manifest))
        .collect()
}

/// Marks an object as the unit's.
fn mark(desired: &mut Desired, unit: &SyncUnit, settings: &ReconciliationSettings) {
    let object = Arc::make_mut(&mut desired.object);
    if let Some(label) = &settings.instance_label {
        object.set_at(&["metadata", "labels", label], unit.id.as_str());
    }
    unit.policy.strategy.ownership.mark(object);
    desired.digest = plan::objects::digest(object);
}

/// The operation that a process before us has not ended, if the objects are still built as they were.
fn left_behind(unit: &SyncUnit, desired: &[Desired], revision: &str) -> Option<Active> {
    let left = unit
        .status
        .operation
        .as_ref()
        .filter(|state| !state.phase.is_final())?;
    if left.plan.revision != revision {
        return None;
    }
    let mut objects = Objects::default();
    for desired in desired {
        objects.push_digested(desired.digest, Arc::clone(&desired.object));
    }
    let run = Run::resume(Arc::new(left.plan.clone()), objects, left.progress.clone());
    Some(Active {
        run,
        started: left.started,
        approved: false,
        waits_for: HashSet::new(),
    })
}

/// The worst health of what a unit has.
pub(super) fn health(known: &Known, cluster: &Handle) -> Health {
    let objects = known.state.lock().objects.clone();
    let healths = objects.iter().map(|key| match cluster.cache.get(key) {
        Some(entry) => (
            key,
            entry
                .health()
                .cloned()
                .unwrap_or_else(|| Health::new(HealthState::Healthy)),
        ),
        None => (key, Health::new(HealthState::Missing)),
    });
    let worst = healths.max_by(|(key, health), (other_key, other)| {
        // Of several in the same state the first by name is told, so that the status does not change without a reason.
        health.state.cmp(&other.state).then_with(|| other_key.cmp(key))
    });
    match worst {
        None => Health::new(HealthState::Healthy),
        Some((_, health)) if health.state == HealthState::Healthy => Health::new(HealthState::Healthy),
        Some((key, health)) => Health::because(health.state, format!("{key}: {}", health.message)),
    }
}

/// Looks at a unit again when its kinds have been listed.
async fn when_listed(shared: Weak<Shared>, unit: String, cluster: Handle, kinds: Vec<Interest>) {
    let deadline = Instant::now() + LISTING;
    for interest in kinds {
        let follow = cluster.cache.follow(interest);
        // Why one was not listed is its state, which whoever looks at the unit sees.
        let _ = follow.synced(deadline).await;
    }
    if let Some(shared) = shared.upgrade() {
        for callback in shared.told.cache_initialized.all() {
            callback(&cluster.name);
        }
        shared.status.add(unit);
    }
}

fn kind_of(key: &ObjectKey) -> GroupKind {
    GroupKind {
        group: key.group.clone(),
        kind: key.kind.clone(),
    }
}

enum Looked {
    /// All is well, or something is done about it.
    Done,
    /// Its kinds are not listed yet.
    Listing,
    /// What was looked at is out of date.
    TooLate,
}
