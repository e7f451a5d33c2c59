//! ConfigMaps and Secrets that say that they are watched: a change of one wakes what is made of it.
//!
//! Only their metadata is asked for: what is in them is read by who needs it, and stays in no memory here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use futures::{Stream, StreamExt};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Resource};
use serde::{Deserialize, Deserializer};

use super::chain::cause;
use super::decode::Identity;

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
{
    let api: Api<Identified<K>> = match namespace {
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

/// An object of which only what identifies it is decoded. Nothing else in one object can then fail the list of all.
#[derive(Clone, Debug)]
struct Identified<K> {
    metadata: ObjectMeta,
    kind: PhantomData<K>,
}

impl<'de, K> Deserialize<'de> for Identified<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Decoded {
            metadata: Identity,
        }
        let decoded = Decoded::deserialize(deserializer)?;
        Ok(Identified {
            metadata: decoded.metadata.into(),
            kind: PhantomData,
        })
    }
}

impl<K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>> Resource for Identified<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group(_: &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version(_: &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural(_: &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn named(kind: ConfigKind, meta: ObjectMeta) -> Option<Config> {
    let (namespace, name) = (meta.namespace?, meta.name?);
    Some(Config {
        kind,
        namespace,
        name,
    })
}

#[cfg(test)]
mod tests {
    use kube::api::{ObjectList, WatchEvent};

    use super::*;

    /// Whoever writes a ConfigMap writes its `managedFields`, too.
    #[test]
    fn objects_beside_one_whose_metadata_are_nested_too_deeply_are_listed() {
        let map = |name: &str, depth: usize| {
            let fields = "{\"f:a\":".repeat(depth - 1) + "{" + &"}".repeat(depth);
            format!(
                r#"{{"metadata":{{"managedFields":[{{"fieldsV1":{fields}}}],"name":"{name}","namespace":"team","resourceVersion":"3"}},"data":{{}}}}"#
            )
        };
        let items = [map("a", 2), map("bad", 10_000)].join(",");
        let list = format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{items}]}}"#);
        let list: ObjectList<Identified<ConfigMap>> = serde_json::from_str(&list).unwrap();
        let named = |one: &Identified<ConfigMap>| named(ConfigKind::ConfigMap, one.metadata.clone());
        let names: Vec<_> = list.items.iter().filter_map(named).map(|one| one.name).collect();
        assert_eq!(names, ["a", "bad"]);
        let event = format!(r#"{{"type":"ADDED","object":{}}}"#, map("bad", 10_000));
        let event: WatchEvent<Identified<ConfigMap>> = serde_json::from_str(&event).unwrap();
        assert!(
            matches!(event, WatchEvent::Added(one) if one.metadata.resource_version.as_deref() == Some("3"))
        );
    }
}
