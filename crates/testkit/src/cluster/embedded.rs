//! A cluster inside the test's own process.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use apiserver::auth::User;
use apiserver::{Builder, Listening, Server};
use http::{HeaderValue, Request};
use kube::Client;
use kube::client::Body;
use model::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::OnceCell;
use tower::ServiceExt;

use super::{Error, prefix};

/// The embedded server, and its port once a program needs one.
pub(super) struct Embedded {
    pub(super) server: Server,
    token: String,
    port: OnceCell<Port>,
}

struct Port {
    kubeconfig: PathBuf,
    _folder: TempDir,
    _listening: Listening,
}

impl Embedded {
    /// Starts the server on the runtime of the test.
    pub(super) fn start(builder: Builder) -> Embedded {
        let token = format!("{}{}", prefix::random(), prefix::random());
        let server = builder
            .token(token.as_str(), User::new("admin", &["system:masters"]))
            .start();
        Embedded {
            server,
            token,
            port: OnceCell::new(),
        }
    }

    /// Requests without credentials come from an administrator.
    pub(super) fn client(&self) -> Client {
        Client::new(self.server.service(), "default")
    }

    pub(super) fn client_without_credentials(&self) -> Client {
        Client::new(self.server.stranger_service(), "default")
    }

    pub(super) fn client_with_token(&self, token: &str) -> Client {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("a token is printable");
        let service = self
            .server
            .stranger_service()
            .map_request(move |mut request: Request<Body>| {
                request
                    .headers_mut()
                    .insert(http::header::AUTHORIZATION, value.clone());
                request
            });
        Client::new(service, "default")
    }

    /// Opens the port on the first call.
    pub(super) async fn kubeconfig(&self) -> Result<PathBuf, Error> {
        let port = self.port.get_or_try_init(|| self.open()).await?;
        Ok(port.kubeconfig.clone())
    }

    async fn open(&self) -> Result<Port, Error> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Port { source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(|error| failed(error.into()))?;
        let listening = self
            .server
            .listen(listener)
            .map_err(|error| failed(error.into()))?;
        let folder = TempDir::new().map_err(|error| failed(error.into()))?;
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, json::to_string(&listening.kubeconfig(&self.token)))
            .map_err(|error| failed(error.into()))?;
        Ok(Port {
            kubeconfig,
            _folder: folder,
            _listening: listening,
        })
    }
}
