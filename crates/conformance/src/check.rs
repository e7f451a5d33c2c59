//! One check and the cluster that it sees.

use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use kube::Client;
use serde_json::Value;
use testkit::Cluster;

use crate::caller::Caller;
use crate::deviation;

/// The cluster as a check sees it: a namespace of its own and, by dereference, a caller who may do everything.
pub struct Test {
    /// The cluster.
    pub cluster: Cluster,
    /// The namespace that the check may fill.
    pub namespace: String,
    admin: Caller,
}

/// Runs a check. On the embedded server one that is listed as a deviation has to fail.
///
/// # Panics
/// When the check fails, or is listed as a deviation and does not.
pub async fn run(path: &str, check: impl AsyncFnOnce(&Test)) {
    let cluster = Cluster::start().await;
    let namespace = cluster.namespace("check").await;
    let admin = Caller::new(cluster.client());
    let test = Test {
        cluster,
        namespace,
        admin,
    };
    if test.cluster.is_real() {
        check(&test).await;
    } else if let Some(known) = deviation::of(path) {
        let outcome = AssertUnwindSafe(check(&test)).catch_unwind().await;
        assert!(
            outcome.is_err(),
            "{path} holds: it is no longer a deviation ({})",
            known.reason
        );
    } else {
        check(&test).await;
    }
    test.cluster.finish().await;
}

impl Test {
    /// The path of a resource of the core group in the check's namespace: `t.core("configmaps/a")`.
    pub fn core(&self, resource: &str) -> String {
        format!("/api/v1/namespaces/{}/{resource}", self.namespace)
    }

    /// The path of a resource of another group in the check's namespace: `t.group("apps/v1", "deployments")`.
    pub fn group(&self, group_version: &str, resource: &str) -> String {
        format!("/apis/{group_version}/namespaces/{}/{resource}", self.namespace)
    }

    /// A caller with the rights of another user.
    pub fn user(&self, name: &str, groups: &[&str]) -> Caller {
        Caller::new(self.cluster.client_as(name, groups))
    }

    /// A caller who is known by a token.
    pub fn token(&self, token: &str) -> Caller {
        Caller::new(self.cluster.client_with_token(token))
    }

    /// A caller without credentials.
    pub fn anonymous(&self) -> Caller {
        Caller::new(self.cluster.client_without_credentials())
    }

    /// The client behind the requests, for what kube's own types and runtime are to show.
    pub fn client(&self) -> Client {
        self.cluster.client()
    }

    /// Creates an object and returns what the server made of it.
    #[track_caller]
    pub fn create(&self, collection: &str, object: Value) -> impl Future<Output = Value> + use<'_> {
        let caller = std::panic::Location::caller();
        let collection = collection.to_owned();
        async move {
            let reply = self.post(&collection, object).await;
            assert!(reply.code == 201, "at {caller}: {reply}");
            reply.body
        }
    }

    /// Reads a path again and again until the condition holds for the reply, and returns the body. For what a controller
    /// does some time after a request.
    ///
    /// # Panics
    /// When that does not come, with the last reply.
    pub async fn until(&self, path: &str, condition: impl Fn(&crate::Reply) -> bool) -> Value {
        // The controllers of a real cluster may have to clean up after many other checks first.
        let patience = Duration::from_secs(120);
        let began = tokio::time::Instant::now();
        let mut pause = Duration::from_millis(5);
        loop {
            let reply = self.get(path).await;
            if condition(&reply) {
                return reply.body;
            }
            assert!(
                began.elapsed() < patience,
                "still not after {patience:?}: {reply}"
            );
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    }

    /// Waits until a path is not found any more.
    ///
    /// # Panics
    /// When that does not come.
    pub async fn until_gone(&self, path: &str) {
        self.until(path, |reply| reply.code == 404).await;
    }
}

impl Deref for Test {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.admin
    }
}
