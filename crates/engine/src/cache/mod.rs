//! What is known of a cluster without asking it.
//!
//! Somebody [follows](Cache::follow) the objects of a kind; then they are watched, and what decisions need of each (its
//! [`Entry`]) can be read at any time, and changes are [told](Cache::subscribe). What nobody follows costs nothing.
//!
//! ```no_run
//! # async fn doc(cluster: engine::cluster::Cluster) -> Result<(), engine::cache::NotSynced> {
//! use engine::cache::{Cache, Interest, Settings};
//! use tokio::time::{Duration, Instant};
//!
//! let cache = Cache::new(cluster, Settings::default());
//! let mut changes = cache.subscribe(Box::new(|entry| entry.namespace() == "shop"));
//! let deployments = cache.follow(Interest::in_all("apps", "Deployment"));
//! deployments.synced(Instant::now() + Duration::from_secs(30)).await?;
//! while let Some(change) = changes.next().await {
//!     println!("{change:?}");
//! }
//! # Ok(()) }
//! ```
//!
//! Each watch is a [state machine](State) of its own with its own entries and its own pauses: one that fails, is forbidden or
//! has no kind to watch holds up no other. There is no lock over all: a reader takes the lock of one shard of one
//! watch for one lookup, whatever is being listed meanwhile.
//!
//! **Guarantees**: a change is told after it can be read; of each object the last state is told. An object that was removed
//! while a watch was broken is told as removed when it is back. **Caveats**: while a kind is [`State::Retrying`] or
//! [`State::Forbidden`], what was last known of it is still there to be read. Rules of health that depend on the time see the
//! time of the last change.

mod assess;
mod clusters;
mod content;
mod definitions;
mod entry;
mod ingest;
mod interest;
mod owner;
mod pause;
mod registry;
mod seen;
mod settings;
mod standard;
mod state;
mod store;
mod subscription;
mod tree;
mod uid;
mod watch;
mod watcher;

use std::sync::Arc;

use model::{ObjectKey, Value};
use parking_lot::RwLock;
use tokio::task::AbortHandle;
use tokio::time::Instant;

pub use clusters::{Access, Clusters};
pub use content::digest as content;
pub use entry::Entry;
pub use interest::Interest;
pub use owner::Owner;
pub use settings::{Assess, GroupKind, Keep, Settings};
pub use standard::{OwnRules, Standard};
pub use state::{NotSynced, State};
pub use subscription::{Change, Filter, Subscription};
pub use tree::Tree;
pub use uid::Uid;
pub use watch::Follow;

use crate::cluster::{Cluster, Detail, Resource};
use assess::Rules;
use definitions::Definitions;
use entry::{Id, Kind};
use registry::Registry;
use subscription::Subscribers;
use watcher::Watcher;

/// What is known of a cluster. Clones are handles to the same; when the last one is dropped, all watches end.
#[derive(Clone)]
pub struct Cache {
    shared: Arc<Shared>,
}

/// What a cache's handles and watches share.
struct Shared {
    cluster: Cluster,
    settings: RwLock<Arc<Settings>>,
    registry: Registry,
    subscribers: Subscribers,
    definitions: Definitions,
    task: AbortHandle,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// It is there.
    Found(Arc<Entry>),
    /// It is not there: its kind is followed where it would be, and all of them are known.
    Missing,
    /// It may be there or not.
    Unknown,
}

impl Cache {
    /// An empty cache. Must be called inside a tokio runtime, which its watches run on.
    pub fn new(cluster: Cluster, settings: Settings) -> Cache {
        let definitions = Definitions::default();
        let task = tokio::spawn(definitions.clone().run(cluster.clone())).abort_handle();
        Cache {
            shared: Arc::new(Shared {
                cluster,
                settings: RwLock::new(Arc::new(settings)),
                registry: Registry::default(),
                subscribers: Subscribers::default(),
                definitions,
                task,
            }),
        }
    }

    /// The cluster it is of.
    pub fn cluster(&self) -> &Cluster {
        &self.shared.cluster
    }

    /// Keeps the cache informed of some objects until the guard is dropped. Those who want the same, or less, share a
    /// watch.
    pub fn follow(&self, interest: Interest) -> Follow {
        self.follow_by(interest, &Standard::default())
    }

    /// The same, with a standard of one's own by which it is told [how the objects are doing](Entry::health_by). If nobody else who
    /// shares the watch has it, it is begun anew; meanwhile everything can be read that was there before.
    pub fn follow_by(&self, interest: Interest, standard: &Standard) -> Follow {
        self.shared.follow(interest, standard)
    }

    /// Waits until all objects of an interest are known. See [`Follow::synced`].
    ///
    /// # Errors
    /// At once where the kind does not exist or may not be read, otherwise at the deadline.
    pub async fn synced(&self, follow: &Follow, deadline: Instant) -> Result<(), NotSynced> {
        follow.synced(deadline).await
    }

    /// How far a kind is; of several watches of it, the one that is furthest behind counts.
    pub fn state(&self, group: &str, kind: &str) -> State {
        self.shared.registry.state(group, kind)
    }

