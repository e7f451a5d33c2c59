//! A Kubernetes cluster for a test: the embedded one, or the real one that `SLUICE_TEST_KUBECONFIG` names.
//!
//! The embedded server runs on the test's own runtime. A test that runs a program against [`Cluster::kubeconfig`] has to wait
//! for it with tokio's `Command`, or the server stands still meanwhile.
//!
//! On a real cluster tests run side by side, so each has a random prefix for its namespaces and for the names of its
//! cluster-scoped objects, and removes what it made when it ends. `cargo xtask real-cluster exec -- COMMAND` makes such a
//! cluster for one command.
//!
//! ```no_run
//! # async fn doc() {
//! let cluster = testkit::Cluster::start().await;
//! let apps = cluster.namespace("apps").await;
//! let client = cluster.client();
//! let deployer = cluster.client_as("deployer", &["team-a"]);
//! # }
//! ```

mod cleanup;
mod crd;
mod embedded;
mod impersonate;
mod prefix;
mod real;
mod wait;

use std::path::PathBuf;

use apiserver::Server;
use kube::Client;
use serde_json::{Value, json};

use cleanup::Cleanup;

pub use wait::object_settled;

/// A cluster, seen by one test. Dropping it removes what the test made; so does [`Cluster::finish`], which waits for it.
pub struct Cluster {
    backend: Backend,
    client: Client,
    prefix: String,
    cleanup: Cleanup,
}

enum Backend {
    Embedded(Box<embedded::Embedded>),
    Real(Box<real::Real>),
}

