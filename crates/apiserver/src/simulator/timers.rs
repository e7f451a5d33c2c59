//! When to look at which object again, and since when each is where it is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use super::Task;

/// At most one time for each object: looking at it tells whether another look is needed.
#[derive(Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, Task)>>,
    /// The time that counts; what else is in the heap is out of date.
    due: HashMap<Task, Instant>,
}

impl Timers {
    /// Wants a look at `task` at `time`, or earlier where that was wanted already.
    pub(super) fn set(&mut self, task: Task, time: Instant) {
        if self.due.get(&task).is_some_and(|due| *due <= time) {
            return;
        }
        self.due.insert(task.clone(), time);
        self.heap.push(Reverse((time, task)));
    }

    /// Wants no more look at `task`.
    pub(super) fn forget(&mut self, task: &Task) {
        self.due.remove(task);
    }

    /// The next time that something is due.
    pub(super) fn next(&mut self) -> Option<Instant> {
        while let Some(Reverse((time, task))) = self.heap.peek() {
            if self.due.get(task) == Some(time) {
                return Some(*time);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes one object that is due at `now`.
    pub(super) fn take(&mut self, now: Instant) -> Option<Task> {
        if self.next()? > now {
            return None;
        }
        let Reverse((_, task)) = self.heap.pop()?;
        self.due.remove(&task);
        Some(task)
    }
}

/// Since when objects are in the stages of their lives. Times in objects have whole seconds only; these are exact.
#[derive(Default)]
pub(super) struct Stages {
    began: HashMap<Task, Vec<(&'static str, Instant)>>,
}

impl Stages {
    /// How much of `delay` is left since the stage began, which is now when this is the first time it is asked about.
    /// `None` when it is over.
    pub(super) fn left(&mut self, task: &Task, stage: &'static str, delay: Duration) -> Option<Duration> {
        let now = Instant::now();
        let stages = match self.began.get_mut(task) {
            Some(stages) => stages,
            None => self.began.entry(task.clone()).or_default(),
        };
        let since = match stages.iter().find(|(name, _)| *name == stage) {
            Some((_, since)) => *since,
            None => {
                stages.push((stage, now));
                now
            }
        };
        delay
            .checked_sub(now.duration_since(since))
            .filter(|left| !left.is_zero())
    }

    /// Whether the stage began.
    pub(super) fn has(&self, task: &Task, stage: &'static str) -> bool {
        let stages = self.began.get(task);
        stages.is_some_and(|stages| stages.iter().any(|(name, _)| *name == stage))
    }

    /// The stage is left: when it is entered again, it begins anew.
    pub(super) fn end(&mut self, task: &Task, stage: &'static str) {
        if let Some(stages) = self.began.get_mut(task) {
            stages.retain(|(name, _)| *name != stage);
        }
    }

    /// The object is gone.
    pub(super) fn forget(&mut self, task: &Task) {
        self.began.remove(task);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;
    use crate::store::Key;

    fn task(name: &str) -> Task {
        (Kind::Pod, Key::new("default", name))
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_earliest_time_of_an_object_counts() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut timers = Timers::default();
        timers.set(task("a"), at(5));
        timers.set(task("a"), at(3));
        timers.set(task("a"), at(9));
        timers.set(task("b"), at(4));
        assert_eq!(timers.next(), Some(at(3)));
        assert_eq!(timers.take(at(2)), None);
        assert_eq!(timers.take(at(9)), Some(task("a")));
        assert_eq!(timers.take(at(9)), Some(task("b")));
        assert_eq!(timers.take(at(9)), None);
        assert_eq!(timers.next(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stage_begins_when_it_is_first_asked_about() {
        let mut stages = Stages::default();
        let delay = Duration::from_millis(1500);
        assert_eq!(stages.left(&task("a"), "start", delay), Some(delay));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(
            stages.left(&task("a"), "start", delay),
            Some(Duration::from_millis(500))
        );
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(stages.left(&task("a"), "start", delay), None);
        stages.end(&task("a"), "start");
        assert_eq!(stages.left(&task("a"), "start", delay), Some(delay));
        assert_eq!(stages.left(&task("a"), "stop", Duration::ZERO), None);
    }
}
