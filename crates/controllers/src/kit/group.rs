//! The controllers of a process, started together and stopped together.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::runner::{Reconcile, Runner};

/// Controllers that run.
#[derive(Default)]
pub struct Group {
    running: JoinSet<()>,
    stops: Vec<Box<dyn Fn() + Send + Sync>>,
    cuts: Vec<Box<dyn Fn() + Send + Sync>>,
}

impl Group {
    /// No controller yet.
    pub fn new() -> Self {
        Group::default()
    }

    /// Starts a controller.
    pub fn start<R: Reconcile>(&mut self, runner: &Arc<Runner<R>>) {
        let queue = runner.queue().clone();
        self.stops.push(Box::new(move || queue.close()));
        let cut = Arc::clone(runner);
        self.cuts.push(Box::new(move || cut.cut_off()));
        self.running.spawn(Arc::clone(runner).run());
    }

    /// Waits until one of them has ended, which only [`Group::stop`] is to bring about.
    pub async fn ended(&mut self) {
        if self.running.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Begins no more runs and waits for those that go on, for at most this long. Whether all came to their end; what did
    /// not is cut off, which is safe.
    pub async fn stop(&mut self, limit: Duration) -> bool {
        for stop in &self.stops {
            stop();
        }
        let all = async { while self.running.join_next().await.is_some() {} };
        let in_time = timeout(limit, all).await.is_ok();
        for cut in &self.cuts {
            cut();
        }
        self.running.shutdown().await;
        in_time
    }
}
