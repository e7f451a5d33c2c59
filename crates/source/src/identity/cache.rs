//! Credentials that are kept until they must be renewed, with one exchange for all who ask at the same time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use super::tally::{Involved, Tally};
use super::{Error, Grant};
use crate::store::Clock;
use crate::trust::Fingerprint;

/// How much is kept, and for how long (`--token-cache-max-size`, `--token-cache-max-duration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many grants. With 0 nothing is kept.
    pub size: usize,
    /// How long at most; never more than an hour.
    pub duration: Duration,
}

/// The longest time that a grant is kept.
const LONGEST: SignedDuration = SignedDuration::from_hours(1);

impl Default for Limits {
    fn default() -> Self {
        Limits {
            size: 100,
            duration: Duration::from_secs(3600),
        }
    }
}

pub(super) struct Cache {
    limits: Limits,
    clock: Clock,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    slots: HashMap<Fingerprint, (Arc<Slot>, u64)>,
    /// How often was asked: the smallest number was not wanted for the longest time.
    asked: u64,
    tally: Tally,
}

#[derive(Default)]
struct Slot {
    /// How many exchanges have ended.
    ended: AtomicU64,
    /// Whoever exchanges holds the lock, and the others wait for it.
    last: tokio::sync::Mutex<Option<Result<(Grant, Timestamp), Error>>>,
}