/// A cluster could not be started or asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The embedded server could not be opened to other programs.
    #[error("failed to open a port of the embedded server")]
    Port {
        /// What is wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file that `SLUICE_TEST_KUBECONFIG` names cannot be used.
    #[error("failed to use the kubeconfig {path}, which SLUICE_TEST_KUBECONFIG names")]
    Kubeconfig {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A request failed.
    #[error("failed to {what}")]
    Request {
        /// What was to be done, to which object.
        what: String,
        /// The server's or the connection's error.
        source: Box<kube::Error>,
    },
    /// An object did not get into the awaited state.
    #[error("{what}: {reason}")]
    NotSettled {
        /// The object.
        what: String,
        /// What it lacked at last.
        reason: String,
    },
}

impl Cluster {
    /// Starts the embedded cluster or reaches the real one.
    ///
    /// # Panics
    /// When the kubeconfig of the real one is not usable. See [`Cluster::try_start`].
    pub async fn start() -> Cluster {
        Cluster::try_start()
            .await
            .unwrap_or_else(|error| panic!("{}", chain(&error)))
    }

    /// Starts the embedded cluster or reaches the real one.
    ///
    /// # Errors
    /// When the kubeconfig of the real one is not usable.
    pub async fn try_start() -> Result<Cluster, Error> {
        let Some(real) = real::Real::from_environment().await? else {
            return Ok(Cluster::embedded(Server::builder()));
        };
        let client = real.client()?;
        let cleanup = Cleanup::of(&real);
        Ok(Cluster {
            backend: Backend::Real(Box::new(real)),
            client,
            prefix: prefix::random(),
            cleanup,
        })
    }

    /// Starts the embedded cluster in any case, for a test of what only it can do: simulate workloads, inject faults.
    pub fn embedded(builder: apiserver::Builder) -> Cluster {
        let embedded = embedded::Embedded::start(builder);
        let client = embedded.client();
        let (prefix, cleanup) = (prefix::random(), Cleanup::none());
        Cluster {
            backend: Backend::Embedded(Box::new(embedded)),
            client,
            prefix,
            cleanup,
        }
    }

    /// The embedded server, if this is one.
    pub fn server(&self) -> Option<&Server> {
        match &self.backend {
            Backend::Embedded(embedded) => Some(&embedded.server),
            Backend::Real(_) => None,
        }
    }

    /// A client with all rights. Requests are not retried: a test sees what the server says.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// A client that acts for another user, by the impersonation headers.
    pub fn client_as(&self, user: &str, groups: &[&str]) -> Client {
        impersonate::as_user(self.client(), user, groups)
    }

    /// A client that is known by a bearer token alone.
    ///
    /// # Panics
    /// When no client can be made of the cluster's address, which worked before.
    pub fn client_with_token(&self, token: &str) -> Client {
        match &self.backend {
            Backend::Embedded(embedded) => embedded.client_with_token(token),
            Backend::Real(real) => real
                .client_with_token(token)
                .unwrap_or_else(|error| panic!("{}", chain(&error))),
        }
    }

    /// A client without any credentials.
    ///
    /// # Panics
    /// When no client can be made of the cluster's address, which worked before.
    pub fn client_without_credentials(&self) -> Client {
        match &self.backend {
            Backend::Embedded(embedded) => embedded.client_without_credentials(),
            Backend::Real(real) => real
                .client_without_credentials()
                .unwrap_or_else(|error| panic!("{}", chain(&error))),
        }
    }

    /// A kubeconfig with all rights, for programs that a test runs. The embedded server opens a port for it.
    ///
    /// # Panics
    /// When no port can be opened.
    pub async fn kubeconfig(&self) -> PathBuf {
        match &self.backend {
            Backend::Embedded(embedded) => embedded
                .kubeconfig()
                .await
                .unwrap_or_else(|error| panic!("{}", chain(&error))),
            Backend::Real(real) => real.kubeconfig().to_owned(),
        }
    }

    /// Whether this is a real cluster.
    pub fn is_real(&self) -> bool {
        matches!(self.backend, Backend::Real(_))
    }

    /// What the names of this test begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The name to give to a cluster-scoped object of this test. Name it to [`Cluster::delete_at_end`] too.
    pub fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// Creates a namespace of this test and returns its full name.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn namespace(&self, name: &str) -> String {
        let name = self.name(name);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.create("/api/v1/namespaces", &namespace)
            .await
            .unwrap_or_else(|error| panic!("{}", chain(&error)));
        name
    }

    /// Creates a CustomResourceDefinition, waits until its resources are served, and removes it at the end.
    ///
    /// # Panics
    /// When the server refuses it or does not serve it within half a minute.
    pub async fn establish(&self, definition: &Value) {
        crd::establish(self, definition)
            .await
            .unwrap_or_else(|error| panic!("{}", chain(&error)));
    }

    /// Has a CustomResourceDefinition served that has the same name for all tests: it is applied, so that tests side by side
    /// do not meet, waited for, and left on a real cluster when the test ends, as others may be using it.
    ///
    /// # Panics
    /// When the server refuses it or does not serve it within half a minute.
    pub async fn serve(&self, definition: &Value) {
        crd::serve(self, definition)
            .await
            .unwrap_or_else(|error| panic!("{}", chain(&error)));
    }

    /// Deletes what lies under that path of the API when the test ends.
    pub fn delete_at_end(&self, path: impl Into<String>) {
        self.cleanup.add(path.into());
    }

    /// Removes what the test made, while it is still running, and is done when the server has taken all deletions.
    pub async fn finish(self) {
        self.cleanup.run(&self.client).await;
    }

    /// Applies an object that stays.
    async fn apply(&self, path: &str, object: &Value) -> Result<(), Error> {
        let failed = |source| Error::Request {
            what: format!("apply {path}"),
            source: Box::new(source),
        };
        let request = http::Request::patch(format!("{path}?fieldManager=testkit&force=true"))
            .header("content-type", "application/apply-patch+yaml")
            .body(object.to_string().into_bytes())
            .map_err(|error| failed(kube::Error::HttpError(error)))?;
        self.client.request_text(request).await.map(drop).map_err(failed)
    }

    /// Posts an object that is to be deleted at the end.
    async fn create(&self, collection: &str, object: &Value) -> Result<(), Error> {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let failed = |source| Error::Request {
            what: format!("create {collection}/{name}"),
            source: Box::new(source),
        };
        let request = http::Request::post(collection)
            .header("content-type", "application/json")
            .body(object.to_string().into_bytes())
            .map_err(|error| failed(kube::Error::HttpError(error)))?;
        self.client.request_text(request).await.map_err(failed)?;
        self.delete_at_end(format!("{collection}/{name}"));
        Ok(())
    }
}

/// An error with all its causes, for the message of a panic.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
