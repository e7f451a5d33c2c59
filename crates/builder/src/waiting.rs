//! Limits of the time that one build waits for servers.
//!
//! A build runs on a thread that blocks, which nobody can stop from outside. The owner of the files chooses the servers. So every
//! wait counts against one budget, and ends at once when nobody wants the result of the build any more.

use std::future::pending;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// The time that one build may wait for all servers of one kind together.
pub(crate) const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Cancels a build when it is dropped. Keep it in the future that waits for the build.
#[must_use = "dropping it cancels the build"]
#[derive(Debug)]
pub struct CancelOnDrop {
    _sender: watch::Sender<()>,
}

/// The signal that a build is cancelled. Clones share it. The default is never cancelled.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    sender_gone: Option<watch::Receiver<()>>,
}

impl Cancellation {
    /// Makes a signal and the guard that triggers it.
    pub fn new() -> (CancelOnDrop, Cancellation) {
        let (sender, receiver) = watch::channel(());
        let cancellation = Cancellation {
            sender_gone: Some(receiver),
        };
        (CancelOnDrop { _sender: sender }, cancellation)
    }

    /// Waits until the build is cancelled.
    async fn cancelled(&self) {
        let Some(mut receiver) = self.sender_gone.clone() else {
            return pending().await;
        };
        while receiver.changed().await.is_ok() {}
    }
}

/// The place of a build among those that run at once. It leaves the place to others while it waits for servers.
pub trait Place: Send + Sync {
    /// Leaves the place to others.
    fn leave(&self);

    /// Waits for a place.
    fn retake(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The time that one build may wait, and the signal that ends every wait.
pub struct WaitBudget {
    left: Mutex<Duration>,
    cancellation: Cancellation,
    place: Option<Arc<dyn Place>>,
}

/// The reason that a wait ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupted {
    /// The build has spent its budget.
    Spent,
    /// The build is cancelled.
    Cancelled,
}

impl Default for WaitBudget {
    fn default() -> Self {
        WaitBudget::new(Cancellation::default())
    }
}

impl WaitBudget {
    /// The usual budget: five minutes.
    pub fn new(cancellation: Cancellation) -> Self {
        WaitBudget {
            left: Mutex::new(LIMIT),
            cancellation,
            place: None,
        }
    }

    /// Leaves this place to other builds during every wait.
    #[must_use]
    pub fn leaving(mut self, place: Arc<dyn Place>) -> Self {
        self.place = Some(place);
        self
    }

    /// Runs `work` on the calling thread until it ends, the budget is spent or the build is cancelled.
    pub(crate) fn wait<T>(&self, runtime: &Handle, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        let limit = self.left();
        if limit.is_zero() {
            return Err(Interrupted::Spent);
        }
        runtime.block_on(async {
            if let Some(place) = &self.place {
                place.leave();
            }
            let begun = Instant::now();
            let result = tokio::select! {
                biased;
                () = self.cancellation.cancelled() => Err(Interrupted::Cancelled),
                result = timeout(limit, work) => result.map_err(|_| Interrupted::Spent),
            };
            self.spend(begun.elapsed());
            if let Some(place) = &self.place {
                place.retake().await;
            }
            result
        })
    }

    fn left(&self) -> Duration {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spend(&self, took: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(took);
    }

    #[cfg(test)]
    pub(crate) fn set_left(&self, limit: Duration) {
        *self.left.lock().unwrap() = limit;
    }
}
