//! Lets as many requests through as the [`Limit`] allows, first come, first served.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::counts::Verb;
use super::limit::{Limit, Outcome, Sample};

pub(super) struct Limiter {
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    limit: Limit,
    /// How many permits there are, handed out or not.
    permits: usize,
}

/// The right to have one request in flight. It is given back when it is dropped; [`Slot::done`] tells how it went.
pub(super) struct Slot<'a> {
    limiter: &'a Limiter,
    permit: Option<OwnedSemaphorePermit>,
    verb: Verb,
    started: Instant,
    full: bool,
}

impl Limiter {
    pub(super) fn new() -> Limiter {
        let limit = Limit::new();
        let permits = limit.get();
        Limiter {
            permits: Arc::new(Semaphore::new(permits)),
            state: Mutex::new(State { limit, permits }),
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.state.lock().limit.get()
    }

    /// Waits for a slot.
    pub(super) async fn slot(&self, verb: Verb) -> Slot<'_> {
        let permits = Arc::clone(&self.permits);
        let permit = permits.acquire_owned().await.expect("it is never closed");
        Slot {
            limiter: self,
            full: self.permits.available_permits() == 0,
            permit: Some(permit),
            verb,
            started: Instant::now(),
        }
    }

    /// Brings the number of permits to the limit. What is handed out is taken away when it comes back.
    fn adjust(&self, state: &mut State) {
        let wanted = state.limit.get();
        if wanted > state.permits {
            self.permits.add_permits(wanted - state.permits);
            state.permits = wanted;
        } else {
            state.permits -= self.permits.forget_permits(state.permits - wanted);
        }
    }
}

impl Slot<'_> {
    /// Tells how the request ended.
    pub(super) fn done(self, outcome: Outcome) {
        let sample = Sample {
            verb: self.verb,
            started: self.started,
            ended: Instant::now(),
            outcome,
            full: self.full,
        };
        self.limiter.state.lock().limit.observe(sample);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let state = &mut *self.limiter.state.lock();
        match self.permit.take() {
            Some(permit) if state.permits > state.limit.get() => {
                permit.forget();
                state.permits -= 1;
            }
            permit => drop(permit),
        }
        self.limiter.adjust(state);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_more_are_let_through_than_the_limit() {
        let limiter = Limiter::new();
        let mut slots = Vec::new();
        for _ in 0..8 {
            slots.push(limiter.slot(Verb::Get).await);
        }
        assert!(limiter.slot(Verb::Get).now_or_never().is_none());
        slots.pop().unwrap().done(Outcome::Answered);
        assert!(limiter.slot(Verb::Get).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_smaller_limit_takes_back_what_was_handed_out() {
        let limiter = Limiter::new();
        let mut slots = Vec::new();
        for _ in 0..8 {
            slots.push(limiter.slot(Verb::Get).await);
        }
        tokio::time::advance(Duration::from_millis(5)).await;
        slots.pop().unwrap().done(Outcome::Overload);
        assert_eq!(limiter.limit(), 4);
        // Seven are in flight; until three of them are back nobody else is let through.
        for _ in 0..3 {
            assert!(limiter.slot(Verb::Get).now_or_never().is_none());
            drop(slots.pop());
        }
        assert!(limiter.slot(Verb::Get).now_or_never().is_none());
        drop(slots.pop());
        let slot = limiter.slot(Verb::Get).now_or_never();
        assert!(slot.is_some());
        assert!(limiter.slot(Verb::Get).now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_given_up_gives_its_slot_back() {
        let limiter = Limiter::new();
        for _ in 0..100 {
            drop(limiter.slot(Verb::Apply).await);
        }
        assert_eq!(limiter.limit(), 8);
        assert_eq!(limiter.permits.available_permits(), 8);
    }
}
