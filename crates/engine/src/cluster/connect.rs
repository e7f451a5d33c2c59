//! A client that speaks HTTP/2.
//!
//! The client that the `kube` crate makes of a configuration opens an HTTP/1.1 connection for every watch. This one has
//! TLS settle on HTTP/2 where the server speaks it, as all API servers do, and shares [a few connections](super::lanes).

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Uri};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client as HyperClient, Error as HyperError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ConfigExt};
use kube::{Client, Config};
use reach::Proxies;
use reach::guard::{self, Refused};
use tower::retry::Retry;
use tower::{BoxError, ServiceBuilder, service_fn};

use super::error::Unreached;
use super::lanes::Lanes;
use super::names::Names;
use super::trust;
use super::way::{self, UnusableProxy, Way};

/// A connection has to be there by then, unless the configuration says otherwise.
const CONNECT: Duration = Duration::from_secs(30);
/// A connection that was silent for this long is asked for a sign of life.
const PING: Duration = Duration::from_secs(30);
/// And is given up when none came by then.
const PONG: Duration = Duration::from_secs(15);
/// What a stream may have on its way, and what a connection may: room for all its streams, so that a slow reader of one
/// does not hold up the others.
const STREAM_WINDOW: u32 = 256 * 1024;
const CONNECTION_WINDOW: u32 = 80 * STREAM_WINDOW;

/// No client can be made of a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Its certificates or credentials cannot be used.
    #[error("failed to set up the connection to {server}")]
    Config {
        /// The server's address.
        server: String,
        /// What is wrong.
        source: Box<kube::Error>,
    },
    /// Its proxy cannot be used.
    #[error(transparent)]
    Proxy(#[from] UnusableProxy),
    /// Its server or its proxy must not be reached.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The name that the server's certificate should have is none.
    #[error("{name:?} is no server name")]
    ServerName {
        /// The name.
        name: String,
    },
}

/// A client for a configuration. Connections are opened when they are needed, through the proxy that the configuration or the
/// environment names.
///
/// Requests are not retried by it; a [`Cluster`](super::Cluster) does that.
///
/// # Errors
/// When certificates, credentials or the proxy cannot be used.
pub fn connect(config: Config) -> Result<Client, ConnectError> {
    client(&config, Names::All)
}

/// The same for a configuration that a tenant has written: it does not lead to link-local addresses and metadata servers, which the
/// tenant could not reach.
///
/// # Errors
/// As [`connect`], and when the address of the server or of its proxy is one of those.
pub fn connect_guarded(config: Config) -> Result<Client, ConnectError> {
    let named = [Some(&config.cluster_url), config.proxy_url.as_ref()];
    for url in named
        .into_iter()
        .flatten()
        .filter_map(|url| url.to_string().parse().ok())
    {
        guard::check(&url)?;
    }
    client(&config, Names::Guarded)
}

/// The same, with requests sent again that a server is too busy for, as client-go does it.
///
/// # Errors
/// As [`connect`].
pub fn connect_patiently(config: Config) -> Result<Client, ConnectError> {
    Ok(patient(connect(config)?))
}

/// Sends the requests of a client again that a server is too busy for. Each time the request passes through the whole client.
pub fn patient(client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move { client.send(request).await.map_err(BoxError::from) }
    });
    Client::new(Retry::new(RetryPolicy::default(), service), namespace)
}

fn client(config: &Config, names: Names) -> Result<Client, ConnectError> {
    let failed = |source: kube::Error| ConnectError::Config {
        server: shown(&config.cluster_url),
        source: Box::new(source),
    };
    let mut tls = config.rustls_client_config().map_err(failed)?;
    if let Some(verifier) = trust::verifier(config) {
        tls.dangerous().set_certificate_verifier(verifier);
    }
    let mut http = HttpConnector::new_with_resolver(names);
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(config.connect_timeout.unwrap_or(CONNECT)));
    let proxy = way::proxy_of(config, &Proxies::of_environment());
    let way = Way::new(proxy.as_ref(), http, &tls)?;
    let mut connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.tls_server_name {
        let server = name.clone().try_into();
        let server = server.map_err(|_| ConnectError::ServerName { name: name.clone() })?;
        connector = connector.with_server_name_resolver(FixedServerNameResolver::new(server));
    }
    let connector = connector.enable_all_versions().wrap_connector(way);
    let lanes = Lanes::new(move || {
        HyperClient::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .build::<_, Body>(connector.clone())
    });
    let server: Arc<str> = shown(&config.cluster_url).into();
    let unreached = move |error: HyperError| -> BoxError {
        Box::new(Unreached {
            server: Arc::clone(&server),
            source: error.into(),
        })
    };
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(failed)?)
        .layer(config.extra_headers_layer().map_err(failed)?)
        .map_err(unreached)
        .service(lanes);
    Ok(Client::new(service, config.default_namespace.clone()))
}

/// An address as people may read it: without the name and password that may be in it.
fn shown(address: &Uri) -> String {
    let text = address.to_string();
    let text = text.trim_end_matches('/');
    let credentials = address
        .authority()
        .and_then(|authority| authority.as_str().rsplit_once('@'));
    match credentials {
        Some((credentials, _)) => text.replacen(&format!("{credentials}@"), "", 1),
        None => text.to_owned(),
    }
}
