//! Objects that concern objects of another kind: a changed source wakes what is made of it.
//!
//! A controller [follows](Followed) such a kind with one watch. What it knows of the kind is read from there, without a
//! request, and a change [wakes](Wake) exactly the objects that it concerns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use api::{Names, Object, Spec};
use futures::StreamExt;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, ResourceExt};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::chain::cause;
use super::decode::{self, Decoded, Undecodable};
use super::queue::Queue;
use super::runner::Options;
use super::writer::{Key, Objects, key_of};

/// How long whoever wants to read waits for the first list.
const FIRST_LIST: Duration = Duration::from_secs(30);

/// What a watch tells of.
pub(super) enum Change<S: Spec> {
    /// An object, which may be one that is known.
    Seen(Box<Object<S>>),
    /// One that cannot be decoded.
    Undecodable(Box<Undecodable>),
    /// One that is gone.
    Gone(Key),
    /// All that there is was seen.
    Complete,
}

impl<S: Spec> From<Decoded<S>> for Change<S> {
    fn from(decoded: Decoded<S>) -> Self {
        match decoded {
            Decoded::Object(object) => Change::Seen(object),
            Decoded::Undecodable(broken) => Change::Undecodable(broken),
        }
    }
}

/// What keeps kinds from being listed, as it was told: once, however many controllers of a process follow the kind, until
/// something else does or they are listed.
#[derive(Clone, Debug, Default)]
pub struct WaitedFor(Arc<Mutex<HashMap<(&'static str, &'static str), String>>>);

impl WaitedFor {
    /// Whether nobody has told this of the kind yet.
    fn is_news<S: Spec>(&self, what: &str) -> bool {
        let told = self
            .0
            .lock()
            .insert((S::NAMES.group, S::NAMES.plural), what.to_owned());
        told.as_deref() != Some(what)
    }

    /// The kind is listed.
    fn is_there<S: Spec>(&self) {
        self.0.lock().remove(&(S::NAMES.group, S::NAMES.plural));
    }
}

/// Watches all objects of a kind that the options name. It ends with the future only.
pub(super) async fn watch<S: Spec>(client: Client, options: &Options, mut tell: impl FnMut(Change<S>)) {
    let api: Api<Decoded<S>> = match &options.namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    };
    let mut config = watcher::Config::default();
    if let Some(selector) = &options.label_selector {
        config = config.labels(selector);
    }
    let mut events = watcher(api, config).default_backoff().boxed();
    // A list says nothing of what went while there was no watch: it is what is known and not in the list.
    let (mut known, mut listed) = (HashSet::new(), HashSet::new());
    while let Some(event) = events.next().await {
        match event {
            Ok(watcher::Event::Apply(object)) => {
                known.insert(object.key());
                tell(object.into());
            }
            Ok(watcher::Event::InitApply(object)) => {
                listed.insert(object.key());
                tell(object.into());
            }
            Ok(watcher::Event::Delete(object)) => {
                known.remove(&object.key());
                tell(Change::Gone(object.key()));
            }
            Ok(watcher::Event::Init) => listed.clear(),
            Ok(watcher::Event::InitDone) => {
                let gone = known.difference(&listed).cloned();
                gone.for_each(|key| tell(Change::Gone(key)));
                known = std::mem::take(&mut listed);
                options.waited_for.is_there::<S>();
                tell(Change::Complete);
            }
            Err(error) => tell_failure::<S>(&error, &options.waited_for),
        }
    }
}

/// Tells why a kind is not seen. What ends a watch that went well is everyday, and what it brought stays known.
fn tell_failure<S: Spec>(error: &watcher::Error, waited_for: &WaitedFor) {
    let Names {
        kind, plural, group, ..
    } = S::NAMES;
    let why = cause(error);
    let unlisted = match error {
        watcher::Error::InitialListFailed(cause) | watcher::Error::WatchStartFailed(cause) => cause,
        _ => return tracing::debug!(kind, "a watch failed and is begun anew: {why}"),
    };
    if !waited_for.is_news::<S>(&why) {
        return tracing::debug!(kind, "a list failed and is begun anew: {why}");
    }
    match unlisted {
        kube::Error::Api(status) if status.code == 404 => tracing::warn!(
            kind,
            "the cluster does not serve {plural}.{group} yet: apply its definition; it is waited for"
        ),
        kube::Error::Api(status) if matches!(status.code, 401 | 403) => tracing::error!(
            kind,
            error = why,
            "the cluster does not let us list and watch {plural}.{group}: give the ServiceAccount the rights; it is tried again"
        ),
        _ => tracing::error!(
            kind,
            error = why,
            "failed to list {plural}.{group}: the cluster is asked again"
        ),
    }
}

/// All objects of a kind that others are made of, as they are now.
pub struct Followed<S: Spec> {
    client: Client,
    objects: Objects<S>,
    is_complete: watch::Sender<bool>,
}

