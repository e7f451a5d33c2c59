//! What the engine remembers of units while it runs. All of it can be found out again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::ObjectKey;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::cache::{Cache, Follow, Interest};
use crate::cluster::OverBudget;
use crate::observe::Memory;
use crate::plan::Plan;
use crate::sync::{Run, StepResult, Stop, is_older};
use crate::unit::SyncUnit;

use super::answers::Answered;
use super::awaited::Awaited;
use super::claims::Claims;
use super::clusters::Handle;
use super::corrections::Corrections;
use super::heard::Heard;
use super::intent::Intent;
use super::restless::Restless;

/// How long the watch may take to bring back what was written.
const CATCHING_UP: Duration = Duration::from_secs(1);

/// How long what others want is taken for what it was when they were heard.
const MOMENT: Duration = Duration::from_secs(10);

/// All units that were looked at.
#[derive(Default)]
pub(super) struct Units {
    units: Mutex<HashMap<String, Arc<Known>>>,
    /// Which units want and have which objects.
    pub(super) claims: Claims,
    /// What units wait for besides their own objects.
    pub(super) awaited: Awaited,
}

/// One unit.
#[derive(Default)]
pub(super) struct Known {
    pub(super) memory: Memory,
    /// Which objects were put right lately.
    pub(super) corrections: Mutex<Corrections>,
    /// What its source has described last.
    pub(super) restless: Mutex<Restless>,
    /// Told when somebody says that the unit has changed.
    pub(super) changed: Notify,
    pub(super) state: Mutex<State>,
}

/// What changes about a unit.
#[derive(Default)]
pub(super) struct State {
    /// The cluster it is in, which is followed for as long as this is kept.
    pub(super) cluster: Option<Handle>,
    /// The name of the cluster that it was to be in when it was last looked at.
    pub(super) sought: Option<String>,
    /// The cluster that it is to be in, if that was opened. It stays open, so that a change of it is heard of.
    pub(super) located: Option<Handle>,
    /// Who vouched for its cluster when it was last looked at.
    pub(super) vouched_by: Option<Arc<str>>,
    /// The kinds that are followed for it, everywhere, or in a namespace where they may not be read everywhere.
    pub(super) follows: Vec<(Interest, Follow)>,
    /// The operation that is under way and waits, or is about to be taken up.
    pub(super) active: Option<Box<Active>>,
    /// Whether a worker has taken up the operation.
    pub(super) running: bool,
    /// Whether the unit is looked at when the worker puts the operation down.
    pub(super) look_again: bool,
    /// What the operation that is under way was begun for.
    pub(super) intent: Option<Intent>,
    /// What is carried out by the worker.
    carried_out: Option<Arc<Plan>>,
    /// Whether and why what is under way is to stop.
    pub(super) stop: Option<Stop>,
    /// The revision that could not be applied, and when it is tried again: what an operation itself does to objects is no reason
    /// to try again at once.
    pub(super) held: Option<(String, Instant)>,
    /// What the last operation has written and the watch has not brought back yet.
    written: Option<Written>,
    /// A request that was answered, and may still be in the store.
    pub(super) answered: Option<Answered>,
    /// How many operations have ended in this process: a status that was read before one did is out of date.
    pub(super) endings: u64,
}

/// Objects that were written, with their versions.
struct Written {
    objects: Vec<(ObjectKey, String)>,
    /// When nobody waits for the watch any more: an object may be gone again, or not be followed.
    until: Instant,
}

/// An operation that is under way.
pub(super) struct Active {
    pub(super) run: Run,
    pub(super) started: Timestamp,
    /// What somebody has changed about objects that are applied already.
    pub(super) mends: Option<Run>,
    /// What was put right and is not stored yet.
    pub(super) corrected: Vec<ObjectKey>,
    /// What the operation waits for.
    pub(super) waits_for: HashSet<ObjectKey>,
    /// When all other units were heard last, if it has not waited since: only what they want is not deleted.
    pub(super) heard: Option<Instant>,
    /// How often its end could not be stored.
    pub(super) unstored: u32,
}

impl Active {
    /// Whether all other units were heard, a moment ago.
    pub(super) fn has_heard(&self) -> bool {
        self.heard.is_some_and(|heard| heard.elapsed() < MOMENT)
    }
}

impl State {
    /// The unit is in another cluster from now on: what is followed and planned is not about that one.
    pub(super) fn leave(&mut self) {
        self.follows.clear();
        if self.is_under_way() {
            self.supersede();
        }
    }

    /// What is under way is not what is wanted any more. What somebody has ended stays so.
    pub(super) fn supersede(&mut self) {
        if self.stop != Some(Stop::Terminated) {
            self.stop = Some(Stop::Superseded);
        }
    }

