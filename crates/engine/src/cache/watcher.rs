//! What keeps a watch up to date: the state machine of one list and watch.
//!
//! It finds out how the kind is served, reads all objects (as a stream where the server can, page by page otherwise), and
//! follows the changes from there. A watch that ends is resumed from the last version or bookmark; one whose version is no
//! longer known begins anew, and what is gone by then is told to be. What fails is tried again after a pause that grows, on
//! its own: no watch waits for another.

use std::sync::{Arc, Weak};
use std::time::Duration;

use model::{Str, Value};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Shared;
use super::entry::Kind;
use super::ingest::Namespaces;
use super::interest::Interest;
use super::pause::{Pause, abandoned};
use super::seen::Seen;
use super::settings::{KindSettings, Settings};
use super::standard::Standard;
use super::state::{Backoff, State};
use super::watch::Watch;
use crate::cluster::{Charge, Cluster, Error, OverBudget, Resource, Start, WatchEvent, over_budget};

/// A stream of all objects that is silent for so long before its end comes from a server that does not know how to end it.
const SILENCE: Duration = Duration::from_secs(30);

/// The memory of a watch without objects, about.
const SIZE: usize = 16 * 1024;

pub(super) struct Watcher {
    pub(super) cluster: Cluster,
    pub(super) shared: Weak<Shared>,
    pub(super) watch: Arc<Watch>,
    pub(super) settings: KindSettings,
    /// The standards that all objects are assessed by when the list that is under way has ended.
    standards: Arc<[Standard]>,
    pub(super) kind: Arc<Kind>,
    pub(super) namespaces: Namespaces,
    /// Where the watch goes on.
    pub(super) version: Option<Str>,
    /// Whether the server is thought to stream lists.
    streams: bool,
    /// Entries are made anew even of objects that have not changed.
    pub(super) anew: bool,
    /// Whether the last turn got any further.
    progressed: bool,
    /// Whether discovery has the kind.
    served: bool,
    /// Tells when discovery should be looked at again.
    discoveries: watch::Receiver<u64>,
    backoff: Backoff,
    /// The part of the cluster's budget that the watch itself takes.
    charge: Charge,
}

impl Watcher {
    pub(super) fn new(shared: &Arc<Shared>, watch: &Arc<Watch>) -> Watcher {
        let Interest { group, kind, .. } = &watch.interest;
        Watcher {
            cluster: shared.cluster.clone(),
            shared: Arc::downgrade(shared),
            watch: Arc::clone(watch),
            settings: shared.settings().of(group, kind),
            standards: watch.standards(),
            kind: Arc::new(Kind {
                group: group.clone(),
                kind: kind.clone(),
                api_version: Str::default(),
            }),
            namespaces: Namespaces::default(),
            version: None,
            streams: true,
            anew: false,
            progressed: false,
            served: false,
            discoveries: shared.cluster.discoveries(),
            backoff: Backoff::new(),
            charge: shared.cluster.charge(),
        }
    }

    /// Works until nobody has followed for a while.
    pub(super) async fn run(mut self) {
        let watch = Arc::clone(&self.watch);
        let shared = self.shared.clone();
        tokio::select! {
            () = self.work() => {}
            () = abandoned(&watch, &shared) => {}
        }
        watch.stop();
    }

    async fn work(&mut self) {
        let watch = Arc::clone(&self.watch);
        let mut trips = self.cluster.trips();
        loop {
            let turn = tokio::select! {
                turn = self.turn() => turn,
                () = trips.next() => self.in_budget(),
                () = watch.reload.notified() => {
                    if self.reload().is_none() { return }
                    continue;
                }
            };
            let Some(settings) = self.shared.upgrade().map(|shared| shared.settings()) else {
                return;
            };
            let pause = self.pause(turn, &settings);
            tokio::select! {
                () = pause.over(&mut self.discoveries, &self.shared) => {}
                () = watch.reload.notified() => if self.reload().is_none() { return },
                () = trips.next() => if let Err(error) = self.in_budget() { self.give_back(error) },
            }
        }
    }

