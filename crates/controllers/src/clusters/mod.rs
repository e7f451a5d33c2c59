//! Who objects are applied as, and where: in this cluster or another one, as the controller or as a ServiceAccount.

mod kubeconfig;
mod workload_cluster;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

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

use crate::kit::lease::Fence;
use crate::kit::named;
use kubeconfig::Fingerprint;
pub(crate) use workload_cluster::{TokenRules, own_account};

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

/// The prefix of ConfigMaps in the names of clusters.
const CONFIG_MAP: &str = "configmap/";
/// The prefix of Secrets in the names of clusters. Without it, one of no name would be the own cluster.
const SECRET: &str = "secret/";

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
            kubeconfig: match (secret.strip_prefix(CONFIG_MAP), secret.strip_prefix(SECRET)) {
                (Some(map), _) => Some(Way::ConfigMap(map.to_owned())),
                (_, Some(name)) => Some(Way::Secret(name.to_owned(), named(key))),
                (None, None) if secret.is_empty() => None,
                (None, None) => return None,
            },
            account: named(account),
        })
    }

    /// The ServiceAccount that is acted as: namespace and name.
    pub(crate) fn account(&self) -> Option<(&str, &str)> {
        Some((&self.namespace, self.account.as_deref()?))
    }

    /// Whether the ServiceAccount is gone that is acted as. Tenants are often deleted with all that they have; what they made
    /// elsewhere is not deleted with other rights than theirs. The account of another cluster is there, not here: whether it
    /// exists, that cluster says.
    ///
    /// # Errors
    /// The cluster does not say.
    pub(crate) async fn account_is_gone(&self, client: &Client) -> kube::Result<bool> {
        let Some((namespace, name)) = self.account().filter(|_| self.kubeconfig.is_none()) else {
            return Ok(false);
        };
        named::check("name of the ServiceAccount", name)?;
        let accounts: Api<ServiceAccount> = named::api(client, namespace)?;
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
            Some(Way::Secret(name, key)) => (format!("{SECRET}{name}"), key.as_deref().unwrap_or_default()),
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
    /// Whose tokens open clusters that ConfigMaps name.
    tokens: TokenRules,
    /// What the kubeconfigs are that are in use, by the names of their clusters.
    kubeconfigs: Mutex<HashMap<String, Fingerprint>>,
    /// The fence that writes to other clusters pass. The client of this cluster has one already.
    fence: OnceLock<Fence>,
    /// Who wants to know when a cluster is reached in another way.
    told: Mutex<Vec<mpsc::UnboundedSender<ClusterEvent>>>,
}

impl Clusters {
    pub(crate) fn new(client: Client, rules: KubeconfigRules, tokens: TokenRules) -> Self {
        Clusters(Arc::new(Reached {
            client,
            rules,
            tokens,
            kubeconfigs: Mutex::default(),
            fence: OnceLock::new(),
            told: Mutex::default(),
        }))
    }

    /// Has writes to other clusters pass a fence, so that an instance which has lost its lease writes nowhere. The first fence
    /// counts.
    pub(crate) fn fence_by(&self, fence: &Fence) {
        self.0.fence.get_or_init(|| fence.clone());
    }

    /// Forgets a cluster that nothing is applied to any more.
    pub(crate) fn forget(&self, name: &str) {
        self.0.kubeconfigs.lock().remove(name);
    }

    /// The client of another cluster, behind the fence. A namespace has one limit for each address that it names.
    fn fenced(&self, client: Client, namespace: &str, endpoint: &str) -> Client {
        match self.0.fence.get() {
            Some(fence) => fence.guard_remote(client, &format!("{namespace} {endpoint}")),
            None => client,
        }
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
                needed(map, "configMapRef")?;
                let found = workload_cluster::read(&self.0.client, namespace, map).await?;
                let (endpoint, client) = found
                    .connect(&self.0.client, &self.0.tokens, identity.account.is_some())
                    .await?;
                let fingerprint = found.fingerprint();
                self.0.kubeconfigs.lock().insert(name.to_owned(), fingerprint);
                let whose = format!("{namespace}/{CONFIG_MAP}{map} {fingerprint} ");
                let client = self.fenced(client, namespace, &endpoint);
                (endpoint, whose, client)
            }
            Some(Way::Secret(secret, key)) => {
                needed(secret, "secretRef")?;
                let found = kubeconfig::read(&self.0.client, namespace, secret, key.as_deref()).await?;
                let (endpoint, client) = found.connect(self.0.rules).await?;
                let fingerprint = found.fingerprint();
                self.0.kubeconfigs.lock().insert(name.to_owned(), fingerprint);
                let client = self.fenced(client, namespace, &endpoint);
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
            // Whoever may write the kubeconfig may have it lead anywhere.
            vouched_by: match &identity.kubeconfig {
                None => String::new(),
                Some(_) => namespace.clone(),
            },
            client,
        })
    }
}