    /// The plan of the operation that is under way.
    pub(super) fn plan(&self) -> Option<&Arc<Plan>> {
        match &self.active {
            Some(active) => Some(active.run.plan()),
            None => self.carried_out.as_ref().filter(|_| self.running),
        }
    }

    /// Whether an operation is under way.
    pub(super) fn is_under_way(&self) -> bool {
        self.running || self.active.is_some()
    }

    /// Whether an operation is under way, or has ended since so many had.
    pub(super) fn is_busy(&self, endings: u64) -> bool {
        self.is_under_way() || self.endings != endings
    }
}

impl Known {
    /// How long it is until this revision is tried again, if it has failed.
    pub(super) fn held(&self, revision: &str) -> Option<Duration> {
        let state = self.state.lock();
        let (_, until) = state.held.as_ref().filter(|(held, _)| held == revision)?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Why the cluster of the unit is left alone, if it is.
    pub(super) fn over_budget(&self) -> Option<Arc<OverBudget>> {
        let located = self.state.lock().located.clone()?;
        located.cluster().within_budget().err()
    }

    /// Forgets where the unit is, if it is in such a cluster.
    pub(super) fn forget_location(&self, unit: &str, heard: &Heard, is_it: impl Fn(&Handle) -> bool) {
        let mut state = self.state.lock();
        let left = state.located.take_if(|cluster| is_it(cluster));
        if left.is_some() {
            heard.moves(unit);
        }
        drop(state);
    }

    /// The cluster is gone since it was looked for.
    pub(super) fn let_go(&self, cluster: &Handle) {
        let mut state = self.state.lock();
        if state
            .cluster
            .as_ref()
            .is_some_and(|now| Arc::ptr_eq(now, cluster))
        {
            state.cluster = None;
            state.leave();
        }
    }

    /// Takes up the operation, if there is one, with the cluster that it is in, if that is still there.
    pub(super) fn take_up(&self) -> Option<(Box<Active>, Option<Handle>)> {
        let mut state = self.state.lock();
        let cluster = state.cluster.clone();
        let active = state.active.take()?;
        state.running = true;
        state.carried_out = Some(Arc::clone(active.run.plan()));
        Some((active, cluster))
    }

    /// The operation waits. What others want may be something else when it goes on. Whether the unit is to be looked at now.
    pub(super) fn put_down(&self, mut active: Box<Active>) -> bool {
        active.heard = None;
        let mut state = self.state.lock();
        state.running = false;
        state.carried_out = None;
        state.active = Some(active);
        std::mem::take(&mut state.look_again)
    }

    /// An object is gone. If the operation that is under way counts on it, it is out of date: the next one brings it back.
    pub(super) fn lost(&self, key: &ObjectKey) {
        let mut state = self.state.lock();
        if state.plan().is_some_and(|plan| plan.expects(key)) {
            state.stop.get_or_insert_with(|| Stop::Lost(key.clone()));
        }
    }

    /// Whether somebody has ended what is under way or about to begin anew. That is asked once.
    pub(super) fn take_termination(&self) -> bool {
        let mut state = self.state.lock();
        let is_terminated = state.stop == Some(Stop::Terminated);
        if is_terminated {
            state.stop = None;
        }
        is_terminated
    }

    /// The operation has ended, with these results. One that has failed is not tried again before a while, and one that begins anew may
    /// have been ended by somebody meanwhile.
    pub(super) fn end(&self, results: &[StepResult], failed: Option<(String, Duration)>, begins_anew: bool) {
        let written = results
            .iter()
            .filter(|result| !result.resource_version.is_empty());
        let objects = written.map(|result| (result.key.clone(), result.resource_version.clone()));
        let mut state = self.state.lock();
        state.running = false;
        state.carried_out = None;
        state.look_again = false;
        state.intent = None;
        state.stop = state
            .stop
            .take()
            .filter(|stop| begins_anew && *stop == Stop::Terminated);
        state.held = failed.map(|(revision, retry)| (revision, Instant::now() + retry));
        state.written = Some(Written {
            objects: objects.collect(),
            until: Instant::now() + CATCHING_UP,
        });
        state.endings += 1;
    }

    /// Until when the watch may take to bring back what the last operation has written; nothing once it has. A look before that
    /// would ask the server about objects that are as they should be.
    pub(super) fn catches_up(&self, cache: &Cache) -> Option<Instant> {
        let mut state = self.state.lock();
        let written = state.written.as_mut()?;
        let is_back = |(key, version): &(ObjectKey, String)| {
            let entry = cache.get(key);
            entry.is_some_and(|entry| !is_older(entry.resource_version(), version))
        };
        written.objects.retain(|object| !is_back(object));
        let until = written.until;
        if written.objects.is_empty() || until <= Instant::now() {
            state.written = None;
            return None;
        }
        Some(until)
    }
}

impl Units {
    /// A unit, which need not have been known.
    pub(super) fn get(&self, id: &str) -> Arc<Known> {
        let mut units = self.units.lock();
        Arc::clone(units.entry(id.to_owned()).or_default())
    }

