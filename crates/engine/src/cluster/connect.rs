//! A client that speaks HTTP/2.
//!
//! The client that the `kube` crate makes of a configuration opens an HTTP/1.1 connection for every watch. This one has
//! TLS settle on HTTP/2 where the server speaks it, as all API servers do, and shares [a few connections](super::lanes).

use std::time::Duration;

use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

use super::lanes::Lanes;

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
    /// The name that the server's certificate should have is none.
    #[error("{name:?} is no server name")]
    ServerName {
        /// The name.
        name: String,
    },
}

/// A client for a configuration. Connections are opened when they are needed.
///
/// Requests are not retried by it; a [`Cluster`](super::Cluster) does that.
///
/// # Errors
/// When certificates or credentials cannot be used.
pub fn connect(config: Config) -> Result<Client, ConnectError> {
    let failed = |source: kube::Error| ConnectError::Config {
        server: config.cluster_url.to_string(),
        source: Box::new(source),
    };
    if config.proxy_url.is_some() {
        // Proxies are known to the client of kube.
        let mut config = config.clone();
        config.default_retry = false;
        return Client::try_from(config).map_err(failed);
    }
    let tls = config.rustls_client_config().map_err(failed)?;
    let mut connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    if let Some(name) = &config.tls_server_name {
        let server = name.clone().try_into();
        let server = server.map_err(|_| ConnectError::ServerName { name: name.clone() })?;
        connector = connector.with_server_name_resolver(FixedServerNameResolver::new(server));
    }
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(config.connect_timeout.unwrap_or(CONNECT)));
    let connector = connector.enable_all_versions().wrap_connector(http);
    let lanes = Lanes::new(move || {
        HyperClient::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .build::<_, Body>(connector.clone())
    });
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(failed)?)
        .layer(config.extra_headers_layer().map_err(failed)?)
        .map_err(BoxError::from)
        .service(lanes);
    Ok(Client::new(service, config.default_namespace.clone()))
}
