//! Who the objects of a Kustomization are applied as, and where.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use api::kustomize::Kustomization;
use engine::unit::{Access, ClusterEvent, CredentialsStore, Failure};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::HeaderValue;
use kube::{Client, ResourceExt};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::Settings;
use super::kubeconfig::{self, Fingerprint, Rules};

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

    /// The ServiceAccount that is acted as: namespace and name.
    pub(super) fn account(&self) -> Option<(&str, &str)> {
        Some((&self.namespace, self.account.as_deref()?))
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

/// Gives access to the clusters of Kustomizations. Clones are the same.
#[derive(Clone)]
pub(super) struct Clusters(Arc<Reached>);

struct Reached {
    client: Client,
    rules: Rules,
    /// What the kubeconfigs are that are in use, by the names of their clusters.
    kubeconfigs: Mutex<HashMap<String, Fingerprint>>,
    /// Who wants to know when a cluster is reached in another way.
    told: Mutex<Vec<mpsc::UnboundedSender<ClusterEvent>>>,
}

impl Clusters {
    pub(super) fn new(client: Client, rules: Rules) -> Self {
        Clusters(Arc::new(Reached {
            client,
            rules,
            kubeconfigs: Mutex::default(),
            told: Mutex::default(),
        }))
    }

    /// Looks whether the kubeconfig of a cluster that is in use is another one by now.
    pub(super) async fn look_again(&self, name: &str) {
        let identity = Identity::parse(name);
        let Some((secret, key)) = identity
            .as_ref()
            .and_then(|identity| identity.kubeconfig.as_ref())
        else {
            return;
        };
        let Some(known) = self.0.kubeconfigs.lock().get(name).copied() else {
            return;
        };
        let namespace = identity.as_ref().map_or("", |identity| &identity.namespace);
        let found = kubeconfig::read(&self.0.client, namespace, secret, key.as_deref()).await;
        if found.is_ok_and(|found| found.fingerprint() == known) {
            return;
        }
        // One that is gone, too: whoever uses it next is told why it cannot be used.
        self.0.kubeconfigs.lock().remove(name);
        let changed = || ClusterEvent::Changed(name.to_owned());
        self.0.told.lock().retain(|told| told.send(changed()).is_ok());
    }

    async fn open(&self, name: &str) -> Result<Access, Failure> {
        if name == UNKNOWN {
            return Err(Failure::new(
                "spec.kubeConfig.configMapRef is not supported yet: name a Secret with a kubeconfig in spec.kubeConfig.secretRef",
            ));
        }
        let no_cluster = || Failure::new(format!("{name:?} names no cluster"));
        let identity = Identity::parse(name).ok_or_else(no_cluster)?;
        let (endpoint, whose, client) = match &identity.kubeconfig {
            None => ("in-cluster".to_owned(), String::new(), self.0.client.clone()),
            Some((secret, key)) => {
                let namespace = &identity.namespace;
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
