//! Who the objects of a Kustomization are applied as, and where.

use std::fmt;

use api::kustomize::Kustomization;
use engine::unit::{Access, CredentialsStore, Failure};
use futures::future::BoxFuture;
use http::HeaderValue;
use k8s_openapi::api::core::v1::Secret;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, ResourceExt};

use super::Settings;

/// The keys of a Secret that are looked for, in this order.
const KEYS: [&str; 2] = ["value", "value.yaml"];

/// Who objects are applied as. Its text is the name of the cluster for the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// Where Secrets and ServiceAccounts are.
    namespace: String,
    /// The Secret with the kubeconfig of another cluster, and the key in it.
    kubeconfig: Option<(String, Option<String>)>,
    /// The ServiceAccount that is acted as.
    account: Option<String>,
    /// Whether the cluster is named in a way that cannot be followed: then it is none, and never the own one.
    is_unknown: bool,
}

/// The name of a cluster that cannot be followed.
const UNKNOWN: &str = "configMapRef";

impl Identity {
    /// That of an object.
    pub(super) fn of(object: &Kustomization, settings: &Settings) -> Self {
        let spec = &object.spec;
        let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
        let kubeconfig = spec
            .kube_config
            .as_ref()
            .and_then(|config| config.secret_ref.as_ref());
        let is_unknown = spec.kube_config.is_some() && kubeconfig.is_none();
        let identity = Identity {
            is_unknown,
            namespace: object.namespace().unwrap_or_default(),
            kubeconfig: kubeconfig.map(|secret| (secret.name.clone(), named(&secret.key))),
            account: named(&spec.service_account_name).or_else(|| named(&settings.default_service_account)),
        };
        match identity.kubeconfig.is_none() && identity.account.is_none() && !is_unknown {
            true => Identity::default(),
            false => identity,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Identity::default());
        }
        let parts: Vec<&str> = text.split('|').collect();
        let [namespace, secret, key, account] = parts[..] else {
            return None;
        };
        let named = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Some(Identity {
            namespace: namespace.to_owned(),
            kubeconfig: named(secret).map(|secret| (secret, named(key))),
            account: named(account),
            is_unknown: false,
        })
    }

    /// The user of the ServiceAccount.
    fn user(&self) -> Option<String> {
        let account = self.account.as_ref()?;
        Some(format!("system:serviceaccount:{}:{account}", self.namespace))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown {
            return f.write_str(UNKNOWN);
        }
        if *self == Identity::default() {
            return Ok(());
        }
        let (secret, key) = self.kubeconfig.clone().unwrap_or_default();
        let account = self.account.as_deref().unwrap_or_default();
        write!(
            f,
            "{}|{secret}|{}|{account}",
            self.namespace,
            key.unwrap_or_default()
        )
    }
}

/// Gives access to the clusters of Kustomizations.
pub(super) struct Clusters {
    pub(super) client: Client,
}

impl CredentialsStore for Clusters {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async move {
            let identity =
                Identity::parse(name).ok_or_else(|| Failure::new(format!("{name:?} names no cluster")))?;
            let (endpoint, client) = match &identity.kubeconfig {
                None => ("in-cluster".to_owned(), self.client.clone()),
                Some((secret, key)) => self.remote(&identity.namespace, secret, key.as_deref()).await?,
            };
            let user = identity.user();
            let client = match &user {
                Some(user) => acting_as(client, user)?,
                None => client,
            };
            Ok(Access {
                endpoint,
                identity: user.unwrap_or_else(|| "own".to_owned()),
                client,
            })
        })
    }
}

impl Clusters {
    /// The cluster of a kubeconfig in a Secret. It must hold all that it needs: neither programs nor files of ours are used.
    async fn remote(
        &self,
        namespace: &str,
        name: &str,
        key: Option<&str>,
    ) -> Result<(String, Client), Failure> {
        let failed = |why: String| Failure::new(format!("KubeConfig secret '{namespace}/{name}': {why}"));
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let secret = secrets
            .get(name)
            .await
            .map_err(|error| failed(error.to_string()))?;
        let data = secret.data.unwrap_or_default();
        let found = match key {
            Some(key) => data.get(key),
            None => KEYS.iter().find_map(|key| data.get(*key)),
        };
        let wanted = key.map_or_else(|| "'value' nor 'value.yaml'".to_owned(), |key| format!("'{key}'"));
        let text =
            found.ok_or_else(|| failed(format!("does not contain a key {wanted} with a kubeconfig")))?;
        let text =
            std::str::from_utf8(&text.0).map_err(|_| failed("the kubeconfig is not UTF-8".to_owned()))?;
        let mut kubeconfig = Kubeconfig::from_yaml(text).map_err(|error| failed(error.to_string()))?;
        inline_only(&mut kubeconfig);
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let config = config.map_err(|error| failed(error.to_string()))?;
        let endpoint = config.cluster_url.to_string();
        Ok((endpoint, engine::cluster::connect(config)?))
    }
}

/// Drops what would run programs or read files here: whoever wrote the Secret need not be allowed that.
fn inline_only(kubeconfig: &mut Kubeconfig) {
    for named in &mut kubeconfig.auth_infos {
        if let Some(user) = &mut named.auth_info {
            user.exec = None;
            user.auth_provider = None;
            user.client_certificate = None;
            user.client_key = None;
            user.token_file = None;
        }
    }
    for named in &mut kubeconfig.clusters {
        if let Some(cluster) = &mut named.cluster {
            cluster.certificate_authority = None;
            cluster.insecure_skip_tls_verify = None;
        }
    }
}

/// A client that acts as a user.
fn acting_as(client: Client, user: &str) -> Result<Client, Failure> {
    let user = HeaderValue::from_str(user)?;
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |mut request: http::Request<kube::client::Body>| {
        request.headers_mut().insert("impersonate-user", user.clone());
        let client = client.clone();
        async move { client.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn identity(more: serde_json::Value) -> Identity {
        let mut spec = json!({
            "interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"},
        });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "app", "namespace": "team"}, "spec": spec,
        });
        Identity::of(&serde_json::from_value(object).unwrap(), &Settings::default())
    }

    #[test]
    fn identities_are_found_again_by_their_names() {
        for (more, name, user) in [
            (json!({}), "", None),
            (
                json!({"serviceAccountName": "sync"}),
                "team|||sync",
                Some("system:serviceaccount:team:sync"),
            ),
            (
                json!({"kubeConfig": {"secretRef": {"name": "prod", "key": "config"}}, "serviceAccountName": "sync"}),
                "team|prod|config|sync",
                Some("system:serviceaccount:team:sync"),
            ),
        ] {
            let found = identity(more);
            assert_eq!(found.to_string(), name);
            assert_eq!(Identity::parse(name).as_ref(), Some(&found));
            assert_eq!(found.user().as_deref(), user);
        }
        // Another cluster that cannot be reached is never taken for the own one.
        assert_eq!(
            identity(json!({"kubeConfig": {"configMapRef": {"name": "prod"}}})).to_string(),
            UNKNOWN
        );
        assert_eq!(Identity::parse("a|b"), None);
    }
}
