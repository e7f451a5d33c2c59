//! Waiting until something holds, without sleeping.
//!
//! [`settled`] checks a condition, and then again each time a change signal fires, until it holds or the deadline has
//! passed. The signal is anything that says "look again": a [`watch`] channel, a [`Notify`], the request log of
//! one of the servers here, the watch of a cluster. The condition says in words why it does not hold yet, and the last such
//! reason is the error.
//!
//! ```
//! # use std::time::Duration;
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let (count, changes) = tokio::sync::watch::channel(0);
//! tokio::spawn(async move {
//!     for n in 1..=3 {
//!         count.send_replace(n);
//!         tokio::task::yield_now().await;
//!     }
//! });
//! let seen = changes.clone();
//! let n = testkit::settled(Duration::from_secs(5), changes, async || match *seen.borrow() {
//!     3 => Ok(3),
//!     n => Err(format!("only {n} of 3 arrived")),
//! });
//! assert_eq!(n.await.unwrap(), 3);
//! # });
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, broadcast, watch};
use tokio::time::Instant;

/// Something that says when to look again.
pub trait Changes {
    /// Ready as soon as something may have changed since the last call. A change between two calls is not lost. `Ended`
    /// when nothing will ever change again.
    fn changed(&mut self) -> impl Future<Output = Change>;
}

/// What a change signal has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Something may have changed.
    LookAgain,
    /// Nothing will change any more.
    Ended,
}

impl<T> Changes for watch::Receiver<T> {
    async fn changed(&mut self) -> Change {
        match watch::Receiver::changed(self).await {
            Ok(()) => Change::LookAgain,
            Err(_) => Change::Ended,
        }
    }
}

impl<T: Clone> Changes for broadcast::Receiver<T> {
    async fn changed(&mut self) -> Change {
        match self.recv().await {
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => Change::LookAgain,
            Err(broadcast::error::RecvError::Closed) => Change::Ended,
        }
    }
}

/// For `notify_one`, which is kept until it is asked for. `notify_waiters` would lose changes.
impl Changes for Arc<Notify> {
    async fn changed(&mut self) -> Change {
        self.notified().await;
        Change::LookAgain
    }
}

impl<C: Changes + ?Sized> Changes for &mut C {
    async fn changed(&mut self) -> Change {
        C::changed(self).await
    }
}

/// For what gives no signal, such as a file: looks again after each interval.
#[derive(Clone, Copy, Debug)]
pub struct Every(pub Duration);

impl Changes for Every {
    async fn changed(&mut self) -> Change {
        tokio::time::sleep(self.0).await;
        Change::LookAgain
    }
}

/// The condition did not come to hold.
#[derive(Debug, thiserror::Error)]
#[error("not settled {after}, looked {looks} times: {reason}", after = After(*deadline, *change))]
pub struct Unsettled<R: fmt::Display> {
    /// What the condition said last.
    pub reason: R,
    /// How often the condition was checked.
    pub looks: u32,
    /// How long was to be waited.
    pub deadline: Duration,
    change: Change,
}

struct After(Duration, Change);

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Change::LookAgain => write!(f, "after {:?}", self.0),
            Change::Ended => write!(f, "when the changes ended"),
        }
    }
}

/// Waits until the condition holds and returns what it found. See the module.
///
/// # Errors
/// The last reason, when the deadline passed or the changes ended before the condition held.
pub async fn settled<T, R: fmt::Display>(
    deadline: Duration,
    mut changes: impl Changes,
    mut condition: impl AsyncFnMut() -> Result<T, R>,
) -> Result<T, Unsettled<R>> {
    let until = Instant::now() + deadline;
    let mut looks = 0;
    let mut change = Change::LookAgain;
    loop {
        looks += 1;
        let reason = match condition().await {
            Ok(found) => return Ok(found),
            Err(reason) => reason,
        };
        if change == Change::Ended || Instant::now() >= until {
            return Err(Unsettled {
                reason,
                looks,
                deadline,
                change,
            });
        }
        // When the signal ends or time runs out the condition gets one last look: it may have come to hold meanwhile.
        change = tokio::time::timeout_at(until, changes.changed())
            .await
            .unwrap_or(Change::LookAgain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Duration = Duration::from_secs(3);

    #[tokio::test(start_paused = true)]
    async fn fails_with_the_last_reason_at_the_deadline() {
        let mut looks = 0;
        let error = settled(DEADLINE, Every(Duration::from_secs(1)), async || {
            looks += 1;
            Err::<(), _>(format!("look {looks}"))
        });
        let error = error.await.unwrap_err();
        assert!(
            error.to_string().starts_with("not settled after 3s, looked "),
            "{error}"
        );
        assert!(
            error.to_string().ends_with(&format!("look {}", error.looks)),
            "{error}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn ends_early_when_nothing_can_change_any_more() {
        let (sender, changes) = watch::channel(());
        drop(sender);
        let begin = Instant::now();
        let error = settled(DEADLINE, changes, async || Err::<(), _>("no"))
            .await
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "not settled when the changes ended, looked 2 times: no"
        );
        assert_eq!(begin.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_during_the_check_is_not_lost() {
        let (sender, changes) = watch::channel(0);
        let mut first = true;
        let found = settled(DEADLINE, changes, async || {
            // The change comes after the value was read and before the wait begins.
            let value = *sender.borrow();
            if std::mem::take(&mut first) {
                sender.send_replace(1);
            }
            if value == 1 { Ok(value) } else { Err("still 0") }
        });
        assert_eq!(found.await.unwrap(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_condition_that_holds_is_looked_at_once() {
        let notify = Arc::new(Notify::new());
        assert_eq!(
            settled(DEADLINE, notify, async || Ok::<_, &str>(7))
                .await
                .unwrap(),
            7
        );
    }
}