impl CredentialsStore for Clusters {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(self.open(name))
    }

    fn forget_cluster(&self, name: &str) {
        self.forget(name);
    }

    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.told.lock().push(sender);
        let next = async |mut receiver: mpsc::UnboundedReceiver<_>| Some((receiver.recv().await?, receiver));
        Box::pin(futures::stream::unfold(receiver, next))
    }
}

/// Checks that a reference of spec.kubeConfig has a name.
fn needed(name: &str, field: &str) -> Result<(), Failure> {
    match name.is_empty() {
        true => Err(Failure::new(format!(
            "spec.kubeConfig.{field}.name is empty: name what leads to the cluster"
        ))),
        false => Ok(()),
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
                "team|secret/prod|config|sync",
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
        for kubeconfig in [
            json!({}),
            json!({"secretRef": {"name": ""}}),
            json!({"configMapRef": {"name": ""}}),
        ] {
            let found = identity(json!({"kubeConfig": kubeconfig}));
            assert!(found.kubeconfig.is_some());
            assert_eq!(Identity::parse(&found.to_string()), Some(found));
        }
        assert_eq!(Identity::parse("team|prod||"), None);
        assert_eq!(Identity::parse("a|b"), None);
    }
    /// A cluster that has any Secret with a kubeconfig that leads to `server`, which answers 200 to everything.
    fn clusters(server: &str) -> Clusters {
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{{name: a, cluster: {{server: \"{server}\"}}}}]\n\
             users: [{{name: a, user: {{token: t}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n"
        );
        let service = tower::service_fn(move |_: http::Request<kube::client::Body>| {
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "prod", "namespace": "team"},
                "data": {"value": k8s_openapi::ByteString(kubeconfig.clone().into_bytes())},
            });
            let answer = http::Response::new(kube::client::Body::from(secret.to_string().into_bytes()));
            async { Ok::<_, std::convert::Infallible>(answer) }
        });
        Clusters::new(
            Client::new(service, "default"),
            KubeconfigRules::default(),
            Default::default(),
        )
    }

    #[tokio::test]
    async fn writes_to_other_clusters_pass_the_fence() {
        let server = testkit::http::Server::serve(|_: &testkit::http::Request| {
            testkit::http::Reply::json(r#"{"kind": "Status", "apiVersion": "v1", "status": "Success"}"#)
        });
        let clusters = clusters(&server.url());
        let fence = Fence::default();
        clusters.fence_by(&fence);
        let identity =
            identity(json!({"kubeConfig": {"secretRef": {"name": "prod"}}, "serviceAccountName": "sync"}));
        let access = clusters.open(&identity.to_string()).await.unwrap();
        let request = |method: http::Method| {
            let request = http::Request::builder()
                .method(method)
                .uri("/api/v1/namespaces/x");
            access
                .client
                .send(request.body(kube::client::Body::empty()).unwrap())
        };
        assert!(request(http::Method::DELETE).await.is_ok());
        fence.close();
        let error = request(http::Method::DELETE).await.unwrap_err();
        assert!(matches!(error, kube::Error::Service(_)), "{error}");
        assert!(request(http::Method::GET).await.is_ok());
        assert_eq!(server.requests().len(), 2);

        assert_eq!(clusters.0.kubeconfigs.lock().len(), 1);
        clusters.forget_cluster(&identity.to_string());
        assert!(clusters.0.kubeconfigs.lock().is_empty());
    }
}