    /// What is known of an object that is followed.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Entry>> {
        self.shared.registry.get(key)
    }

    /// The same; of several watches that have it, one that has assessed it by this standard counts.
    pub fn get_by(&self, key: &ObjectKey, standard: &Standard) -> Option<Arc<Entry>> {
        self.shared.registry.get_by(key, standard)
    }

    /// What is known of an object, if the watch that has it is up to date: what is known of a kind that is being retried or may not be read is
    /// what it was, and nothing can be told by it.
    pub fn fresh(&self, key: &ObjectKey) -> Option<Arc<Entry>> {
        self.shared.registry.fresh(key)
    }

    /// Whether a watch that would have an object has told of everything up to this version. Of versions that are no numbers it cannot
    /// be told, and is taken for granted.
    pub fn has_reached(&self, key: &ObjectKey, version: &str) -> bool {
        let Ok(version) = version.parse::<u64>() else {
            return true;
        };
        let watches = self.shared.registry.of(&key.group, &key.kind);
        let mut watches = watches.iter();
        watches.any(|watch| watch.interest.has_some_of(&key.namespace) && watch.reached() >= version)
    }

    /// The same as [`fresh`](Cache::fresh), and whether its absence is certain.
    pub fn find(&self, key: &ObjectKey) -> Lookup {
        // Whether all are known is asked first: what comes in after that is found.
        let watches = self.shared.registry.of(&key.group, &key.kind).into_iter();
        let certain = watches
            .filter(|watch| watch.is_synced())
            .any(|watch| watch.interest.has_all_of(&key.namespace));
        match self.fresh(key) {
            Some(entry) => Lookup::Found(entry),
            None if certain => Lookup::Missing,
            None => Lookup::Unknown,
        }
    }

    /// What would be kept of an object that somebody has read, assessed by this standard: for those that cannot be followed.
    pub async fn entry_of(&self, resource: &Resource, object: Value, standard: &Standard) -> Entry {
        let settings = self.shared.settings();
        let id = Arc::new(Id {
            kind: Arc::new(Kind::of(resource)),
            namespace: object.str_at(&["metadata", "namespace"]).into(),
            name: object.str_at(&["metadata", "name"]).into(),
        });
        let kind = settings.of(&resource.group, &resource.kind);
        let rules = Rules {
            settings: &settings,
            kind: &kind,
            standards: &[standard.of(&resource.group, &resource.kind)],
            detail: Detail::Full,
        };
        let assessed = rules.assess(&id, object, (settings.clock)()).await;
        Entry::new(id, assessed, Detail::Full, &kind)
    }

    /// All objects of a kind that are followed, by namespace and name.
    pub fn entries(&self, group: &str, kind: &str) -> Vec<Arc<Entry>> {
        let watches = self.shared.registry.of(group, kind);
        let mut entries: Vec<Arc<Entry>> = watches.iter().flat_map(|watch| watch.store.entries()).collect();
        let place = |entry: &Entry| (entry.namespace().to_owned(), entry.name().to_owned());
        // Of several watches that have an object, the one that knows most of it counts.
        entries.sort_by_cached_key(|entry| (place(entry), std::cmp::Reverse(entry.detail())));
        entries.dedup_by(|later, first| place(later) == place(first));
        entries
    }

    /// How many entries there are, over all watches.
    pub fn len(&self) -> usize {
        self.shared
            .registry
            .all()
            .iter()
            .map(|watch| watch.store.len())
            .sum()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects that have owner references to this uid.
    pub fn children(&self, uid: &Uid) -> Vec<Arc<Entry>> {
        self.shared.registry.children_by_uid(uid)
    }

    /// An object and all that belongs to it: by owner references, and by what is known of some kinds (see [`Owner`]).
    pub fn tree(&self, key: &ObjectKey) -> Option<Tree> {
        self.shared.registry.tree(key)
    }

    /// Tells of all changes from now on to objects that the filter wants.
    pub fn subscribe(&self, filter: Filter) -> Subscription {
        self.shared.subscribers.add(filter)
    }

    /// Goes by other settings from now on. Only the watches of kinds whose entries are made in another way look at their
    /// objects again; meanwhile what they have can be read.
    pub fn set_settings(&self, settings: Settings) {
        let new = Arc::new(settings);
        let old = std::mem::replace(&mut *self.shared.settings.write(), Arc::clone(&new));
        for watch in self.shared.registry.all() {
            let Interest { group, kind, .. } = &watch.interest;
            if !old.of(group, kind).is(&new.of(group, kind)) {
                watch.reload.notify_one();
            }
        }
    }
}

impl Shared {
    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    fn follow(self: &Arc<Self>, interest: Interest, standard: &Standard) -> Follow {
        self.registry.follow(interest, standard, |watch| {
            let watcher = Watcher::new(self, watch);
            watch.run_by(tokio::spawn(watcher.run()).abort_handle());
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.task.abort();
        for watch in self.registry.all() {
            watch.stop();
        }
        self.subscribers.end();
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("cluster", &self.shared.cluster)
            .field("entries", &self.len())
            .finish()
    }
}
