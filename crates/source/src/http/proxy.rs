//! Proxies: which one leads to a server, and whether it is to blame when the server was not reached.

use std::error::Error as StdError;

use reach::Proxies;
use reqwest::{Proxy as Through, Response, StatusCode};
use secrecy::ExposeSecret;
use url::Url;

use super::{Error, Login, Options, remedy};

/// A proxy.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// Its address: `http`, `https` or `socks5`.
    pub address: String,
    /// Who to say we are.
    pub login: Option<Login>,
}

/// A proxy that did not lead to a server.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy} {}", self.told())]
pub struct ProxyFailure {
    /// Host and port.
    proxy: String,
    /// Whether the environment names it.
    of_environment: bool,
    problem: Problem,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What is wrong with a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Nobody is there, or who is there speaks another language.
    Unreachable,
    /// It does not let us in.
    Login,
    /// It does not connect us to the server.
    Refused,
    /// It answered this in place of the server, or the server did.
    Status(u16),
    /// No answer came.
    Late,
    /// SSH does not go through a proxy of this kind.
    Kind,
}

impl ProxyFailure {
    /// What went wrong with a proxy that was given.
    pub(crate) fn of(
        proxy: &Proxy,
        problem: Problem,
        source: Option<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        ProxyFailure {
            proxy: proxy.shown(),
            of_environment: false,
            problem,
            source,
        }
    }

    /// What is wrong and what to do about it.
    fn told(&self) -> String {
        let (address, login) = match self.of_environment {
            true => (
                "HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment",
                "the login in HTTP_PROXY and HTTPS_PROXY",
            ),
            false => (
                "'address' of the proxy's Secret",
                "'username' and 'password' of the proxy's Secret",
            ),
        };
        match self.problem {
            Problem::Unreachable => format!("cannot be used: check {address}, and that the proxy runs there"),
            Problem::Login => format!("refuses the login: check {login}"),
            Problem::Refused => {
                "does not connect to the server: check the name of the server, and that the proxy may reach it".to_owned()
            }
            Problem::Status(status) => format!(
                "answered with HTTP status {status}, for the server or of its own accord: check that both run, and that the \
                 proxy may reach the server"
            ),
            Problem::Late => {
                "gave no answer in time: check that it runs and may reach the server, or raise the timeout".to_owned()
            }
            Problem::Kind => format!(
                "is no SOCKS proxy, and SSH goes through no other: {address} must begin with socks5://"
            ),
        }
    }
}

impl Proxy {
    /// Host and port, without the login that an address may hold.
    fn shown(&self) -> String {
        Url::parse(&self.address).map_or_else(
            |_| "with an address that cannot be read".to_owned(),
            |url| reach::shown(&url),
        )
    }

    pub(super) fn through(&self) -> Result<Through, Error> {
        let known = ["http://", "https://", "socks5://", "socks5h://"];
        if !known.iter().any(|scheme| self.address.starts_with(scheme)) {
            return Err(Error::Proxy(None));
        }
        if let Ok(url) = Url::parse(&self.address) {
            reach::guard::check(&url).map_err(Error::RefusedProxy)?;
        }
        let through = Through::all(with_names(&self.address)).map_err(|error| Error::Proxy(Some(error)))?;
        Ok(match &self.login {
            Some(login) => through.basic_auth(&login.user, login.password.expose_secret()),
            None => through,
        })
    }
}

/// The proxies of the environment.
pub(super) fn of_environment() -> Through {
    let proxies = Proxies::of_environment();
    Through::custom(move |server| proxies.to(server).map(|proxy| with_names(proxy.as_str())))
}

/// Go leaves names to a SOCKS proxy, which may be the only one to know them.
fn with_names(address: &str) -> String {
    match address.strip_prefix("socks5://") {
        Some(rest) => format!("socks5h://{rest}"),
        None => address.to_owned(),
    }
}

impl Options {
    /// The proxy that leads to a server, as it is told, and whether the environment names it.
    fn proxy_to(&self, server: &Url) -> Option<(String, bool)> {
        match &self.proxy {
            _ if self.direct => None,
            Some(proxy) => Some((proxy.shown(), false)),
            None => Proxies::of_environment()
                .to(server)
                .map(|proxy| (reach::shown(proxy), true)),
        }
    }

    /// The failure of a request: the proxy's, where it is to blame, or the request's own. The URL, which may hold what lets us in,
    /// is in neither.
    pub(crate) fn blame(&self, error: reqwest::Error) -> Result<ProxyFailure, reqwest::Error> {
        let server = error.url().cloned();
        let error = error.without_url();
        let blamed = server.and_then(|server| {
            let (proxy, of_environment) = self.proxy_to(&server)?;
            Some((
                proxy,
                of_environment,
                problem(&error, server.scheme() == "https")?,
            ))
        });
        match blamed {
            Some((proxy, of_environment, problem)) => Ok(ProxyFailure {
                proxy,
                of_environment,
                problem,
                source: Some(Box::new(error)),
            }),
            None => Err(error),
        }
    }

    /// What a proxy says of its own accord: to requests without TLS it answers as the server would.
    pub(crate) fn refusal(&self, answer: &Response) -> Option<ProxyFailure> {
        let problem = match answer.status() {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED => Problem::Login,
            status @ (StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT) => Problem::Status(status.as_u16()),
            _ => return None,
        };
        let speaks_up = answer.url().scheme() == "http";
        let (proxy, of_environment) = self.proxy_to(answer.url()).filter(|_| speaks_up)?;
        Some(ProxyFailure {
            proxy,
            of_environment,
            problem,
            source: None,
        })
    }
}

/// What a failure says of the proxy that the request went through; nothing, where the server is to blame. The libraries keep the
/// types of their errors to themselves, so that their words have to tell.
fn problem(error: &reqwest::Error, is_tls: bool) -> Option<Problem> {
    if remedy::is_refused(error) {
        return None;
    }
    let mut cause: Option<&dyn StdError> = Some(error);
    while let Some(found) = cause {
        let text = found.to_string();
        if let Some(what) = text.strip_prefix("tunnel error: ") {
            return Some(match what {
                "proxy authorization required" => Problem::Login,
                "unsuccessful" => Problem::Refused,
                _ => Problem::Unreachable,
            });
        }
        if let Some(what) = text.strip_prefix("SOCKS error: ") {
            return Some(match what {
                "credentials not accepted"
                | "server does not support user/pass authentication"
                | "server implements authentication incorrectly" => Problem::Login,
                what if what.starts_with("failed ") || what.starts_with("io error") => Problem::Unreachable,
                _ => Problem::Refused,
            });
        }
        cause = found.source();
    }
    if error.is_timeout() {
        return Some(Problem::Late);
    }
    // With TLS, what fails after the tunnel is there is between us and the server.
    (error.is_connect() && !is_tls).then_some(Problem::Unreachable)
}
