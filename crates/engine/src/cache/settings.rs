//! What the cache keeps, and how it goes about it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::health::State;
use model::{Health, Str, Value};

use super::entry::Entry;
use crate::health::{Evaluations, Overrides, Rules, cel};
use crate::panics::caught;

/// Tells how an object is doing.
pub trait Assess: Send + Sync {
    /// How the object is doing at this time; nothing where nothing is known of its kind.
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health>;

    /// The same with the work that is left for the object. Rules that count none do not take any.
    fn assess_within(&self, object: &Value, now: Timestamp, _work: &mut cel::Work) -> Option<Health> {
        self.assess(object, now)
    }

    /// Whether it has anything to say of objects of this kind. What says no is not asked about any of them.
    fn is_about(&self, _group: &str, _kind: &str) -> bool {
        true
    }
}

/// How an object is doing by rules that may be somebody else's. If they panic it is not known, and the watch goes on.
pub(super) fn assessed(
    rules: &dyn Assess,
    object: &Value,
    now: Timestamp,
    work: &mut cel::Work,
) -> Option<Health> {
    caught(|| rules.assess_within(object, now, work)).unwrap_or_else(|panic| {
        tracing::error!(%panic, "rules of health panicked");
        let message = format!("the rules of its health panicked: {panic}");
        Some(Health::because(State::Unknown, message))
    })
}

impl Assess for Rules {
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        Rules::assess(*self, object, now)
    }
}

impl Assess for Overrides {
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        Overrides::assess(self, object, now)
    }
}

impl Assess for cel::Checks {
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        self.assess_at(object, now)
    }

    fn assess_within(&self, object: &Value, now: Timestamp, work: &mut cel::Work) -> Option<Health> {
        cel::Checks::assess_within(self, object, now, work)
    }

    fn is_about(&self, group: &str, kind: &str) -> bool {
        self.has(group, kind)
    }
}

impl Assess for cel::LazyChecks {
    fn assess(&self, object: &Value, now: Timestamp) -> Option<Health> {
        self.assess_at(object, now)
    }

    fn assess_within(&self, object: &Value, now: Timestamp, work: &mut cel::Work) -> Option<Health> {
        cel::LazyChecks::assess_within(self, object, now, work)
    }

    fn is_about(&self, group: &str, kind: &str) -> bool {
        self.has(group, kind)
    }
}

/// Tells whether the whole object is kept. The entry has everything but the object.
pub type Keep = Arc<dyn Fn(&Entry, &Value) -> bool + Send + Sync>;

/// A group and a kind.
pub type GroupKind = (Str, Str);

/// What the cache keeps, and how it goes about it. All of it may change while the cache is running
/// ([`Cache::set_settings`](super::Cache::set_settings)).
#[derive(Clone)]
pub struct Settings {
    /// How objects are doing is told by this.
    pub health: Arc<dyn Assess>,
    /// And for some kinds by this.
    pub health_of: HashMap<GroupKind, Arc<dyn Assess>>,
    /// Where rules of others are evaluated. All caches of a process share one limit by default.
    pub evaluations: Evaluations,
    /// The cluster, to tell its evaluations from those of other clusters.
    pub realm: Str,
    /// The labels that entries have.
    pub labels: Arc<BTreeSet<Str>>,
    /// Which objects are kept whole; none where this is missing.
    pub keep: Option<Keep>,
    /// Kinds that are not watched whoever asks for them.
    pub excluded: HashSet<GroupKind>,
    /// What time it is, for rules that ask.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Where lists are not streamed they come in pages of so many objects.
    pub page: usize,
    /// A watch that nobody follows any more ends after this time.
    pub linger: Duration,
    /// A watch that failed is begun again after this time, and after twice the time each time it fails again,
    pub first_pause: Duration,
    /// up to this time.
    pub longest_pause: Duration,
    /// A kind that may not be read is asked for again after this time, and so is one that does not exist if nothing is heard
    /// of it before.
    pub slow_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            health: Arc::new(Rules::Kstatus),
            health_of: HashMap::new(),
            evaluations: Evaluations::default(),
            realm: Str::default(),
            labels: Arc::default(),
            keep: None,
            excluded: HashSet::new(),
            clock: Arc::new(Timestamp::now),
            page: 500,
            linger: Duration::from_secs(30),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
            slow_pause: Duration::from_secs(120),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("labels", &self.labels)
            .field("excluded", &self.excluded)
            .field("page", &self.page)
            .finish_non_exhaustive()
    }
}

/// The part of the settings that entries of a kind are made by.
#[derive(Clone)]
pub(super) struct KindSettings {
    pub(super) health: Arc<dyn Assess>,
    /// Whether that is for this kind alone.
    pub(super) special: bool,
    labels: Arc<BTreeSet<Str>>,
    keep: Option<Keep>,
    pub(super) excluded: bool,
}

impl Settings {
    pub(super) fn of(&self, group: &str, kind: &str) -> KindSettings {
        let key = (Str::new(group), Str::new(kind));
        KindSettings {
            health: Arc::clone(self.health_of.get(&key).unwrap_or(&self.health)),
            special: self.health_of.contains_key(&key),
            labels: Arc::clone(&self.labels),
            keep: self.keep.clone(),
            excluded: self.excluded.contains(&key),
        }
    }
}

impl KindSettings {
    pub(super) fn keep(&self, entry: &Entry, object: &Value) -> bool {
        self.keep.as_ref().is_some_and(|keep| keep(entry, object))
    }

    pub(super) fn labels_of(&self, object: &Value) -> Box<[(Str, Str)]> {
        if self.labels.is_empty() {
            return Box::default();
        }
        let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object);
        let pairs = labels.into_iter().flat_map(|labels| labels.iter());
        pairs
            .filter(|(key, _)| self.labels.contains(*key))
            .filter_map(|(key, value)| Some((key.into(), value.as_str()?.into())))
            .collect()
    }

    /// Whether the same entries are made by both.
    pub(super) fn is(&self, other: &KindSettings) -> bool {
        let keep = match (&self.keep, &other.keep) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        keep && Arc::ptr_eq(&self.health, &other.health)
            && self.special == other.special
            && self.labels == other.labels
            && self.excluded == other.excluded
    }
}