/// The objects of a kind are not known: the cluster does not serve it, or does not let us list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cluster has not listed its {0} yet")]
pub struct NotListed(&'static str);

impl<S: Spec> Followed<S> {
    /// Nothing is known before [`Followed::run`] is polled.
    pub fn new(client: Client) -> Arc<Self> {
        Followed::of(client, Objects::new())
    }

    /// The same, where also is known what of the metadata of each object this manager has applied: it is all that its `managedFields` tell. Of
    /// other fields and managers nothing is kept.
    pub fn with_fields_of(client: Client, manager: &'static str) -> Arc<Self> {
        Followed::of(client, Objects::with_fields_of(manager))
    }

    fn of(client: Client, objects: Objects<S>) -> Arc<Self> {
        Arc::new(Followed {
            client,
            objects,
            is_complete: watch::Sender::new(false),
        })
    }

    /// One object, asked for once, instead of all of a kind.
    ///
    /// # Errors
    /// Where the cluster does not answer.
    pub async fn asked(client: Client, namespace: &str, name: &str) -> kube::Result<Arc<Self>> {
        let found = decode::get_opt::<S>(&client, namespace, name).await?;
        let followed = Followed::new(client);
        if let Some(object) = found {
            // Nothing older is known.
            let _ = followed.objects.keep(object);
        }
        followed.is_complete.send_replace(true);
        Ok(followed)
    }

    /// Follows the kind, and tells of each object as it was known before and as it is now.
    pub async fn run(
        self: Arc<Self>,
        options: Options,
        mut changed: impl FnMut(Option<&Object<S>>, &Object<S>) + Send,
    ) {
        let tell = |change: Change<S>| match change {
            Change::Seen(object) => {
                let key = key_of(&object);
                if let Ok(before) = self.objects.keep(*object)
                    && let Some(object) = self.objects.get(&key)
                {
                    changed(before.as_deref(), &object);
                }
            }
            // Whoever works on the kind reports it. What is made of it stays as it is.
            Change::Undecodable(broken) => {
                let (namespace, name) = broken.key();
                tracing::debug!(
                    kind = S::NAMES.kind,
                    "{namespace}/{name} cannot be read: {}",
                    broken.problem
                );
            }
            Change::Gone(key) => self.objects.remove(&key),
            Change::Complete => drop(self.is_complete.send_replace(true)),
        };
        watch(self.client.clone(), &options, tell).await;
    }

    /// The object of this name.
    ///
    /// # Errors
    /// Where the cluster has not said what there is.
    pub async fn get(&self, namespace: &str, name: &str) -> Result<Option<Arc<Object<S>>>, NotListed> {
        self.complete().await?;
        Ok(self.objects.get(&(namespace.to_owned(), name.to_owned())))
    }

    /// The first object of a namespace, by name, of which this holds.
    ///
    /// # Errors
    /// Where the cluster has not said what there is.
    pub async fn find(
        &self,
        namespace: &str,
        holds: impl Fn(&Object<S>) -> bool,
    ) -> Result<Option<Arc<Object<S>>>, NotListed> {
        self.complete().await?;
        let mut found = self.objects.all(namespace, holds);
        found.sort_by_key(|object| object.name_any());
        Ok(found.into_iter().next())
    }

    async fn complete(&self) -> Result<(), NotListed> {
        let mut is_complete = self.is_complete.subscribe();
        let complete = is_complete.wait_for(|complete| *complete);
        match tokio::time::timeout(FIRST_LIST, complete).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(NotListed(S::NAMES.plural)),
        }
    }
}

/// Wakes objects of a controller.
pub struct Wake<S: Spec> {
    pub(super) queue: Queue<Key>,
    pub(super) objects: Arc<Objects<S>>,
}

impl<S: Spec> Clone for Wake<S> {
    fn clone(&self) -> Self {
        Wake {
            queue: self.queue.clone(),
            objects: Arc::clone(&self.objects),
        }
    }
}

impl<S: Spec> Wake<S> {
    /// Has an object worked on.
    pub fn one(&self, object: &Object<S>) {
        self.queue.add(key_of(object));
    }

    /// Has an object worked on after a while, unless it is due earlier anyway.
    pub fn one_after(&self, object: &Object<S>, wait: Duration) {
        self.queue.add_after(key_of(object), wait);
    }

    /// Has all objects worked on of which this holds, wherever they are.
    pub fn everywhere(&self, concerned: impl Fn(&Object<S>) -> bool) {
        for object in self.objects.everywhere(concerned) {
            self.queue.add(key_of(&object));
        }
    }

    /// The objects of a namespace of which this holds.
    pub fn those(&self, namespace: &str, concerned: impl Fn(&Object<S>) -> bool) -> Vec<Arc<Object<S>>> {
        self.objects.all(namespace, concerned)
    }

    /// Has all objects of a namespace worked on of which this holds.
    pub fn all(&self, namespace: &str, concerned: impl Fn(&Object<S>) -> bool) {
        for object in self.objects.all(namespace, concerned) {
            self.queue.add(key_of(&object));
        }
    }
}
