//! Looks at a unit: what it should be, what is there, and what is to be done about it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::ObjectKey;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::observe::Observer;
use crate::panics::caught_in;
use crate::plan::{self, Desired, Input, Objects, Options, Plan};
use crate::queue::{Done, Ticket};
use crate::unit::{Failure, OperationState, Phase, Status, SyncState, SyncUnit};
use crate::workers::Workers;

use super::begin::{Consent, GoesOn};
use super::follow::LISTING;
use super::intent::Wish;
use super::known::Known;
use super::mending::Looking;
use super::remote::Lane;
use super::{Alive, Shared, UnitEventKind};

/// How long a unit that has something to delete waits for others before it begins with all the rest. Mostly they are heard by then, and
/// the operation is done in one go.
const A_MOMENT: Duration = Duration::from_secs(1);

/// Looks at units, at as many at once as there are workers.
pub(super) async fn work(shared: Arc<Shared>, workers: Workers, alive: Alive) {
    let mut looking = JoinSet::new();
    while let Some((worker, ticket)) = workers.next(&shared.status).await {
        while looking.try_join_next().is_some() {}
        if let Some(voucher) = shared.known.located_voucher(ticket.key()) {
            shared.remote_status.add(voucher, ticket);
            continue;
        }
        let (shared, alive) = (Arc::clone(&shared), alive.clone());
        looking.spawn(async move {
            let _alive = alive;
            refresh(&shared, ticket, Lane::Own(&worker)).await;
        });
    }
}

/// Looks at units in clusters that others vouch for.
pub(super) async fn work_remotely(shared: Arc<Shared>, each: usize, alive: Alive) {
    let look = |ticket| {
        let (shared, alive) = (Arc::clone(&shared), alive.clone());
        async move {
            let _alive = alive;
            refresh(&shared, ticket, Lane::Remote).await;
        }
    };
    shared.remote_status.work(each, look).await;
}

async fn refresh(shared: &Arc<Shared>, ticket: Ticket<String>, lane: Lane<'_>) {
    shared.heard.begins(ticket.key());
    let done = match caught_in(|| shared.take(ticket.key(), lane)).await {
        Ok(Taken::Done(done)) => done,
        Ok(Taken::Remote(voucher)) => return shared.remote_status.add(voucher, ticket),
        Err(panic) => shared.fell_over(ticket.key(), &panic).await,
    };
    shared.go_on(shared.heard.ends(ticket.key()));
    shared.looks.fetch_add(1, Ordering::Relaxed);
    ticket.finish(done);
}

/// The end of a turn of a unit.
enum Taken {
    Done(Done),
    /// It is in a cluster that this one vouches for, and is looked at by a worker for such clusters.
    Remote(Arc<str>),
}

/// Has all units of the store looked at; asks until it answers.
pub(super) async fn all(shared: &Shared) {
    let mut wait = Duration::from_millis(100);
    let units = loop {
        match shared.units.list().await {
            Ok(units) => break units,
            Err(error) => shared.tell("", UnitEventKind::Failed, error.to_string()),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(30));
    };
    for unit in &units {
        shared.expect(unit);
        shared.starting.expect(&unit.destination.cluster, &unit.id);
    }
    for unit in units {
        shared.status.add(unit.id);
    }
}

enum Looked {
    /// It is to be looked at by a worker for clusters that others vouch for.
    Remote(Arc<str>),
    /// All is well, or something is done about it.
    Done,
    /// Its kinds are not listed yet.
    Listing,
    /// The watch has not brought back yet what was written. It is looked at again with each object that comes back, and then.
    CatchingUp(Instant),
    /// What was looked at is out of date.
    TooLate,
    /// Others are to be looked at before something is deleted. It is looked at again when they were, and then.
    Hearing(Instant),
    /// What it wants cannot be done, for these reasons.
    Refused(Vec<String>),
    /// It has failed, was refused or is changed again and again, and is not tried again before this time has passed.
    Held(Duration),
}

/// Why a unit could not be looked at.
struct Unlooked {
    errors: Vec<String>,
    /// Whether its cluster could be had.
    reached: bool,
}

/// The cluster of a unit answers too slowly.
#[derive(Debug, thiserror::Error)]
#[error(
    "failed to compare with the cluster {endpoint}: its API server has not answered all requests within {within:?}: check the server, or raise the timeout"
)]
struct Overdue {
    endpoint: String,
    within: Duration,
}

impl From<Vec<String>> for Unlooked {
    fn from(errors: Vec<String>) -> Self {
        Unlooked {
            errors,
            reached: true,
        }
    }
}