    fn in_budget(&self) -> Result<(), Error> {
        let within = self.cluster.within_budget();
        within.map_err(|over| self.over_budget(over))
    }

    pub(super) fn over_budget(&self, over: Arc<OverBudget>) -> Error {
        over_budget(format_args!("watch {}", self.kind.kind), over)
    }

    /// The budget of the cluster is used up. Nobody may take what is freed for missing, so that the state changes first.
    fn give_back(&mut self, error: Error) {
        self.retrying(error);
        self.free();
    }

    /// Takes the settings and standards as they are now, and has everything looked at again.
    fn reload(&mut self) -> Option<()> {
        let Interest { group, kind, .. } = &self.watch.interest;
        self.settings = self.shared.upgrade()?.settings().of(group, kind);
        self.standards = self.watch.standards();
        self.version = None;
        self.anew = true;
        if self.settings.excluded {
            self.clear();
        }
        Some(())
    }

    /// One list, where it is needed, and one watch, to its end.
    async fn turn(&mut self) -> Result<(), Error> {
        if self.settings.excluded {
            self.watch.state.send_replace(State::Absent);
            // Only other settings wake it up.
            return std::future::pending().await;
        }
        self.progressed = false;
        self.served = false;
        self.in_budget()?;
        let own = self.charge.resize(SIZE);
        own.map_err(|over| self.over_budget(over))?;
        let resource = self.resource().await?;
        let resumes = self.version.clone();
        match resumes {
            Some(version) => self.follow(&resource, Start::After(&version)).await,
            None if self.streams => self.follow(&resource, Start::Everything).await,
            None => {
                self.list(&resource).await?;
                let version = self.version.clone().unwrap_or_default();
                self.follow(&resource, Start::After(&version)).await
            }
        }
    }

    async fn resource(&mut self) -> Result<Resource, Error> {
        // What is heard from here on is not yet in the answer.
        self.discoveries.mark_unchanged();
        let Interest {
            group, kind, version, ..
        } = &self.watch.interest;
        let resource = match version {
            Some(version) => self.cluster.resource(group, version, kind).await?,
            None => self.cluster.preferred(group, kind).await?,
        };
        if !resource.watchable {
            return Err(Error::NoSuchKind {
                version: resource.api_version(),
                kind: kind.to_string(),
            });
        }
        if self.kind.api_version != resource.api_version() {
            self.kind = Arc::new(Kind::of(&resource));
            self.version = None;
            self.anew = true;
        }
        self.served = true;
        Ok(resource)
    }

    /// Reads all objects, page by page.
    async fn list(&mut self, resource: &Resource) -> Result<(), Error> {
        let page = self.shared.upgrade().map_or(500, |shared| shared.settings().page);
        let selection = self.watch.interest.selection();
        let (mut seen, mut next) = (Seen::new(&self.watch), None::<Str>);
        loop {
            let found = self
                .cluster
                .list(resource, &selection, page, next.as_deref())
                .await?;
            let _charge = found.charge;
            // An object that is nested too deeply fails only the units that apply it.
            for object in found.items.into_iter().chain(found.partial) {
                seen.add(self.put(object).await?);
            }
            next = found.next;
            if next.is_none() {
                self.all_seen(seen, found.resource_version);
                return Ok(());
            }
        }
    }

