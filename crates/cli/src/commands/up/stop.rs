//! What ends `sluice up`.

#[cfg(unix)]
use anyhow::Context as _;

/// What the user and the system tell a program to end by.
#[cfg(unix)]
pub(super) struct Stop([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Stop {
    pub(super) fn new() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let watch = |kind| signal(kind).context("failed to watch for signals");
        Ok(Stop([
            watch(SignalKind::interrupt())?,
            watch(SignalKind::terminate())?,
            watch(SignalKind::hangup())?,
        ]))
    }

    /// Ends with the next of them.
    pub(super) async fn next(&mut self) {
        let [interrupt, terminate, hang_up] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Stop;

#[cfg(not(unix))]
impl Stop {
    pub(super) fn new() -> anyhow::Result<Self> {
        Ok(Stop)
    }

    /// Ends with the next Ctrl-C.
    pub(super) async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