impl Shared {
    async fn take(self: &Arc<Self>, id: &str, lane: Lane<'_>) -> Taken {
        let known = self.known.get(id);
        known.is_read();
        let seen = known.state.lock().endings;
        let done = match self.units.get(id).await {
            Ok(Some(unit)) => {
                let unit = self.take_away(unit, &known).await;
                let unit = self.given_up(unit, &known).await;
                return self.refresh(known.in_turn(unit), &known, seen, lane).await;
            }
            Ok(None) => {
                // It may be the last to keep the cluster.
                drop(known);
                self.forget(id);
                Done::Forget
            }
            Err(error) => {
                self.tell(id, UnitEventKind::Failed, error.to_string());
                Done::Retry
            }
        };
        Taken::Done(done)
    }

    /// Looking at a unit has panicked, which is a defect of ours; it is told as any other failure is.
    pub(super) async fn fell_over(&self, id: &str, panic: &str) -> Done {
        let error = format!("looking at the unit panicked: {panic}");
        tracing::error!(unit = %id, %error);
        self.tell(id, UnitEventKind::Failed, error.as_str());
        let known = self.known.get(id);
        let seen = known.state.lock().endings;
        // While an operation is under way the status is its own.
        if let Ok(Some(unit)) = self.units.get(id).await
            && !known.state.lock().is_busy(seen)
        {
            let status = Status {
                sync: SyncState::Unknown,
                errors: vec![error],
                ..unit.status.clone()
            };
            self.write(&unit, status).await;
        }
        Done::Retry
    }

    async fn refresh(self: &Arc<Self>, unit: SyncUnit, known: &Known, seen: u64, lane: Lane<'_>) -> Taken {
        let mut looked = self.look(&unit, known, seen, lane).await;
        if let Ok(Looked::Remote(voucher)) = looked {
            return Taken::Remote(voucher);
        }
        if matches!(looked, Err(_) | Ok(Looked::Refused(_) | Looked::Listing))
            && let Some(over) = known.over_budget()
        {
            // One reason says more than that of each object.
            looked = Err(vec![over.to_string()].into());
        }
        if !matches!(looked, Ok(Looked::Listing)) {
            self.seen(Some(&unit.destination.cluster), &unit.id);
        }
        Taken::Done(self.after(&unit, known, seen, looked).await)
    }

    /// Decides when a unit that was looked at is due again.
    async fn after(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        seen: u64,
        looked: Result<Looked, Unlooked>,
    ) -> Done {
        match looked {
            Ok(Looked::Remote(_)) => Done::After(Duration::ZERO),
            Ok(Looked::Done) => Done::After(unit.policy.interval()),
            Ok(Looked::Listing) => Done::After(LISTING),
            Ok(Looked::CatchingUp(until) | Looked::Hearing(until)) => {
                Done::After(until.saturating_duration_since(Instant::now()))
            }
            Ok(Looked::TooLate) => Done::After(Duration::ZERO),
            // What is new in the source waits for nothing that has failed.
            Ok(Looked::Held(wait)) => Done::After(wait.min(unit.policy.interval())),
            Ok(Looked::Refused(errors)) if answers_refusals(unit) => {
                match self.refused(unit, known, errors).await {
                    true => Done::After(Duration::ZERO),
                    false => Done::After(unit.policy.retry()),
                }
            }
            Ok(Looked::Refused(errors)) => {
                // Nobody goes on with what was under way before, or it would not have been looked at what to do instead.
                let operation = self.over(unit.status.operation.as_deref()).map(Box::new);
                self.failed(unit, known, seen, errors, operation).await
            }
            Err(Unlooked { errors, reached }) => {
                if !reached && self.ends_afar(unit, known, seen, &errors).await {
                    return Done::After(unit.policy.retry().min(unit.policy.interval()));
                }
                let operation = unit.status.operation.clone();
                self.failed(unit, known, seen, errors, operation).await
            }
        }
    }

    /// A unit could not be looked at, or what it wants cannot be done.
    async fn failed(
        &self,
        unit: &SyncUnit,
        known: &Known,
        seen: u64,
        errors: Vec<String>,
        operation: Option<Box<OperationState>>,
    ) -> Done {
        let status = Status {
            sync: SyncState::Unknown,
            errors,
            operation,
            ..unit.status.clone()
        };
        if status != unit.status {
            self.tell(&unit.id, UnitEventKind::Failed, status.errors.join("; "));
        }
        // While an operation is under way the status is its own, and so is what it waits for.
        if !known.state.lock().is_busy(seen) {
            self.heard.pass(&unit.id);
            self.write(unit, status).await;
        }
        Done::After(unit.policy.retry().min(unit.policy.interval()))
    }