    /// Who vouches for the cluster of a unit, as far as is known.
    pub(super) fn voucher(&self, id: &str) -> Option<Arc<str>> {
        let known = self.units.lock().get(id).map(Arc::clone)?;
        let state = known.state.lock();
        state.vouched_by.clone()
    }

    /// Forgets where a unit is, if its destination is another one by now.
    pub(super) fn relocate(&self, unit: &SyncUnit, heard: &Heard) {
        let Some(known) = self.units.lock().get(&unit.id).map(Arc::clone) else {
            return;
        };
        known.forget_location(&unit.id, heard, |cluster| {
            cluster.name() != unit.destination.cluster
        });
    }

    /// Who vouches for the cluster of a unit, if it is known where the unit is.
    pub(super) fn located_voucher(&self, id: &str) -> Option<Arc<str>> {
        let known = self.units.lock().get(id).map(Arc::clone)?;
        let state = known.state.lock();
        state.located.as_ref()?.vouched_by().cloned()
    }

    /// Everything is forgotten about a unit that is gone. What it applied stays. The units for which that changes something are
    /// returned.
    pub(super) fn forget(&self, id: &str) -> HashSet<Arc<str>> {
        self.awaited.set(id, "", HashSet::new());
        self.units.lock().remove(id);
        self.claims.forget(id)
    }

    /// All units that have to do with an object, and whether the operation of each waits for it. One that is at work may be about
    /// to: it looks again when it is done, or else what came in just now would wake nobody.
    pub(super) fn concerned(&self, realm: &str, key: &ObjectKey) -> Vec<(String, bool)> {
        let units = self.claims.of(realm, key).into_iter();
        let concerned = units.map(|unit| {
            let known = self.get(&unit);
            let state = known.state.lock();
            let active = state.active.as_ref();
            let waits = active.is_some_and(|active| active.waits_for.contains(key));
            (unit.to_string(), waits || state.running)
        });
        concerned.collect()
    }

    /// Somebody says that a unit has changed: what has failed is tried again.
    pub(super) fn let_try(&self, id: &str) {
        let known = self.units.lock().get(id).map(Arc::clone);
        if let Some(known) = known {
            known.state.lock().held = None;
            known.restless.lock().is_told();
            known.changed.notify_one();
        }
    }

    /// Ends the operation of a unit at the next occasion.
    pub(super) fn terminate(&self, id: &str) {
        // It may be about to begin anew, or one that a process before us has left and nobody has taken up or even looked at yet. What is no
        // unit at all is forgotten by the look that follows.
        self.get(id).state.lock().stop = Some(Stop::Terminated);
    }

    /// The units that are in a cluster of this name, or are to be.
    pub(super) fn in_cluster(&self, name: &str) -> Vec<String> {
        let is_it = |cluster: &Option<Handle>| cluster.as_ref().is_some_and(|cluster| cluster.name() == name);
        let mut units = self.all();
        units.retain(|(_, known)| {
            let state = known.state.lock();
            is_it(&state.cluster) || is_it(&state.located)
        });
        units.into_iter().map(|(id, _)| id).collect()
    }

    /// All units, to be looked at again.
    pub(super) fn all(&self) -> Vec<(String, Arc<Known>)> {
        let units = self.units.lock();
        units
            .iter()
            .map(|(id, known)| (id.clone(), Arc::clone(known)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_kept_for_as_long_as_it_is_carried_out() {
        let known = Known::default();
        let plan = Arc::new(Plan::default());
        let run = Run::new(Arc::clone(&plan), crate::plan::Objects::default());
        known.state.lock().active = Some(Box::new(Active {
            run,
            started: Timestamp::UNIX_EPOCH,
            mends: None,
            corrected: Vec::new(),
            waits_for: HashSet::new(),
            heard: None,
            unstored: 0,
        }));
        let taken = known.take_up();
        assert_eq!(Arc::strong_count(&plan), 3);
        drop(taken);
        known.end(&[], None, false);
        assert_eq!(Arc::strong_count(&plan), 1, "it may be large");
    }

    #[test]
    fn what_was_not_looked_at_yet_can_be_ended_too() {
        let units = Units::default();
        units.terminate("shop");
        assert_eq!(units.get("shop").state.lock().stop, Some(Stop::Terminated));
        units.forget("shop");
        assert!(units.all().is_empty());
    }
}
