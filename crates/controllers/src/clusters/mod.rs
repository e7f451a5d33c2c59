//! Who objects are applied as, and where: in this cluster or another one, as the controller or as a ServiceAccount.

mod kubeconfig;
mod workload_cluster;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use api::KubeConfigReference;
use engine::unit::{Access, ClusterEvent, CredentialsStore, Failure};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::HeaderValue;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, Client};
use parking_lot::Mutex;
use tokio::sync::mpsc;

pub use kubeconfig::Rules as KubeconfigRules;

use kubeconfig::Fingerprint;
pub(crate) use workload_cluster::own_account;

/// Who objects are applied as. Its text is the name of the cluster for the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Where Secrets and ServiceAccounts are.
    namespace: String,
    /// What says where another cluster is.
    kubeconfig: Option<Way>,
    /// The ServiceAccount that is acted as.
    account: Option<String>,
}

/// What says where another cluster is, and who one is there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Way {
    /// A Secret with a kubeconfig, and the key in it.
    Secret(String, Option<String>),
    /// A ConfigMap, for clusters that know our ServiceAccounts.
    ConfigMap(String),
}

/// What begins the names of ConfigMaps in the names of clusters. No Secret is called so.
const CONFIG_MAP: &str = "configmap/";

impl Identity {
    /// That of an object of a namespace which names these. The first account that has a name counts.
    pub(crate) fn of(
        namespace: &str,
        kubeconfig: Option<&KubeConfigReference>,
        accounts: [Option<&String>; 2],
    ) -> Self {
        let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
        let kubeconfig = kubeconfig.map(|config| {
            let map = config.config_map_ref.as_ref().map(|map| map.name.clone());
            match &config.secret_ref {
                Some(secret) => Way::Secret(secret.name.clone(), named(&secret.key)),
                // The schema wants one of both. Where there is none it is another cluster all the same, and never the own one.
                None => Way::ConfigMap(map.unwrap_or_default()),
            }
        });
        let identity = Identity {
            namespace: namespace.to_owned(),
            kubeconfig,
            account: accounts
                .into_iter()
                .flatten()
                .find(|name| !name.is_empty())
                .cloned(),
        };
        match identity.kubeconfig.is_none() && identity.account.is_none() {
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
            kubeconfig: match secret.strip_prefix(CONFIG_MAP) {
                Some(map) => Some(Way::ConfigMap(map.to_owned())),
                None => named(secret).map(|secret| Way::Secret(secret, named(key))),
            },
            account: named(account),
        })
    }

    /// The ServiceAccount that is acted as: namespace and name.
    pub(crate) fn account(&self) -> Option<(&str, &str)> {
        Some((&self.namespace, self.account.as_deref()?))
    }

    /// Whether the ServiceAccount is gone that is acted as. Tenants are often deleted with all that they have; what they made
    /// elsewhere is not deleted with other rights than theirs.
    ///
    /// # Errors
    /// The cluster does not say.
    pub(crate) async fn account_is_gone(&self, client: &Client) -> kube::Result<bool> {
        let Some((namespace, name)) = self.account() else {
            return Ok(false);
        };
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
        Ok(accounts.get_metadata_opt(name).await?.is_none())
    }

    /// The user of the ServiceAccount.
    fn user(&self) -> Option<String> {
        let account = self.account.as_ref()?;
        Some(format!("system:serviceaccount:{}:{account}", self.namespace))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Identity::default() {
            return Ok(());
        }
        let (secret, key) = match &self.kubeconfig {
            None => (String::new(), ""),
            Some(Way::Secret(name, key)) => (name.clone(), key.as_deref().unwrap_or_default()),
            Some(Way::ConfigMap(name)) => (format!("{CONFIG_MAP}{name}"), ""),
        };
        let account = self.account.as_deref().unwrap_or_default();
        write!(f, "{}|{secret}|{key}|{account}", self.namespace)
    }
}

/// Gives access to the clusters of objects. Clones are the same.
#[derive(Clone)]
pub(crate) struct Clusters(Arc<Reached>);

struct Reached {
    client: Client,
    rules: KubeconfigRules,
    /// Whether ConfigMaps may name ServiceAccounts.
    with_accounts: bool,
    /// What the kubeconfigs are that are in use, by the names of their clusters.
    kubeconfigs: Mutex<HashMap<String, Fingerprint>>,
    /// Who wants to know when a cluster is reached in another way.
    told: Mutex<Vec<mpsc::UnboundedSender<ClusterEvent>>>,
}