    async fn look(
        self: &Arc<Self>,
        unit: &SyncUnit,
        known: &Known,
        seen: u64,
        lane: Lane<'_>,
    ) -> Result<Looked, Unlooked> {
        if is_deleted(unit) {
            self.is_heard(unit);
            return Ok(Looked::Done);
        }
        self.expect(unit);
        let failed = |error: Failure| vec![error.to_string()];
        known.state.lock().sought = Some(unit.destination.cluster.clone());
        let cluster = self.cluster(unit).await.inspect_err(|_| self.strand(unit, known));
        let cluster = cluster.map_err(|error| Unlooked {
            errors: failed(error),
            reached: false,
        })?;
        self.locate(unit, known, &cluster);
        let vouched_by = cluster.vouched_by();
        known.state.lock().vouched_by = vouched_by.cloned();
        if let Some(voucher) = vouched_by.filter(|_| lane.is_own()) {
            return Ok(Looked::Remote(Arc::clone(voucher)));
        }
        let within = cluster.cluster().within_budget();
        within.map_err(|over| vec![over.to_string()])?;
        let arrived = self.arrived(unit, known, &cluster, seen).await;
        let unit = arrived.as_ref().unwrap_or(unit);
        self.had(unit, cluster.realm());
        let Some(generated) = self.generated(unit, known, lane).await.map_err(failed)? else {
            return Ok(Looked::TooLate);
        };
        // It may be gone since, or lead elsewhere.
        if !self.is_there(&cluster) {
            return Ok(Looked::TooLate);
        }
        let options = self.options(unit, &generated.revision);
        let strategy = &unit.policy.strategy;
        let shared = OnceLock::new();
        let is_held = |key: &ObjectKey| {
            let shared = shared.get_or_init(|| self.known.claims.shared(&unit.id));
            shared.get(key).is_some_and(|shared: &plan::Shared| shared.holds)
        };
        let is_same = unit.status.revision == generated.revision;
        let observer = Observer {
            cluster: cluster.cluster(),
            cache: &cluster.cache,
            memory: &known.memory,
            manager: &unit.policy.manager,
            takeover: &unit.policy.takeover,
            ignore: &self.ignored(unit),
            keep_ignored: strategy.keeps_ignored(&options),
            forced: &|object, live| strategy.forces(&options, object, Some(live)),
            trust_new: options.trust_new,
            markers: &strategy.markers,
            // What somebody asks for is dry-run before it is done.
            left: &|key| unit.operation.is_none() && (!unit.policy.automatic || (is_same && is_held(key))),
            unobserved: &|object| !unit.is_deleting() && !strategy.looks_at(object, &options),
        };
        // What is deleted is of no revision: whatever is being applied is out of date.
        let revision = match unit.is_deleting() {
            true => String::new(),
            false => generated.revision.clone(),
        };
        let manifests = &generated.manifests;
        let within = unit.policy.observe_within();
        let deadline = Instant::now() + within;
        let overdue = |_| {
            let endpoint = cluster.endpoint().to_owned();
            vec![Overdue { endpoint, within }.to_string()]
        };
        let desired = self.desired(unit, &observer, manifests, &options, &revision);
        let desired = timeout_at(deadline, desired).await.map_err(overdue)?;
        let wish = Wish::new(unit, &generated);
        let basis = || self.basis(unit, &wish);
        let listed = self.follow(unit, known, &cluster, &desired);
        if !self.is_there(&cluster) {
            known.let_go(&cluster);
            return Ok(Looked::TooLate);
        }
        if !listed {
            return Ok(Looked::Listing);
        }
        let looking = |basis| Looking {
            unit,
            known,
            observer: &observer,
            options: &options,
            basis,
            deadline,
        };
        match self.goes_on(unit, known, &desired, &wish) {
            GoesOn::No => {}
            GoesOn::Restless(wait) => return Ok(Looked::Held(wait)),
            GoesOn::Yes(basis) => {
                self.judged_before(unit, known);
                let pause = self.mend(&looking(basis), desired).await;
                // It may be to stop or approved now, or about to wait, and then would not hear of what was looked at.
                self.operations.add(unit.id.clone());
                return Ok(pause.map_or(Looked::Done, Looked::Held));
            }
        }
        if let Some(until) = known.catches_up(&cluster.cache) {
            return Ok(Looked::CatchingUp(until));
        }
        if known.state.lock().is_busy(seen) {
            // An operation has ended since the unit was read, and has written its status.
            return Ok(Looked::TooLate);
        }
        let only_asks = unit.operation.as_ref().is_some_and(|asked| asked.dry_run);
        if let Some(wait) = known.held(&revision).filter(|_| !only_asks) {
            // The server was asked about this revision before it failed.
            self.is_heard(unit);
            let pause = self.mend_held(&looking(basis()), &cluster, desired).await;
            return Ok(Looked::Held(pause.map_or(wait, |pause| pause.min(wait))));
        }
        let planned = self.plan(unit, &observer, desired, &options, revision);
        let (plan, objects) = match timeout_at(deadline, planned).await.map_err(overdue)? {
            Ok(planned) => planned,
            Err(refusals) => return Ok(Looked::Refused(refusals)),
        };
        if let Some(pause) = self.pause(unit, known, &plan, basis) {
            self.found(unit, &cluster, &plan).await;
            return Ok(Looked::Held(pause));
        }
        if is_to_be_done(unit, &plan) {
            let (agreed, veto) = match self.consent(unit, &plan) {
                Consent::Given(agreed) => (agreed, None),
                Consent::Vetoed(plan, veto) => (plan, Some(veto)),
            };
            if only_asks {
                self.only_told(unit, known, agreed, basis(), veto).await?;
                // The request is answered, and what is to be done without it was not looked at.
                return Ok(Looked::TooLate);
            }
            if let Some(veto) = veto {
                self.vetoed(unit, &agreed, veto).await;
                return Ok(Looked::Held(unit.policy.retry()));
            }
            // Where callbacks leave nothing to do, the rest is told to differ, and nothing begins again and again.
            if is_to_be_done(unit, &agreed) {
                let restless = known.restless(unit, &wish);
                if !restless.is_zero() {
                    self.found(unit, &cluster, &plan).await;
                    return Ok(Looked::Held(restless));
                }
                let mut has_heard = true;
                if let Some(until) = self.hear(&agreed, &cluster).await {
                    let begins = self.heard.asked(&unit.id).map(|asked| asked + A_MOMENT);
                    if begins.is_none_or(|begins| Instant::now() < begins) {
                        return Ok(Looked::Hearing(begins.map_or(until, |begins| begins.min(until))));
                    }
                    // What it makes waits for nobody, if it takes others long: it goes on to hear them before it deletes.
                    has_heard = false;
                }
                if known.take_termination() {
                    // Somebody has ended what was about to begin anew.
                    self.give_up(unit.clone(), known).await;
                    return Ok(Looked::TooLate);
                }
                self.start(unit, known, &cluster, (agreed, objects), basis(), has_heard)
                    .await?;
                return Ok(Looked::Done);
            }
        }
        self.found(unit, &cluster, &plan).await;
        Ok(Looked::Done)
    }

