//! HTTP clients of all sources: authorities, client certificates, proxies, time limits.

mod clients;
pub(crate) mod escape;

use std::fmt;
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Identity, NoProxy, Proxy as Through};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use secrecy::{ExposeSecret, SecretString};

pub use clients::Clients;

/// How a client shall reach its server. The default is the system's authorities, no client certificate, the proxy of the
/// environment.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Authorities and client certificate.
    pub tls: Tls,
    /// The proxy to go through, instead of the one in the environment.
    pub proxy: Option<Proxy>,
    /// The time a whole request may take; `None` leaves it to the caller.
    pub timeout: Option<Duration>,
    /// What to call ourselves.
    pub user_agent: Option<String>,
    /// Go through no proxy at all, also not that of the environment.
    pub direct: bool,
    /// Where clients are kept, so that connections are used again. `None` makes a client each time.
    pub clients: Option<Clients>,
}

/// What TLS connections are checked against and show of themselves.
#[derive(Clone, Default)]
pub struct Tls {
    /// Authorities in PEM form that are trusted beside those of the system.
    pub authorities: Option<Vec<u8>>,
    /// A client certificate, with its chain, in PEM form.
    pub certificate: Option<Vec<u8>>,
    /// The private key of the client certificate in PEM form.
    pub key: Option<SecretString>,
    /// Take any certificate of the server. Only for registries that were said to be insecure.
    pub accept_any: bool,
}

/// A proxy.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Its address: `http`, `https` or `socks5`.
    pub address: String,
    /// Who to say we are.
    pub login: Option<Login>,
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
    /// The authorities cannot be read.
    #[error("the CA certificates cannot be read: they must be PEM")]
    Authorities(#[source] Option<Box<dyn std::error::Error + Send + Sync>>),
    /// There is a certificate without a key or the other way round.
    #[error("a client certificate needs both the certificate and its private key, and only the {0} is given")]
    HalfIdentity(&'static str),
    /// The certificate or its key cannot be read, or they do not belong together.
    #[error(
        "the client certificate and its private key cannot be used: both must be PEM and belong together"
    )]
    Identity(#[source] reqwest::Error),
    /// The address of the proxy is none.
    #[error("the address of the proxy is not valid: it must begin with http://, https:// or socks5://")]
    Proxy(#[source] Option<reqwest::Error>),
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
        let mut builder = Client::builder().user_agent(agent);
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(timeout);
        }
        if let Some(pem) = &self.tls.authorities {
            let authorities = Certificate::from_pem_bundle(pem);
            let authorities = authorities.map_err(|error| Error::Authorities(Some(error.into())))?;
            if authorities.is_empty() {
                return Err(Error::Authorities(None));
            }
            builder = builder.tls_certs_merge(authorities);
        }
        if let Some(identity) = self.tls.identity()? {
            builder = builder.identity(identity);
        }
        if self.tls.accept_any {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        if self.direct {
            builder = builder.no_proxy();
        } else if let Some(proxy) = &self.proxy {
            builder = builder.proxy(proxy.through()?);
        }
        Ok(builder)
    }
}

impl Tls {
    /// Looks whether a client can be made of this, without making one: who knows where the certificates come from can say so.
    ///
    /// # Errors
    /// Where certificates or key are not what they must be.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(pem) = &self.authorities {
            let refused = |error: rustls::Error| Error::Authorities(Some(error.into()));
            let mut known = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| Error::Authorities(Some(error.into())))?;
                known.add(certificate).map_err(refused)?;
            }
            if known.is_empty() {
                return Err(Error::Authorities(None));
            }
        }
        self.identity().map(drop)
    }

    fn identity(&self) -> Result<Option<Identity>, Error> {
        match (&self.certificate, &self.key) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(Error::HalfIdentity("certificate")),
            (None, Some(_)) => Err(Error::HalfIdentity("private key")),
            (Some(certificate), Some(key)) => {
                let mut pem = key.expose_secret().as_bytes().to_vec();
                pem.push(b'\n');
                pem.extend_from_slice(certificate);
                Identity::from_pem(&pem).map(Some).map_err(Error::Identity)
            }
        }
    }
}

impl Proxy {
    fn through(&self) -> Result<Through, Error> {
        let known = ["http://", "https://", "socks5://", "socks5h://"];
        if !known.iter().any(|scheme| self.address.starts_with(scheme)) {
            return Err(Error::Proxy(None));
        }
        let through = Through::all(&self.address).map_err(|error| Error::Proxy(Some(error)))?;
        let through = through.no_proxy(NoProxy::from_env());
        Ok(match &self.login {
            Some(login) => through.basic_auth(&login.user, login.password.expose_secret()),
            None => through,
        })
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("authorities", &self.authorities.is_some())
            .field("certificate", &self.certificate.is_some())
            .field("accept_any", &self.accept_any)
            .finish_non_exhaustive()
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

    #[test]
    fn authorities_that_are_none_are_refused() {
        let mut options = Options::default();
        for text in [
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "no certificate",
            "",
        ] {
            options.tls.authorities = Some(text.as_bytes().to_vec());
            assert!(!error(&options).is_empty(), "{text}");
            let checked = options.tls.check();
            assert!(matches!(checked, Err(Error::Authorities(_))), "{text}");
        }
        let good = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        options.tls.authorities = Some(good.cert.pem().into_bytes());
        options.tls.check().unwrap();
        options.tls.certificate = options.tls.authorities.clone();
        options.tls.key = Some("no key".into());
        assert!(matches!(options.tls.check(), Err(Error::Identity(_))));
        options.tls.key = Some(good.signing_key.serialize_pem().into());
        options.tls.check().unwrap();
    }
}
