//! How the clusters are reached that units are synced to.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use super::Failure;
use crate::cluster::{Budget, Cluster};

/// A cluster and who we are to it.
#[derive(Clone)]
pub struct Access {
    /// Where its API is. Units of the same endpoint and identity share one cache.
    pub endpoint: String,
    /// Who asks: a user, a service account, the name of a kubeconfig. Never a secret. It need not change with the credentials: a
    /// [change](ClusterEvent::Changed) is enough for new ones to be used.
    pub identity: String,
    /// Who says that this address leads to this cluster: the owner of a kubeconfig, or nobody but this process where that is empty. An address
    /// proves nothing, as a kubeconfig may name a proxy that leads elsewhere. Units have a say only about the objects of units whose address
    /// the same one vouches for.
    pub vouched_by: String,
    /// What requests are sent with. Of names that share a cache it is that of the first, until that name changes.
    pub client: kube::Client,
}

impl Access {
    /// The cluster. It has this budget, unless this process knows it by itself.
    pub fn open(&self, budget: Budget) -> Cluster {
        let cluster = Cluster::new(self.client.clone());
        if self.vouched_by.is_empty() {
            return cluster;
        }
        cluster.with_budget(&self.endpoint, budget)
    }
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
///
/// ```
/// use engine::futures::future::BoxFuture;
/// use engine::kube::Config;
/// use engine::kube::config::{KubeConfigOptions, Kubeconfig};
/// use engine::unit::{Access, CredentialsStore, Failure};
///
/// /// The contexts of a kubeconfig, by their names.
/// struct Contexts(Kubeconfig);
///
/// impl CredentialsStore for Contexts {
///     fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
///         Box::pin(async move {
///             let options = KubeConfigOptions {
///                 context: Some(name.to_owned()),
///                 ..KubeConfigOptions::default()
///             };
///             let config = Config::from_custom_kubeconfig(self.0.clone(), &options).await?;
///             Ok(Access {
///                 endpoint: config.cluster_url.to_string(),
///                 identity: name.to_owned(),
///                 vouched_by: String::new(),
///                 client: engine::cluster::connect(config)?,
///             })
///         })
///     }
/// }
/// ```
pub trait CredentialsStore: Send + Sync + 'static {
    /// The cluster of this name. It is asked for when a unit is looked at and nothing is known of the cluster yet, or not any more, and has a
    /// minute to answer. A failure is told as that of the unit, and tried again.
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>>;

    /// What happens to clusters from now on. By default nothing does.
    ///
    /// It is called once when the engine begins, and again a while after it has panicked: all clusters count as changed then. What is owed
    /// is an event for each change since the call, of clusters that units are or are to be in: without one, the access that was given first is used
    /// for as long as a unit is in the cluster. One too many does no harm but costs new watches. A stream that ends has nothing more to say.
    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        Box::pin(futures::stream::pending())
    }

    /// No unit is in the cluster of this name any more. Whatever the store keeps of it can go.
    fn forget_cluster(&self, name: &str) {
        let _ = name;
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
            vouched_by: String::new(),
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
            vouched_by: String::new(),
            client: crate::cluster::connect(config)?,
        }))
    }
}

impl CredentialsStore for OneCluster {
    fn get_cluster<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}