    /// What would be done, or all reasons why nothing is.
    async fn plan(
        &self,
        unit: &SyncUnit,
        observer: &Observer<'_>,
        desired: Vec<Desired>,
        options: &Options,
        revision: String,
    ) -> Result<(Plan, Objects), Vec<String>> {
        let desired = observer.look(desired).await;
        self.judged(unit, &desired);
        let previous = unit.status.inventory.clone();
        let wanted = if unit.is_deleting() { &[][..] } else { &desired };
        let mut stale = plan::stale(&previous, wanted, &unit.destination.namespace);
        // What is left alone is not looked at, and what is not looked at stays.
        let filter = &self.settings().filter;
        stale.retain(|entry| !filter.excludes(&entry.id.0.group, &entry.id.0.kind));
        let candidates = observer.candidates(stale).await;
        let input = Input {
            unit: unit.id.clone(),
            shared: self.shared(unit, observer.cluster, &candidates).await,
            yields: unit.operation.is_none() && unit.status.revision == revision,
            instance: self.settings().instance_of(&unit.id),
            revision,
            desired,
            previous,
            candidates,
            options: options.clone(),
        };
        let strategy = &unit.policy.strategy;
        let planned = match unit.is_deleting() {
            false => plan::plan(&input, strategy),
            true => {
                let wait = input.options.wait.as_ref();
                // Nobody may take the unit away before its objects are gone.
                let seconds = wait.map_or(input.options.stage_seconds, |wait| wait.seconds);
                plan::deletion(&input, strategy, Some(seconds))
            }
        };
        planned.map_err(|refusals| refusals.iter().map(ToString::to_string).collect())
    }
}

/// Whether a request ends with a refusal. Of a unit that is automatic it stays: what is refused now is tried again by itself.
fn answers_refusals(unit: &SyncUnit) -> bool {
    let asked = unit.operation.as_ref().filter(|asked| !asked.delete);
    asked.is_some_and(|asked| asked.dry_run || !unit.policy.automatic)
}

/// Whether a plan is carried out. What somebody asks for is done even if it changes nothing, so that they are told that it is.
fn is_to_be_done(unit: &SyncUnit, plan: &Plan) -> bool {
    let differs = plan.changes_anything() || unit.status.revision != plan.revision;
    unit.operation.is_some() || (differs && unit.policy.automatic)
}

/// Whether all that a unit had is deleted, as was asked for: it is about to go.
fn is_deleted(unit: &SyncUnit) -> bool {
    let last = unit.status.operation.as_ref();
    unit.is_deleting()
        && unit.status.inventory.entries.is_empty()
        && last.is_some_and(|last| last.phase == Phase::Succeeded && last.plan.revision.is_empty())
}
