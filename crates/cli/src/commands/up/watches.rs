//! Watches of the kinds that were applied, and of pods, which tell why a workload does not come up.

use std::collections::HashMap;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::{WatchStreamExt, watcher};
use model::{ObjectKey, Value, convert};
use tokio::sync::mpsc;

use super::sync::{Sync, version};

/// A change of an object in the cluster.
pub(super) struct Seen {
    pub key: ObjectKey,
    /// The object, unless it is gone.
    pub live: Option<Value>,
    /// The version of the change.
    pub version: u64,
}

/// One watch for each kind.
pub(super) struct Watches {
    client: Client,
    sender: mpsc::Sender<Seen>,
    running: HashMap<(String, String), tokio::task::JoinHandle<()>>,
}

impl Watches {
    /// Begins with a watch of pods.
    pub(super) fn new(client: Client, sender: mpsc::Sender<Seen>) -> Self {
        let mut watches = Watches {
            client,
            sender,
            running: HashMap::new(),
        };
        watches.start(&ApiResource::erase::<Pod>(&()));
        watches
    }

    /// Starts the watches that are missing.
    pub(super) fn cover(&mut self, sync: &Sync) {
        for applied in sync.applied.values() {
            self.start(&applied.resource);
        }
    }

    fn start(&mut self, resource: &ApiResource) {
        let kind = (resource.api_version.clone(), resource.kind.clone());
        if self.running.contains_key(&kind) {
            return;
        }
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), resource);
        let task = tokio::spawn(watch(api, resource.clone(), self.sender.clone()));
        self.running.insert(kind, task);
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.running.values().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Passes on every change of every object of one kind.
async fn watch(api: Api<DynamicObject>, resource: ApiResource, sender: mpsc::Sender<Seen>) {
    let mut events = watcher(api, watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let (object, gone) = match event {
            Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => (object, false),
            Ok(watcher::Event::Delete(object)) => (object, true),
            // The watcher starts anew by itself.
            Ok(watcher::Event::Init | watcher::Event::InitDone) | Err(_) => continue,
        };
        let Ok(mut live) = convert::from_serde(&object) else {
            continue;
        };
        live.set_at(&["apiVersion"], resource.api_version.as_str());
        live.set_at(&["kind"], resource.kind.as_str());
        let seen = Seen {
            key: ObjectKey::of(&live),
            version: version(&live),
            live: (!gone).then_some(live),
        };
        if sender.send(seen).await.is_err() {
            return;
        }
    }
}
