//! The server's own controllers: what the controller manager does in a real cluster.
//!
//! They read one feed of all changes, in order, and act through the same writes as clients. One task runs them all, so
//! what they do is deterministic for a given order of changes, and [`Progress`] can tell when they are done.

mod accounts;
pub(crate) mod definitions;
mod garbage;
mod namespaces;
mod roles;

use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::error::Result;
use crate::kinds::Served;
use crate::server::State;
use crate::simulator::{self, Simulator};
use crate::store::{Change, Key, Object};
use crate::strategy::Part;
use crate::verbs::delete::{DeleteOptions, delete_object};
use crate::verbs::options::WriteOptions;
use crate::verbs::write::{Update, Writer};
use model::Value;

/// How far the controllers are.
pub(crate) struct Progress {
    /// The newest revision they have worked off.
    done: watch::Sender<u64>,
}

impl Default for Progress {
    fn default() -> Self {
        Progress {
            done: watch::Sender::new(0),
        }
    }
}

impl Progress {
    /// Waits until everything up to the newest revision was worked off and nothing new came of it.
    pub(crate) async fn settled(&self, newest: impl Fn() -> u64) {
        let mut done = self.done.subscribe();
        loop {
            let target = newest();
            // The sender lives in `self`, so waiting fails never.
            let _ = done.wait_for(|done| *done >= target).await;
            if newest() == target {
                return;
            }
        }
    }
}

/// Runs the controllers until the server stops.
pub(crate) async fn run(
    state: Arc<State>,
    mut feed: mpsc::UnboundedReceiver<Arc<Change>>,
    simulator: Option<simulator::Options>,
) {
    let mut controllers = Controllers {
        garbage: garbage::Collector::default(),
        namespaces: namespaces::Terminator::default(),
        simulator: simulator.map(Simulator::new),
    };
    if let Some(simulator) = &controllers.simulator {
        simulator.start(&state);
    }
    let mut outcomes = state.outcomes.subscribe();
    loop {
        let wake = controllers.simulator.as_mut().and_then(Simulator::next_wake);
        tokio::select! {
            biased;
            () = state.stopped() => return,
            change = feed.recv() => {
                let Some(change) = change else { return };
                let mut done = change.revision;
                controllers.observe(&state, &change);
                // All that happened so far is taken in before anything is done about it.
                let newest = state.store.revision();
                while done < newest && let Ok(change) = feed.try_recv() {
                    done = change.revision;
                    controllers.observe(&state, &change);
                }
                controllers.work(&state).await;
                state.progress.done.send_replace(done);
                // Requests must not starve behind a long chain of follow-ups.
                tokio::task::yield_now().await;
            }
            // The sender lives in the state, so this fails never.
            _ = outcomes.changed() => {
                if let Some(simulator) = &mut controllers.simulator {
                    simulator.reconsider();
                }
                controllers.work(&state).await;
            }
            () = sleep_until(wake) => {
                if let Some(simulator) = &mut controllers.simulator {
                    simulator.wake();
                }
                controllers.work(&state).await;
            }
        }
    }
}

/// The controllers that remember something.
struct Controllers {
    garbage: garbage::Collector,
    namespaces: namespaces::Terminator,
    simulator: Option<Simulator>,
}

impl Controllers {
    fn observe(&mut self, state: &Arc<State>, change: &Change) {
        roles::observe(state, change);
        definitions::observe(state, change);
        accounts::observe(state, change);
        self.namespaces.observe(change);
        self.garbage.observe(state, change);
        if let Some(simulator) = &mut self.simulator {
            simulator.observe(change);
        }
    }

    /// Does what follows from many changes once.
    async fn work(&mut self, state: &Arc<State>) {
        self.namespaces.work(state);
        if let Some(simulator) = &mut self.simulator {
            simulator.work(state).await;
        }
    }
}

/// Returns at `wake`, or never.
async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

/// Writes of the server's own controllers: as clients do them, but without asking for rights.
impl State {
    /// Creates an object given as it would be sent, as `manager`.
    pub(crate) fn create_inside(
        self: &Arc<Self>,
        served: &Served,
        mut object: Value,
        manager: &str,
    ) -> Result<Arc<Object>> {
        served.strategy.decode(&mut object)?;
        served.strategy.default(&mut object);
        let namespace = object.str_at(&["metadata", "namespace"]).to_owned();
        let options = WriteOptions::internal(manager);
        Writer {
            state: self,
            served,
            namespace: &namespace,
            options: &options,
        }
        .create(object, false)
    }

    /// Changes an object as `manager`; an unchanged object is not written.
    pub(crate) fn update_inside(
        self: &Arc<Self>,
        served: &Served,
        key: &Key,
        part: Part,
        manager: &str,
        change: impl Fn(&mut Value),
    ) -> Result<Arc<Object>> {
        let options = WriteOptions::internal(manager);
        let writer = Writer {
            state: self,
            served,
            namespace: key.namespace(),
            options: &options,
        };
        writer.update(key, part, |old| {
            let mut object = old.clone();
            change(&mut object);
            served.strategy.default(&mut object);
            Ok(Update { object, owned: false })
        })
    }

    /// Stores an object as it is in place of `seen`; `None` where it changed meanwhile.
    pub(crate) fn store_inside(
        self: &Arc<Self>,
        served: &Served,
        seen: &Object,
        object: Value,
    ) -> Option<Arc<Object>> {
        let options = WriteOptions::internal("");
        let writer = Writer {
            state: self,
            served,
            namespace: seen.key.namespace(),
            options: &options,
        };
        writer.store(seen.key.clone(), Some(seen.revision), object).ok()
    }

    /// Removes an object whatever holds it; `None` where it changed meanwhile.
    pub(crate) fn remove_inside(
        self: &Arc<Self>,
        served: &Served,
        seen: &Arc<Object>,
    ) -> Option<Arc<Object>> {
        let options = WriteOptions::internal("");
        let writer = Writer {
            state: self,
            served,
            namespace: seen.key.namespace(),
            options: &options,
        };
        writer.remove(seen).ok()
    }

    /// Deletes an object if it is still there.
    pub(crate) fn delete_inside(self: &Arc<Self>, served: &Served, key: &Key, options: &DeleteOptions) {
        if let Some(object) = self.store.get(&served.resource.storage, key) {
            // It may be gone meanwhile, which is as good.
            let _ = delete_object(self, served, object, options);
        }
    }
}
