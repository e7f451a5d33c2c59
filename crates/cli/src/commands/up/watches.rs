//! Watches of units, of the kinds that units have objects of, of pods beside workloads, and of what controllers tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::cluster::Cluster;
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::runtime::{WatchStreamExt as _, watcher};
use model::object_key::split_api_version;
use model::{ObjectKey, Value, convert};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::board::Kind;
use super::unit::Unit;

/// The labels of what Kustomizations and HelmReleases apply.
const APPLIED: &str = "kustomize.toolkit.fluxcd.io/name";
const RELEASED: &str = "helm.toolkit.fluxcd.io/name";
/// Before it is looked again for a kind that is not served.
const PAUSE: Duration = Duration::from_millis(500);

/// A change in the cluster.
pub(super) enum Seen {
    /// A unit; nothing where it is gone.
    Unit(ObjectKey, Option<Value>),
    /// What a unit may have applied; nothing where it is gone.
    Object(ObjectKey, Option<Value>),
    /// A pod; nothing where it is gone.
    Pod(ObjectKey, Option<Value>),
    /// All objects of a kind are known.
    Listed(Kind),
    /// Objects of a kind cannot be looked at.
    Blind(Kind, String),
    /// What a controller tells of a Kustomization or a HelmRelease.
    Told(Told),
}

/// What a controller tells of a Kustomization or a HelmRelease.
pub(super) struct Told {
    pub(super) kind: &'static str,
    /// Namespace and name.
    pub(super) unit: (String, String),
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) revision: String,
}

/// All watches. They end with this.
pub(super) struct Watches {
    client: Client,
    cluster: Cluster,
    sender: mpsc::Sender<Seen>,
    running: BTreeMap<(String, String, String), JoinHandle<()>>,
}

impl Watches {
    /// Begins with units and events.
    pub(super) fn new(client: Client, sender: mpsc::Sender<Seen>) -> Self {
        let mut watches = Watches {
            cluster: Cluster::new(client.clone()),
            client,
            sender,
            running: BTreeMap::new(),
        };
        for definition in api::definitions() {
            let names = definition.names();
            let is_unit = match names.group {
                api::source::GROUP => names.kind != "ExternalArtifact",
                api::kustomize::GROUP => true,
                group => group == api::helm::GROUP,
            };
            if is_unit {
                let kind = GroupVersionKind::gvk(names.group, names.version, names.kind);
                watches.units(ApiResource::from_gvk_with_plural(&kind, names.plural));
            }
        }
        for kind in ["Kustomization", "HelmRelease"] {
            watches.events(kind);
        }
        watches
    }

    fn spawn(&mut self, what: (&str, &str, &str), task: impl Future<Output = ()> + Send + 'static) {
        let what = (what.0.to_owned(), what.1.to_owned(), what.2.to_owned());
        self.running.entry(what).or_insert_with(|| tokio::spawn(task));
    }

    fn units(&mut self, resource: ApiResource) {
        let api = Api::all_with(self.client.clone(), &resource);
        let (kind, sender) = (resource.kind.clone(), self.sender.clone());
        let config = watcher::Config::default();
        self.spawn(
            ("unit", &kind, ""),
            watch(api, config, resource, sender, Seen::Unit),
        );
    }

    /// Follows the kinds of these objects, and pods in the namespaces of workloads.
    pub(super) fn cover<'o>(&mut self, objects: impl Iterator<Item = (&'o Unit, &'o (ObjectKey, String))>) {
        for (unit, (key, api_version)) in objects {
            let group = split_api_version(api_version).0.to_owned();
            if matches!(group.as_str(), "apps" | "batch") {
                self.pods(&key.namespace);
            }
            let label = match unit.key.group == api::helm::GROUP {
                true => RELEASED,
                false => APPLIED,
            };
            let what = (group.as_str(), key.kind.as_str(), label);
            let known = (group.clone(), key.kind.to_string(), label.to_owned());
            if !self.running.contains_key(&known) {
                let task = follow(
                    self.client.clone(),
                    self.cluster.clone(),
                    (api_version.clone(), key.kind.to_string(), label),
                    self.sender.clone(),
                );
                self.spawn(what, task);
            }
        }
    }

    fn pods(&mut self, namespace: &str) {
        let api = Api::namespaced_with(self.client.clone(), namespace, &ApiResource::erase::<Pod>(&()));
        let task = watch(
            api,
            watcher::Config::default(),
            ApiResource::erase::<Pod>(&()),
            self.sender.clone(),
            Seen::Pod,
        );
        self.spawn(("", "Pod", namespace), task);
    }

    fn events(&mut self, kind: &'static str) {
        let api: Api<Event> = Api::all(self.client.clone());
        let sender = self.sender.clone();
        self.spawn(("events", kind, ""), events(api, kind, sender));
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.running.values().for_each(JoinHandle::abort);
    }
}

