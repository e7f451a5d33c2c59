//! How the clusters are reached that units are synced to.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use super::Failure;

/// A cluster and who we are to it.
#[derive(Clone)]
pub struct Access {
    /// Where its API is. Units of the same endpoint and identity share one cache.
    pub endpoint: String,
    /// Who asks: a user, a service account, the name of a kubeconfig. Never a secret.
    pub identity: String,
    /// What requests are sent with.
    pub client: kube::Client,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} as {}", self.endpoint, self.identity)
    }
}

/// What happened to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterEvent {
    /// It is new, or is reached in another way: units of it are looked at again.
    Changed(String),
    /// It is no longer known: its cache is torn down.
    Removed(String),
}

/// Gives access to clusters by the names that destinations have.
pub trait CredentialsStore: Send + Sync + 'static {
    /// The cluster of this name.
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>>;

    /// What happens to clusters from now on. By default nothing does.
    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        Box::pin(futures::stream::pending())
    }
}

/// One cluster for every name: that of a client.
#[derive(Clone, Debug)]
pub struct OneCluster(Access);

impl OneCluster {
    /// The cluster that this client speaks to, whichever that is: units are not seen to get into another one if the client does.
    pub fn new(client: kube::Client) -> Self {
        OneCluster(Access {
            endpoint: "in-cluster".to_owned(),
            identity: "default".to_owned(),
            client,
        })
    }

    /// The cluster of a kubeconfig, or the one that the process runs in: what `kube::Config::infer()` finds. What units had in another one
    /// stays there.
    ///
    /// # Errors
    /// Certificates or the proxy cannot be used.
    pub fn of(config: kube::Config) -> Result<Self, Failure> {
        let endpoint = config.cluster_url.to_string();
        Ok(OneCluster(Access {
            endpoint,
            identity: "default".to_owned(),
            client: crate::cluster::connect(config)?,
        }))
    }
}

impl CredentialsStore for OneCluster {
    fn get_cluster<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}
