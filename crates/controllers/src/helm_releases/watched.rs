//! Releases whose objects are watched: whoever changes one by hand has its release looked at within a moment, not at the next interval.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use engine::cache::{Change, Follow, Subscription};
use engine::observe::Memory;
use model::ObjectKey;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::site::Site;

/// A change may be the first of several.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// A release whose objects somebody changes again and again is looked at after twice the time each time, up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// One that was left alone for so long is looked at at once again.
const LEFT_ALONE: Duration = Duration::from_secs(60);

/// The objects of a release, watched until this is dropped.
pub(super) struct Watched {
    _follows: Vec<Follow>,
    task: AbortHandle,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watched {
    /// Watches objects, and calls when one is not what it should be any more.
    pub(super) async fn new(
        mut site: Site,
        keys: HashSet<ObjectKey>,
        call: impl Fn() + Send + 'static,
    ) -> Self {
        site.follow(keys.iter()).await;
        let changes = site
            .cache
            .subscribe(Box::new(move |entry| keys.contains(&entry.key())));
        // What happened before there was a subscription.
        if site.memory.differs(&site.cache) {
            call();
        }
        let task = tokio::spawn(watch(changes, Arc::clone(&site.memory), call));
        Watched {
            task: task.abort_handle(),
            _follows: std::mem::take(&mut site.follows),
        }
    }
}

async fn watch(mut changes: Subscription, memory: Arc<Memory>, call: impl Fn()) {
    let mut pause = FIRST_PAUSE;
    let mut last = None;
    while let Some(change) = changes.next().await {
        let is_other = match &change {
            Change::Updated(entry) => memory.is_other(&entry.key(), entry.content()),
            Change::Removed(_) | Change::Lost => true,
        };
        if !is_other {
            continue;
        }
        let is_restless = last.is_some_and(|last: Instant| last.elapsed() < LEFT_ALONE + pause);
        pause = match is_restless {
            true => (pause * 2).min(LONGEST_PAUSE),
            false => FIRST_PAUSE,
        };
        sleep(pause).await;
        while changes.try_next().is_some() {}
        last = Some(Instant::now());
        call();
    }
}