    /// Follows a watch to its end.
    async fn follow(&mut self, resource: &Resource, start: Start<'_>) -> Result<(), Error> {
        let selection = self.watch.interest.selection();
        let mut initial = (start == Start::Everything).then(|| Seen::new(&self.watch));
        let mut events = match self.cluster.watch(resource, &selection, start).await {
            Err(Error::Rejected(_) | Error::Invalid(_)) if initial.is_some() => {
                self.streams = false;
                self.progressed = true;
                return Ok(());
            }
            opened => opened?,
        };
        if initial.is_none() {
            self.watch.state.send_replace(State::Synced);
        }
        loop {
            let event = match initial.is_some() {
                false => events.next().await?,
                true => match tokio::time::timeout(SILENCE, events.next()).await {
                    Ok(event) => event?,
                    Err(_) => {
                        self.streams = false;
                        self.progressed = true;
                        return Ok(());
                    }
                },
            };
            let Some(event) = event else { return Ok(()) };
            match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    let version = version_of(&object);
                    let id = self.put(object).await?;
                    match &mut initial {
                        Some(seen) => seen.add(id),
                        None => self.reached(version),
                    }
                }
                WatchEvent::Deleted(object) => {
                    self.remove(&object);
                    if initial.is_none() {
                        self.reached(version_of(&object));
                    }
                }
                WatchEvent::Bookmark {
                    resource_version,
                    initial_end,
                } => match initial.take() {
                    Some(seen) if initial_end => self.all_seen(seen, resource_version),
                    Some(seen) => initial = Some(seen),
                    None => self.reached(resource_version),
                },
            }
        }
    }

    fn reached(&mut self, version: Str) {
        if !version.is_empty() {
            self.watch.has_reached(&version);
            self.version = Some(version);
        }
        self.progressed = true;
        self.backoff.reset();
    }

    /// Everything there is was told: what was not told is gone.
    fn all_seen(&mut self, seen: Seen, version: Str) {
        for entry in seen.missing(&self.watch) {
            self.gone(entry.namespace(), entry.name());
        }
        self.anew = false;
        self.reached(version);
        // Before the state: who waits for it asks then.
        self.watch.meet(&self.standards);
        self.watch.state.send_replace(State::Synced);
        if let Some(shared) = self.shared.upgrade() {
            self.heard_of_definition(&shared);
        }
    }

    /// What to do about the end of a turn.
    fn pause(&mut self, turn: Result<(), Error>, settings: &Settings) -> Pause {
        let error = match turn {
            Ok(()) if self.progressed => return Pause::None,
            Ok(()) => return Pause::For(self.next_pause(settings)),
            Err(error) => error,
        };
        tracing::debug!(kind = %self.watch.interest.kind, %error, "a watch failed");
        match error {
            Error::Expired(_) => {
                self.version = None;
                match self.progressed {
                    true => Pause::None,
                    false => Pause::For(self.next_pause(settings)),
                }
            }
            Error::NoSuchKind { .. } => {
                self.clear();
                self.watch.state.send_replace(State::NoSuchKind);
                match self.served {
                    // Discovery has the kind and its path does not: they will agree soon.
                    true => Pause::For(self.next_pause(settings)),
                    false => Pause::UntilServed(settings.slow_pause),
                }
            }
            Error::OverBudget { ref over, .. } => {
                let pause = over.left().mul_f64(1.0 + fastrand::f64() / 4.0);
                self.give_back(error);
                Pause::For(pause)
            }
            Error::Forbidden(_) | Error::Unauthorized(_) => {
                let error = Arc::new(error);
                self.watch.state.send_replace(State::Forbidden { error });
                Pause::For(settings.slow_pause.mul_f64(0.75 + fastrand::f64() / 2.0))
            }
            error => {
                let pause = self
                    .next_pause(settings)
                    .max(error.retry_after().unwrap_or_default());
                self.retrying(error);
                Pause::For(pause)
            }
        }
    }

    fn next_pause(&mut self, settings: &Settings) -> Duration {
        self.backoff
            .next(settings.first_pause, settings.longest_pause, fastrand::f64())
    }

    fn retrying(&self, error: Error) {
        let error = Arc::new(error);
        self.watch.state.send_modify(|state| {
            let since = match state {
                State::Retrying { since, .. } => *since,
                _ => Instant::now(),
            };
            *state = State::Retrying { since, error };
        });
    }
}

fn version_of(object: &Value) -> Str {
    object.str_at(&["metadata", "resourceVersion"]).into()
}
