//! HTTP clients of all sources: authorities, client certificates, proxies, time limits.

mod clients;
pub(crate) mod escape;
mod guard;
mod proxy;
pub(crate) mod redirect;
mod remedy;
pub(crate) mod repeated;
mod tls;

use std::fmt;
use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use secrecy::SecretString;

pub use clients::Clients;
pub use guard::SOURCE_REQUEST;
pub(crate) use guard::connect;
pub(crate) use proxy::Problem;
pub use proxy::{Proxy, ProxyFailure};
pub use redirect::Lost;
pub(crate) use remedy::remedy;
pub use tls::Tls;
pub(crate) use tls::tls_failure;

/// The time in which a connection must be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest time that a server may be silent during a request.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest time that a whole request may take.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// How a client shall reach its server. The default is the system's authorities, no client certificate, the proxy of the
/// environment.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Authorities and client certificate.
    pub tls: Tls,
    /// The proxy to go through for every host, whatever the environment says of proxies.
    pub proxy: Option<Proxy>,
    /// The time a whole request may take, with its answer: at most an hour, which is also what `None` allows. A server that is
    /// silent for [`IDLE_TIMEOUT`] ends the request sooner.
    pub timeout: Option<Duration>,
    /// What to call ourselves.
    pub user_agent: Option<String>,
    /// Go through no proxy at all, also not that of the environment.
    pub direct: bool,
    /// Reach link-local addresses too, and do without [`SOURCE_REQUEST`]: only for servers that the operator or the cloud chooses.
    pub unrestricted: bool,
    /// Where clients are kept, so that connections are used again. `None` makes a client each time.
    pub clients: Option<Clients>,
}

/// A user name with its password.
#[derive(Clone)]
pub struct Login {
    /// The user name.
    pub user: String,
    /// The password.
    pub password: SecretString,
}

/// Why there is no client. The remedy is always to correct what the client was to be made of.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no authority among them that can be read.
    #[error("the CA certificates cannot be read: they must be PEM")]
    Authorities,
    /// There is a certificate without a key or the other way round.
    #[error("a client certificate needs both the certificate and its private key, and only the {0} is given")]
    HalfIdentity(&'static str),
    /// The client certificate cannot be read.
    #[error("the client certificate cannot be read: it must be PEM")]
    Certificate(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// The private key of the client certificate cannot be read.
    #[error("the private key of the client certificate cannot be read: it must be PEM and not encrypted")]
    Key(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// They are of different pairs.
    #[error("the private key is not that of the client certificate: give the one that it was made with")]
    Mismatch,
    /// The address of the proxy is none.
    #[error("the address of the proxy is not valid: it must begin with http://, https:// or socks5://")]
    Proxy(#[source] Option<reqwest::Error>),
    /// The proxy is a server that must not be reached.
    #[error("the address of the proxy cannot be used")]
    RefusedProxy(#[source] reach::guard::Refused),
    /// The client cannot be made of all this.
    #[error("the HTTP client cannot be made")]
    Client(#[source] reqwest::Error),
}

impl Options {
    /// A client.
    ///
    /// # Errors
    /// Where certificates, key or proxy are not what they must be.
    pub fn client(&self) -> Result<Client, Error> {
        self.client_with("", |builder| builder)
    }

    /// A client that more is said about. What `more` says has a name, so that clients which differ in it are not taken for each
    /// other.
    ///
    /// # Errors
    /// As [`Options::client`].
    pub fn client_with(
        &self,
        name: &'static str,
        more: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Client, Error> {
        let make = || more(self.builder()?).build().map_err(Error::Client);
        match &self.clients {
            Some(clients) => clients.get(self.fingerprint(name), make),
            None => make(),
        }
    }

    /// A client that gives bodies as they were sent: archives must not be unpacked on the way.
    ///
    /// # Errors
    /// As [`Options::client`].
    pub fn raw_client(&self) -> Result<Client, Error> {
        self.client_with("raw", ClientBuilder::no_gzip)
    }

    fn builder(&self) -> Result<ClientBuilder, Error> {
        const AGENT: &str = concat!("sluice/", env!("CARGO_PKG_VERSION"));
        let agent = self.user_agent.as_deref().unwrap_or(AGENT);
        let mut builder = Client::builder()
            .user_agent(agent)
            .connect_timeout(CONNECT_TIMEOUT);
        // Servers are chosen by those who do not run this process: none may keep it waiting for ever.
        let timeout = self.timeout.unwrap_or(LONGEST_TIMEOUT).min(LONGEST_TIMEOUT);
        builder = builder.timeout(timeout).read_timeout(IDLE_TIMEOUT);
        builder = builder.tls_backend_preconfigured(self.tls.config()?);
        // The library has rules of its own for what the environment says.
        builder = builder.no_proxy();
        if !self.unrestricted {
            builder = guard::guarded(builder);
        }
        Ok(match &self.proxy {
            _ if self.direct => builder,
            Some(proxy) => builder.proxy(proxy.through()?),
            None => builder.proxy(proxy::of_environment()),
        })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(options: &Options) -> String {
        options.client().unwrap_err().to_string()
    }

    #[test]
    fn half_a_client_certificate_is_refused() {
        let mut options = Options::default();
        options.tls.certificate = Some(Vec::new());
        assert!(error(&options).contains("only the certificate is given"));
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_and_its_password_not_shown() {
        let login = Login {
            user: "me".into(),
            password: "geheim".into(),
        };
        let proxy = Proxy {
            address: "ftp://host".into(),
            login: Some(login),
        };
        let options = Options {
            proxy: Some(proxy),
            ..Options::default()
        };
        assert!(error(&options).contains("must begin with http://"));
        assert!(!format!("{options:?}").contains("geheim"));
    }
}