impl Clusters {
    pub(crate) fn new(client: Client, rules: KubeconfigRules, with_accounts: bool) -> Self {
        Clusters(Arc::new(Reached {
            client,
            rules,
            with_accounts,
            kubeconfigs: Mutex::default(),
            told: Mutex::default(),
        }))
    }

    /// Looks whether the kubeconfig of a cluster that is in use is another one by now.
    pub(crate) async fn look_again(&self, name: &str) {
        let Some(identity) = Identity::parse(name) else {
            return;
        };
        let Some(known) = self.0.kubeconfigs.lock().get(name).copied() else {
            return;
        };
        let (client, namespace) = (&self.0.client, identity.namespace.as_str());
        let found = match &identity.kubeconfig {
            None => return,
            Some(Way::Secret(secret, key)) => {
                let found = kubeconfig::read(client, namespace, secret, key.as_deref()).await;
                found.map(|found| found.fingerprint())
            }
            Some(Way::ConfigMap(map)) => {
                let found = workload_cluster::read(client, namespace, map).await;
                found.map(|found| found.fingerprint())
            }
        };
        if found.is_ok_and(|found| found == known) {
            return;
        }
        // One that is gone, too: whoever uses it next is told why it cannot be used.
        self.0.kubeconfigs.lock().remove(name);
        let changed = || ClusterEvent::Changed(name.to_owned());
        self.0.told.lock().retain(|told| told.send(changed()).is_ok());
    }

    async fn open(&self, name: &str) -> Result<Access, Failure> {
        let no_cluster = || Failure::new(format!("{name:?} names no cluster"));
        let identity = Identity::parse(name).ok_or_else(no_cluster)?;
        let namespace = &identity.namespace;
        let (endpoint, whose, client) = match &identity.kubeconfig {
            None => ("in-cluster".to_owned(), String::new(), self.0.client.clone()),
            Some(Way::ConfigMap(map)) => {
                let found = workload_cluster::read(&self.0.client, namespace, map).await?;
                let (endpoint, client) = found.connect(&self.0.client, self.0.with_accounts).await?;
                let fingerprint = found.fingerprint();
                self.0.kubeconfigs.lock().insert(name.to_owned(), fingerprint);
                let whose = format!("{namespace}/{CONFIG_MAP}{map} {fingerprint} ");
                (endpoint, whose, client)
            }
            Some(Way::Secret(secret, key)) => {
                let found = kubeconfig::read(&self.0.client, namespace, secret, key.as_deref()).await?;
                let (endpoint, client) = found.connect(self.0.rules).await?;
                let fingerprint = found.fingerprint();
                self.0.kubeconfigs.lock().insert(name.to_owned(), fingerprint);
                // Whoever has other credentials is somebody else, even at the same address.
                (endpoint, format!("{namespace}/{secret} {fingerprint} "), client)
            }
        };
        let user = identity.user();
        let client = match &user {
            Some(user) => acting_as(client, user)?,
            None => client,
        };
        let user = user.as_deref().unwrap_or("own");
        Ok(Access {
            endpoint,
            identity: format!("{whose}{user}"),
            client,
        })
    }
}

impl CredentialsStore for Clusters {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(self.open(name))
    }

    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.told.lock().push(sender);
        let next = async |mut receiver: mpsc::UnboundedReceiver<_>| Some((receiver.recv().await?, receiver));
        Box::pin(futures::stream::unfold(receiver, next))
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
        let kubeconfig = more.get("kubeConfig").cloned();
        let kubeconfig = kubeconfig.map(|config| serde_json::from_value(config).unwrap());
        let account = more["serviceAccountName"].as_str().map(str::to_owned);
        Identity::of("team", kubeconfig.as_ref(), [account.as_ref(), None])
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
            (
                json!({"kubeConfig": {"configMapRef": {"name": "prod"}}}),
                "team|configmap/prod||",
                None,
            ),
        ] {
            let found = identity(more);
            assert_eq!(found.to_string(), name);
            assert_eq!(Identity::parse(name).as_ref(), Some(&found));
            assert_eq!(found.user().as_deref(), user);
        }
        // Another cluster is never taken for the own one.
        assert!(!identity(json!({"kubeConfig": {}})).to_string().is_empty());
        assert_eq!(Identity::parse("a|b"), None);
    }
}