/// Watches what was applied of a kind, as soon as that is served.
async fn follow(
    client: Client,
    cluster: Cluster,
    what: (String, String, &'static str),
    sender: mpsc::Sender<Seen>,
) {
    let (api_version, kind, label) = what;
    let (group, version) = split_api_version(&api_version);
    let found = loop {
        match cluster.resource(group, version, &kind).await {
            Ok(found) => break found,
            Err(error) => {
                let why = format!("it cannot be looked at: {error}");
                let blind = Seen::Blind((group.to_owned(), kind.clone()), why);
                if sender.send(blind).await.is_err() {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    let gvk = GroupVersionKind::gvk(group, version, &kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &found.plural);
    let api = Api::all_with(client, &resource);
    let config = watcher::Config::default().labels(label);
    watch(api, config, resource, sender, Seen::Object).await;
}

/// Passes on every change of every object of one kind, also of those that went while nobody looked.
async fn watch(
    api: Api<DynamicObject>,
    config: watcher::Config,
    resource: ApiResource,
    sender: mpsc::Sender<Seen>,
    seen: fn(ObjectKey, Option<Value>) -> Seen,
) {
    let kind = (resource.group.clone(), resource.kind.clone());
    let mut events = watcher(api, config).default_backoff().boxed();
    let (mut known, mut listed) = (BTreeSet::new(), BTreeSet::new());
    while let Some(event) = events.next().await {
        let told: Vec<Seen> = match event {
            Ok(watcher::Event::Init) => {
                listed = BTreeSet::new();
                Vec::new()
            }
            Ok(watcher::Event::InitApply(object)) => {
                let (key, live) = read(&object, &resource);
                listed.insert(key.clone());
                vec![seen(key, live)]
            }
            Ok(watcher::Event::InitDone) => {
                let gone = known.difference(&listed).cloned();
                let mut told: Vec<Seen> = gone.map(|key| seen(key, None)).collect();
                known = std::mem::take(&mut listed);
                told.push(Seen::Listed(kind.clone()));
                told
            }
            Ok(watcher::Event::Apply(object)) => {
                let (key, live) = read(&object, &resource);
                known.insert(key.clone());
                vec![seen(key, live)]
            }
            Ok(watcher::Event::Delete(object)) => {
                let (key, _) = read(&object, &resource);
                known.remove(&key);
                vec![seen(key, None)]
            }
            // The watcher starts anew by itself.
            Err(error) => match refused(&error) {
                Some(why) => vec![Seen::Blind(kind.clone(), why)],
                None => Vec::new(),
            },
        };
        for one in told {
            if sender.send(one).await.is_err() {
                return;
            }
        }
    }
}

/// Why a watch will not be granted.
fn refused(error: &watcher::Error) -> Option<String> {
    let watcher::Error::InitialListFailed(kube::Error::Api(status)) = error else {
        return None;
    };
    matches!(status.code, 401 | 403 | 405).then(|| format!("it cannot be looked at: {}", status.message))
}

fn read(object: &DynamicObject, resource: &ApiResource) -> (ObjectKey, Option<Value>) {
    let mut live = convert::from_serde(object).unwrap_or_default();
    live.set_at(&["apiVersion"], resource.api_version.as_str());
    live.set_at(&["kind"], resource.kind.as_str());
    (ObjectKey::of(&live), Some(live))
}

/// Passes on what is told of the objects of a kind from now on.
async fn events(api: Api<Event>, kind: &'static str, sender: mpsc::Sender<Seen>) {
    let config = watcher::Config::default().fields(&format!("involvedObject.kind={kind}"));
    let mut events = watcher(api, config).default_backoff().boxed();
    while let Some(event) = events.next().await {
        // What was told before is no news.
        let Ok(watcher::Event::Apply(event)) = event else {
            continue;
        };
        let text = |text: Option<String>| text.unwrap_or_default();
        let annotations = event.metadata.annotations.unwrap_or_default();
        let mut annotations = annotations.into_iter();
        let revision = annotations.find(|(name, _)| name.ends_with("/revision"));
        let told = Told {
            kind,
            unit: (
                text(event.involved_object.namespace),
                text(event.involved_object.name),
            ),
            reason: text(event.reason),
            message: text(event.message),
            revision: revision.map(|(_, revision)| revision).unwrap_or_default(),
        };
        if sender.send(Seen::Told(told)).await.is_err() {
            return;
        }
    }
}
