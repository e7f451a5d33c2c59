//! What comes between two turns of a watch, and when there will be none.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::watch;

use super::Shared;
use super::interest::Interest;
use super::standard::Standard;
use super::watch::Watch;

/// What comes before the next turn.
pub(super) enum Pause {
    None,
    For(Duration),
    /// Until something is heard of what is served, or so long.
    UntilServed(Duration),
}

impl Pause {
    pub(super) async fn over(self, discoveries: &mut watch::Receiver<u64>, shared: &Weak<Shared>) {
        match self {
            // Others get their turn even where a server ends watches as soon as they begin.
            Pause::None => tokio::task::yield_now().await,
            Pause::For(time) => tokio::time::sleep(time).await,
            Pause::UntilServed(longest) => {
                // Definitions are watched meanwhile.
                let _definitions = shared
                    .upgrade()
                    .map(|shared| shared.follow(Interest::in_definitions(), &Standard::default()));
                // Whether something was heard or the time is over, the next turn looks.
                let _ = tokio::time::timeout(longest, discoveries.changed()).await;
            }
        }
    }
}

/// Returns when nobody has followed for a while and nobody can any more.
pub(super) async fn abandoned(watch: &Arc<Watch>, shared: &Weak<Shared>) {
    loop {
        watch.unfollowed().await;
        let Some(linger) = shared.upgrade().map(|shared| shared.settings().linger) else {
            return;
        };
        tokio::time::sleep(linger).await;
        if shared
            .upgrade()
            .is_none_or(|shared| shared.registry.forget(watch))
        {
            return;
        }
    }
}