impl Cache {
    pub(super) fn new(limits: Limits, clock: Clock) -> Self {
        Cache {
            limits,
            clock,
            entries: Mutex::default(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// What is kept under this key, or else what is given now. A failure is told to those who waited for it, and not kept.
    pub(super) async fn get(
        &self,
        key: Fingerprint,
        involved: Option<&Involved>,
        exchange: impl AsyncFnOnce() -> Result<Grant, Error>,
    ) -> Result<Grant, Error> {
        if self.limits.size == 0 {
            return exchange().await;
        }
        let (got, was_kept) = self.kept_or_given(key, exchange).await;
        self.entries.lock().tally.count(involved, was_kept, got.is_ok());
        got
    }

    /// Says too whether it was kept.
    async fn kept_or_given(
        &self,
        key: Fingerprint,
        exchange: impl AsyncFnOnce() -> Result<Grant, Error>,
    ) -> (Result<Grant, Error>, bool) {
        let slot = self.slot(key);
        let ended = slot.ended.load(Ordering::Acquire);
        let mut last = slot.last.lock().await;
        match last.as_ref() {
            Some(Ok((grant, end))) if *end > self.now() => return (Ok(grant.clone()), true),
            Some(Err(error)) if slot.ended.load(Ordering::Acquire) != ended => {
                return (Err(error.clone()), false);
            }
            _ => {}
        }
        let now = self.now();
        let given = exchange().await;
        let longest = SignedDuration::try_from(self.limits.duration).unwrap_or(LONGEST);
        *last = Some(match &given {
            Ok(grant) => Ok((grant.clone(), grant.renewed_at(now, longest.min(LONGEST)))),
            Err(error) => Err(error.clone()),
        });
        slot.ended.fetch_add(1, Ordering::Release);
        (given, false)
    }

    /// What has been counted.
    pub(super) fn tally(&self) -> Tally {
        let entries = self.entries.lock();
        Tally {
            items: entries.slots.len(),
            ..entries.tally.clone()
        }
    }

    /// An object is gone.
    pub(super) fn forget(&self, involved: &Involved) {
        self.entries.lock().tally.events.remove(involved);
    }

    fn slot(&self, key: Fingerprint) -> Arc<Slot> {
        let mut entries = self.entries.lock();
        entries.asked += 1;
        let asked = entries.asked;
        if let Some((slot, last)) = entries.slots.get_mut(&key) {
            *last = asked;
            return Arc::clone(slot);
        }
        if entries.slots.len() >= self.limits.size {
            let oldest = entries.slots.iter().min_by_key(|(_, (_, last))| *last);
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                entries.slots.remove(&oldest);
                entries.tally.evictions += 1;
            }
        }
        let slot = Arc::new(Slot::default());
        entries.slots.insert(key, (Arc::clone(&slot), asked));
        slot
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("limits", &self.limits)
            .field("kept", &self.entries.lock().slots.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicUsize};

    use futures::future::join_all;

    use super::*;

    struct Bed {
        cache: Cache,
        now: Arc<AtomicI64>,
        exchanges: AtomicUsize,
    }

    fn key(name: &str) -> Fingerprint {
        Fingerprint::builder("test").text(name).build()
    }

    fn bed(limits: Limits) -> Bed {
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let clock: Clock = Arc::new(move || Timestamp::from_second(clock.load(Ordering::Relaxed)).unwrap());
        Bed {
            cache: Cache::new(limits, clock),
            now,
            exchanges: AtomicUsize::new(0),
        }
    }

    impl Bed {
        /// Asks for what is good for so many seconds; how often was exchanged until now.
        async fn ask(&self, name: &str, seconds: i64) -> usize {
            let exchange = async || {
                self.exchanges.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                let end = self.cache.now() + SignedDuration::from_secs(seconds);
                Ok(Grant::token("t".into(), Some(end)))
            };
            self.cache.get(key(name), None, exchange).await.unwrap();
            self.exchanges.load(Ordering::Relaxed)
        }

        fn at(&self, seconds: i64) {
            self.now.store(seconds, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn grants_are_renewed_at_four_fifths_of_their_lifetime_and_after_an_hour() {
        let bed = bed(Limits::default());
        assert_eq!(bed.ask("short", 1000).await, 1);
        bed.at(799);
        assert_eq!(bed.ask("short", 1000).await, 1);
        bed.at(800);
        assert_eq!(bed.ask("short", 1000).await, 2);
        bed.at(0);
        assert_eq!(bed.ask("long", 100_000).await, 3);
        bed.at(3599);
        assert_eq!(bed.ask("long", 100_000).await, 3);
        bed.at(3600);
        assert_eq!(bed.ask("long", 100_000).await, 4);
    }

    #[tokio::test]
    async fn many_askers_make_one_exchange() {
        let bed = bed(Limits::default());
        join_all((0..50).map(|_| bed.ask("one", 1000))).await;
        assert_eq!(bed.exchanges.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn a_failure_is_told_to_all_who_waited_and_to_nobody_later() {
        let bed = bed(Limits::default());
        let fail = async || {
            let exchange = async || {
                bed.exchanges.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err(Error::Setup("no".into()))
            };
            bed.cache.get(key("one"), None, exchange).await.unwrap_err()
        };
        join_all((0..10).map(|_| fail())).await;
        assert_eq!(bed.exchanges.load(Ordering::Relaxed), 1);
        assert_eq!(bed.ask("one", 1000).await, 2);
    }

    #[tokio::test]
    async fn what_was_not_wanted_for_the_longest_time_makes_room() {
        let limits = Limits {
            size: 2,
            ..Limits::default()
        };
        let bed = bed(limits);
        for name in ["a", "b", "a", "c", "a"] {
            bed.ask(name, 1000).await;
        }
        assert_eq!(bed.exchanges.load(Ordering::Relaxed), 3);
        assert_eq!(bed.ask("b", 1000).await, 4);
        let none = self::bed(Limits { size: 0, ..limits });
        none.ask("a", 1000).await;
        assert_eq!(none.ask("a", 1000).await, 2, "nothing is kept");
    }

    #[tokio::test]
    async fn what_is_asked_for_objects_is_counted() {
        let limits = Limits {
            size: 1,
            ..Limits::default()
        };
        let bed = bed(limits);
        let one = Involved::new("Bucket", "apps", "one");
        let give = async || Ok(Grant::token("t".into(), None));
        let refuse = async || Err(Error::Setup("no".into()));
        bed.cache.get(key("a"), Some(&one), give).await.unwrap();
        bed.cache.get(key("a"), Some(&one), give).await.unwrap();
        bed.cache.get(key("b"), None, give).await.unwrap();
        let two = Involved::new("Bucket", "apps", "two");
        bed.cache.get(key("c"), Some(&two), refuse).await.unwrap_err();
        let tally = bed.cache.tally();
        assert_eq!((tally.items, tally.evictions), (1, 2));
        assert_eq!((tally.successes, tally.failures), (3, 1));
        let events = |involved: &Involved| {
            let events = tally.events.get(involved)?;
            Some((events.hits, events.misses))
        };
        assert_eq!((events(&one), events(&two)), (Some((1, 1)), Some((0, 1))));
        bed.cache.forget(&one);
        assert_eq!(bed.cache.tally().events.len(), 1);
    }
}
