//! Telling discovery that definitions of custom resources changed.
//!
//! A server says that a definition is established a moment before its discovery and its paths know of it. So discovery is
//! told several times, at growing intervals, after the last change that was heard of.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::cluster::Cluster;

/// How long after a change discovery is told, each time after the one before.
const AFTER: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_millis(750),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];

/// Passes on that definitions changed.
#[derive(Clone, Default)]
pub(super) struct Definitions(Arc<Notify>);

impl Definitions {
    /// A definition came, changed or went.
    pub(super) fn changed(&self) {
        self.0.notify_one();
    }

    /// Tells discovery of the changes.
    pub(super) async fn run(self, cluster: Cluster) {
        loop {
            self.0.notified().await;
            while self.tell(&cluster).await {}
        }
    }

    /// Returns whether there was another change before discovery was told for the last time.
    async fn tell(&self, cluster: &Cluster) -> bool {
        for pause in AFTER {
            if tokio::time::timeout(pause, self.0.notified()).await.is_ok() {
                return true;
            }
            cluster.discovery_changed();
        }
        false
    }
}
