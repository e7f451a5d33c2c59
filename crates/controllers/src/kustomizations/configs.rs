//! The ConfigMaps and Secrets that Kustomizations read: variables, keys, the way to other clusters. One with the label that says so
//! wakes them when it changes; all others are read again at the interval.

use api::kustomize::{Kustomization, KustomizationSpec, VariablesKind};
use kube::ResourceExt;

use super::{Kustomizations, unit};
use crate::kit::{Config, ConfigKind, Desk, follow_configs};

impl Kustomizations {
    /// Wakes Kustomizations whose ConfigMaps and Secrets change.
    pub(super) async fn follow_configs(&self, desk: &Desk<KustomizationSpec>) {
        let Some(selector) = &self.shared.settings.watch_configs else {
            return std::future::pending().await;
        };
        let (client, namespace) = (&self.shared.client, desk.options().namespace.as_deref());
        let wake = desk.wake();
        let changed = |config: &Config| {
            for object in wake.those(&config.namespace, |object| reads(object, config)) {
                let (id, uid) = (unit::id(&object), object.metadata.uid.as_deref());
                self.memory.change(&id, uid, |unit| unit.is_stale = true);
                wake.one(&object);
            }
        };
        follow_configs(client, namespace, selector, changed).await;
    }
}

/// Whether an object is made of a ConfigMap or Secret of its namespace.
fn reads(object: &Kustomization, config: &Config) -> bool {
    let spec = &object.spec;
    let name = config.name.as_str();
    let has_variables = |kind: VariablesKind| {
        let mut variables = spec.post_build.iter().flat_map(|build| &build.substitute_from);
        variables.any(|from| from.kind == kind && from.name == name)
    };
    let kubeconfig = spec.kube_config.as_ref();
    let is_there = object.namespace().as_deref() == Some(&config.namespace);
    is_there
        && match config.kind {
            ConfigKind::ConfigMap => {
                let cluster = kubeconfig.and_then(|config| config.config_map_ref.as_ref());
                cluster.is_some_and(|cluster| cluster.name == name) || has_variables(VariablesKind::ConfigMap)
            }
            ConfigKind::Secret => {
                let keys = spec.decryption.as_ref().and_then(|keys| keys.secret_ref.as_ref());
                let cluster = kubeconfig.and_then(|config| config.secret_ref.as_ref());
                keys.is_some_and(|keys| keys.name == name)
                    || cluster.is_some_and(|cluster| cluster.name == name)
                    || has_variables(VariablesKind::Secret)
            }
        }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// §2.8: variables, keys and clusters, each of its kind and of the object's own namespace.
    #[test]
    fn objects_are_concerned_by_what_they_name() {
        let object: Kustomization = serde_json::from_value(json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "app", "namespace": "team"},
            "spec": {
                "interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"},
                "postBuild": {"substituteFrom": [
                    {"kind": "ConfigMap", "name": "vars"}, {"kind": "Secret", "name": "secret-vars"},
                ]},
                "decryption": {"provider": "sops", "secretRef": {"name": "keys"}},
                "kubeConfig": {"secretRef": {"name": "prod"}},
            },
        }))
        .unwrap();
        let reads = |kind, namespace: &str, name: &str| {
            let (namespace, name) = (namespace.to_owned(), name.to_owned());
            reads(
                &object,
                &Config {
                    kind,
                    namespace,
                    name,
                },
            )
        };
        assert!(reads(ConfigKind::ConfigMap, "team", "vars"));
        for name in ["secret-vars", "keys", "prod"] {
            assert!(reads(ConfigKind::Secret, "team", name), "{name}");
            assert!(!reads(ConfigKind::ConfigMap, "team", name), "{name}");
            assert!(!reads(ConfigKind::Secret, "other", name), "{name}");
        }
        assert!(!reads(ConfigKind::Secret, "team", "vars"));
    }
}
