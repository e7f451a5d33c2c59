//! The way to a server: straight on, or through a proxy. TLS with the server is made above it, so that HTTP/2 works through
//! proxies too.

use std::task::{Context, Poll};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use http::{HeaderValue, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::TokioIo;
use kube::Config;
use percent_encoding::percent_decode_str;
use reach::Proxies;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower::{BoxError, Service};
use url::Url;

use super::names::Names;

/// Opens connections to a server.
#[derive(Clone)]
pub(super) enum Way {
    Direct(HttpConnector<Names>),
    Tunnel {
        proxy: String,
        tunnel: Tunnel<HttpsConnector<HttpConnector<Names>>>,
    },
    Socks {
        proxy: String,
        socks: SocksV5<HttpConnector<Names>>,
    },
}

/// A proxy did not lead to the server.
#[derive(Debug, thiserror::Error)]
#[error(
    "the proxy {proxy} does not lead to the server: check 'proxy-url' of the kubeconfig, HTTPS_PROXY and NO_PROXY"
)]
struct ProxyError {
    proxy: String,
    source: BoxError,
}

/// A proxy whose address cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy:?} cannot be used: its address must begin with http://, https:// or socks5://")]
pub struct UnusableProxy {
    /// Host and port, or the scheme where it has none.
    proxy: String,
}

/// The proxy of a configuration: what its kubeconfig names counts for every server, what the environment names for all but those
/// that it excepts. The library puts the environment's in the place of one that is not named, by rules of its own, so that it is
/// taken out again here.
pub(super) fn proxy_of(config: &Config, environment: &Proxies) -> Option<Url> {
    let server: Url = config.cluster_url.to_string().parse().ok()?;
    let given = config.proxy_url.as_ref();
    let given: Option<Url> = given.and_then(|proxy| proxy.to_string().parse().ok());
    // Only a variable of the environment may lack the scheme.
    let given = given.filter(Url::has_host);
    match given {
        Some(given) if !environment.names(&given) => Some(given),
        _ => environment.to(&server).cloned(),
    }
}

impl Way {
    /// The way by a proxy, or without. A proxy that is spoken to by TLS is trusted as the server is.
    pub(super) fn new(
        proxy: Option<&Url>,
        http: HttpConnector<Names>,
        tls: &ClientConfig,
    ) -> Result<Self, UnusableProxy> {
        let Some(proxy) = proxy else {
            return Ok(Way::Direct(http));
        };
        let shown = reach::shown(proxy);
        let unusable = || UnusableProxy { proxy: shown.clone() };
        let login = login(proxy);
        let mut bare = proxy.clone();
        // Those cannot fail for an address with a host.
        let _ = bare.set_username("");
        let _ = bare.set_password(None);
        let socks = matches!(proxy.scheme(), "socks5" | "socks5h");
        if socks && bare.port().is_none() {
            let _ = bare.set_port(Some(1080));
        }
        let at: Uri = bare.as_str().parse().map_err(|_| unusable())?;
        if socks {
            // Names are left to the proxy, which may be the only one to know them.
            let mut socks = SocksV5::new(at, http).local_dns(false);
            if let Some((user, password)) = login {
                socks = socks.with_auth(user, password);
            }
            return Ok(Way::Socks { proxy: shown, socks });
        }
        if !matches!(proxy.scheme(), "http" | "https") {
            return Err(unusable());
        }
        let mut tls = tls.clone();
        tls.alpn_protocols.clear();
        let to_proxy = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let mut tunnel = Tunnel::new(at, to_proxy.enable_http1().wrap_connector(http));
        if let Some((user, password)) = login {
            let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
            tunnel = tunnel.with_auth(HeaderValue::try_from(basic).map_err(|_| unusable())?);
        }
        Ok(Way::Tunnel { proxy: shown, tunnel })
    }
}

/// The user name and the password that an address holds.
fn login(proxy: &Url) -> Option<(String, String)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let user = decoded(proxy.username());
    let password = decoded(proxy.password().unwrap_or_default());
    (!user.is_empty() || !password.is_empty()).then_some((user, password))
}

impl Service<Uri> for Way {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match self {
            Way::Direct(http) => http.poll_ready(context).map_err(BoxError::from),
            Way::Tunnel { tunnel, .. } => tunnel.poll_ready(context).map_err(BoxError::from),
            Way::Socks { socks, .. } => socks.poll_ready(context).map_err(BoxError::from),
        }
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let blame = |proxy: &String| {
            let proxy = proxy.clone();
            move |source: BoxError| -> BoxError { Box::new(ProxyError { proxy, source }) }
        };
        match self {
            Way::Direct(http) => {
                let connecting = http.call(server);
                Box::pin(async move { Ok(MaybeHttpsStream::Http(connecting.await?)) })
            }
            Way::Tunnel { proxy, tunnel } => {
                let (connecting, blame) = (tunnel.call(server), blame(proxy));
                Box::pin(async move { connecting.await.map_err(|error| blame(error.into())) })
            }
            Way::Socks { proxy, socks } => {
                let (connecting, blame) = (socks.call(server), blame(proxy));
                Box::pin(async move {
                    let connected = connecting.await.map_err(|error| blame(error.into()))?;
                    Ok(MaybeHttpsStream::Http(connected))
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Proxies {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Proxies::of(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    fn proxy(server: &str, given: Option<&str>, variables: &[(&str, &str)]) -> Option<String> {
        let mut config = Config::new(server.parse().unwrap());
        config.proxy_url = given.map(|given| given.parse().unwrap());
        proxy_of(&config, &environment(variables)).map(|proxy| reach::shown(&proxy))
    }

    #[test]
    fn what_the_kubeconfig_names_counts_for_all_and_the_environment_for_some() {
        let set = [
            ("HTTPS_PROXY", "http://env:1"),
            ("NO_PROXY", "near.test,10.0.0.0/8"),
        ];
        let server = "https://far.test:6443";
        assert_eq!(proxy(server, None, &[]), None);
        assert_eq!(proxy(server, None, &set).as_deref(), Some("env:1"));
        assert_eq!(
            proxy(server, Some("http://given:1"), &set).as_deref(),
            Some("given:1")
        );
        let near = "https://a.near.test:6443";
        assert_eq!(proxy(near, None, &set), None);
        assert_eq!(proxy("https://10.1.2.3", None, &set), None);
        assert_eq!(
            proxy(near, Some("http://given:1"), &set).as_deref(),
            Some("given:1")
        );
        // The library has put the environment's proxy there, which does not count for this server.
        assert_eq!(proxy(near, Some("http://env:1"), &set), None);
        assert_eq!(proxy("https://127.0.0.1:6443", Some("http://env:1"), &set), None);
    }
}
