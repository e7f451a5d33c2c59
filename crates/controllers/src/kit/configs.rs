//! ConfigMaps and Secrets that say that they are watched: a change of one wakes what is made of it.
//!
//! Only their metadata is asked for: what is in them is read by who needs it, and stays in no memory here.

use std::fmt;

use futures::{Stream, StreamExt};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Resource};

use super::chain::cause;

/// A ConfigMap or a Secret, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Which of the two.
    pub kind: ConfigKind,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What a [`Config`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConfigKind {
    /// A ConfigMap.
    ConfigMap,
    /// A Secret.
    Secret,
}

impl fmt::Display for ConfigKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConfigKind::ConfigMap => "ConfigMap",
            ConfigKind::Secret => "Secret",
        })
    }
}

/// Tells of each ConfigMap and Secret with these labels that is there, changes or goes. It ends with the future only.
pub async fn follow_configs(
    client: &Client,
    namespace: Option<&str>,
    selector: &str,
    changed: impl Fn(&Config),
) {
    let maps = changes::<ConfigMap>(client, namespace, selector, ConfigKind::ConfigMap);
    let secrets = changes::<Secret>(client, namespace, selector, ConfigKind::Secret);
    let mut all = futures::stream::select(maps.boxed(), secrets.boxed());
    while let Some(config) = all.next().await {
        changed(&config);
    }
}

fn changes<K>(
    client: &Client,
    namespace: Option<&str>,
    selector: &str,
    kind: ConfigKind,
) -> impl Stream<Item = Config> + use<K>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + fmt::Debug + Send + 'static,
    K: serde::de::DeserializeOwned,
{
    let api: Api<PartialObjectMeta<K>> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let config = watcher::Config::default().labels(selector);
    let events = watcher(api, config).default_backoff();
    events.filter_map(move |event| {
        let meta = match event {
            Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => Some(object.metadata),
            Ok(watcher::Event::Delete(object)) => Some(object.metadata),
            Ok(watcher::Event::Init | watcher::Event::InitDone) => None,
            Err(error) => {
                tracing::debug!(%kind, "a watch failed and is begun anew: {}", cause(&error));
                None
            }
        };
        std::future::ready(meta.and_then(|meta| named(kind, meta)))
    })
}

fn named(kind: ConfigKind, meta: ObjectMeta) -> Option<Config> {
    let (namespace, name) = (meta.namespace?, meta.name?);
    Some(Config {
        kind,
        namespace,
        name,
    })
}
