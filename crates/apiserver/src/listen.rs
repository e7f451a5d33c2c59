//! The server on a TCP port, with TLS: what programs other than ours connect to.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use model::{Value, value};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::http::Body;
use crate::route;
use crate::server::Server;

/// Why the server cannot listen.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The certificate could not be made.
    #[error("failed to make the server's certificate")]
    Certificate(#[source] rcgen::Error),
    /// TLS could not be set up with it.
    #[error("failed to set up TLS")]
    Tls(#[source] rustls::Error),
    /// The port could not be asked for.
    #[error("failed to read the listener's address")]
    Address(#[source] std::io::Error),
}

/// A server that listens.
pub struct Listening {
    /// Where it listens.
    pub address: SocketAddr,
    /// The certificate that clients must trust, as PEM.
    pub certificate: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Listening {
    /// Where clients on this machine reach it: one that listens on all interfaces has no address of its own.
    pub fn reachable(&self) -> SocketAddr {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        address
    }

    /// A kubeconfig for the user with this bearer token.
    pub fn kubeconfig(&self, token: &str) -> Value {
        use base64::Engine as _;
        let authority = base64::engine::general_purpose::STANDARD.encode(&self.certificate);
        value!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "sluice",
            "preferences": {},
            "clusters": [{
                "name": "sluice",
                "cluster": {"server": (format!("https://{}", self.reachable())), "certificate-authority-data": authority}
            }],
            "users": [{"name": "sluice", "user": {"token": token}}],
            "contexts": [{"name": "sluice", "context": {"cluster": "sluice", "user": "sluice"}}],
        })
    }
}

/// The connection ended without an answer: a fault that was asked for.
#[derive(Clone, Copy, Debug, Error)]
#[error("the connection ended without an answer")]
pub struct Disconnected;

/// The server as a tower service: what `kube::Client::new` takes.
#[derive(Clone)]
pub struct Service(Server);

impl<B> tower::Service<http::Request<B>> for Service
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = http::Response<Body>;
    type Error = Disconnected;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let server = self.0.clone();
        Box::pin(async move { route::handle(server.state, request, server.peer).await })
    }
}

impl Server {
    /// The server as a tower service. Requests without credentials come from an administrator: who holds the server
    /// in its own process can do everything anyway.
    pub fn service(&self) -> Service {
        Service(self.trusting())
    }

    /// The server as a tower service that trusts nobody: requests without credentials come from `system:anonymous`, as they
    /// do on a port.
    pub fn stranger_service(&self) -> Service {
        Service(self.clone())
    }

    /// Serves TLS on `listener` until the result is dropped.
    ///
    /// # Errors
    /// Where no certificate can be made.
    pub fn listen(&self, listener: TcpListener) -> Result<Listening, ListenError> {
        let address = listener.local_addr().map_err(ListenError::Address)?;
        let config = self.state.authority.server_config(address)?;
        let certificate = self.state.authority.pem();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let server = self.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, server) = (acceptor.clone(), server.clone());
                tokio::spawn(async move {
                    // A client that breaks off concerns only itself.
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let service = hyper_util::service::TowerToHyperService::new(Service(server.clone()));
                    let connection = auto::Builder::new(TokioExecutor::new());
                    let serving = connection.serve_connection_with_upgrades(TokioIo::new(stream), service);
                    tokio::select! {
                        _ = serving => {}
                        () = server.state.stopped() => {}
                    }
                });
            }
        });
        Ok(Listening {
            address,
            certificate,
            task,
        })
    }
}

/// Signs the certificates of the server's ports, with a key that is made at start and never leaves the process.
pub(crate) struct Authority {
    pem: String,
    der: Vec<u8>,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Result<Self, rcgen::Error> {
        let key = rcgen::KeyPair::generate()?;
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.key_usages = vec![
            rcgen::KeyUsagePurpose::KeyCertSign,
            rcgen::KeyUsagePurpose::CrlSign,
        ];
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "sluice");
        let certificate = params.self_signed(&key)?;
        let (pem, der) = (certificate.pem(), certificate.der().to_vec());
        Ok(Authority {
            pem,
            der,
            issuer: rcgen::Issuer::new(params, key),
        })
    }

    /// The certificate that clients must trust.
    pub(crate) fn pem(&self) -> String {
        self.pem.clone()
    }

    /// What a port at `address` needs to speak TLS.
    fn server_config(&self, address: SocketAddr) -> Result<ServerConfig, ListenError> {
        let names = [
            address.ip().to_string(),
            "127.0.0.1".into(),
            "::1".into(),
            "localhost".into(),
            "kubernetes.default.svc".into(),
        ];
        let key = rcgen::KeyPair::generate().map_err(ListenError::Certificate)?;
        let mut params = rcgen::CertificateParams::new(names).map_err(ListenError::Certificate)?;
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let signed = params
            .signed_by(&key, &self.issuer)
            .map_err(ListenError::Certificate)?;
        let chain = vec![
            CertificateDer::from(signed.der().to_vec()),
            CertificateDer::from(self.der.clone()),
        ];
        let key = PrivateKeyDer::try_from(key.serialize_der())
            .map_err(|_| ListenError::Certificate(rcgen::Error::CouldNotParseKeyPair))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(ListenError::Tls)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(ListenError::Tls)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}
