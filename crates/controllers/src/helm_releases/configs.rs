//! The ConfigMaps and Secrets that releases are made of, besides their charts: those of values and those that lead to clusters.

use api::helm::{HelmRelease, ValuesKind};
use engine::cache::{Cache, Settings};
use engine::cluster::Cluster;
use kube::Client;
use tokio::sync::OnceCell;

use super::target;
use super::versions::{Read, Version, Versions};
use crate::kit::{Config, ConfigKind};

/// The versions of ConfigMaps and Secrets in the cluster of the objects. They are followed when the first release reads one.
pub(super) struct Configs {
    client: Client,
    cache: OnceCell<Cache>,
    maps: OnceCell<Versions>,
    secrets: OnceCell<Versions>,
}

impl Configs {
    pub(super) fn new(client: &Client) -> Self {
        Configs {
            client: client.clone(),
            cache: OnceCell::new(),
            maps: OnceCell::new(),
            secrets: OnceCell::new(),
        }
    }

    /// The versions of all that a release reads; nothing where watches do not tell. Whoever reads after this has read these, or newer ones.
    pub(super) async fn versions(&self, object: &HelmRelease, namespace: Option<&str>) -> Option<Read> {
        let mut read = Read::new();
        for config in read_by(object) {
            let versions = self.of(config.kind, namespace).await;
            let version = versions.of(&config.namespace, &config.name)?;
            read.push((config, version));
        }
        Some(read)
    }

    /// The first of these that has a newer version by now. A watch that is behind tells of older ones.
    pub(super) fn changed(&self, read: &Read) -> Option<Config> {
        let is_newer = |(config, version): &&(Config, Version)| {
            let versions = match config.kind {
                ConfigKind::ConfigMap => self.maps.get(),
                ConfigKind::Secret => self.secrets.get(),
            };
            let now = versions.and_then(|versions| versions.of(&config.namespace, &config.name));
            now.is_some_and(|now| now.is_newer_than(version))
        };
        read.iter().find(is_newer).map(|(config, _)| config.clone())
    }

    async fn of(&self, kind: ConfigKind, namespace: Option<&str>) -> &Versions {
        let cache = || async { Cache::new(Cluster::new(self.client.clone()), Settings::default()) };
        let versions = match kind {
            ConfigKind::ConfigMap => &self.maps,
            ConfigKind::Secret => &self.secrets,
        };
        let follow =
            || async { Versions::follow(self.cache.get_or_init(cache).await, kind, None, namespace).await };
        versions.get_or_init(follow).await
    }
}

/// All ConfigMaps and Secrets that a release is made of.
fn read_by(object: &HelmRelease) -> impl Iterator<Item = Config> {
    let namespace = target::own_namespace(object);
    let spec = &object.spec;
    let values = spec.values_from.iter().map(|from| (kind(&from.kind), &from.name));
    let cluster = spec.kube_config.iter().flat_map(|config| {
        let map = config.config_map_ref.as_ref();
        let secret = config.secret_ref.as_ref();
        let map = map.map(|map| (ConfigKind::ConfigMap, &map.name));
        map.into_iter()
            .chain(secret.map(|secret| (ConfigKind::Secret, &secret.name)))
    });
    let named = move |(kind, name): (ConfigKind, &String)| Config {
        kind,
        namespace: namespace.clone(),
        name: name.clone(),
    };
    values.chain(cluster).map(named)
}

/// What values are read from.
pub(super) fn kind(kind: &ValuesKind) -> ConfigKind {
    match kind {
        ValuesKind::Secret => ConfigKind::Secret,
        _ => ConfigKind::ConfigMap,
    }
}

/// Whether a release is made of a ConfigMap or Secret.
pub(super) fn reads(object: &HelmRelease, config: &Config) -> bool {
    read_by(object).any(|read| read == *config)
}
