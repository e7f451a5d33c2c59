//! Requests to registries: the scheme, credentials, tokens, another try, and what an error answer means.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use reqwest::{Response, redirect};
use url::Url;

use super::answer::failure;
use super::challenge::Challenge;
use super::session::Way;
use super::token::{Access, Authorization};
use super::{Error, Keychain, Repository, Session};
use crate::http::tls_failure;
use crate::trust::{Fingerprint, TrustScope};

/// How to reach registries.
#[derive(Clone, Debug)]
pub struct Options {
    /// Authorities, client certificate, proxy, time limit. The user agent is `flux/v2` where none is given.
    pub http: crate::http::Options,
    /// Take registries without TLS, and any certificate of those with TLS unless authorities are given.
    pub insecure: bool,
    /// Speak to registries without TLS, and only so.
    pub plain: bool,
    /// The pauses before other tries, after answers that say that the registry is busy or broken and after broken connections.
    pub pauses: Vec<Duration>,
    /// The most bytes that a layer may have.
    pub layer_limit: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            http: crate::http::Options::default(),
            insecure: false,
            plain: false,
            pauses: vec![Duration::from_secs(1), Duration::from_secs(3)],
            layer_limit: 1 << 30,
        }
    }
}

/// A client of registries. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) http: reqwest::Client,
    /// How it was made.
    reached: crate::http::Options,
    /// Identifies the servers that it trusts.
    pub(super) trust: Fingerprint,
    pub(super) keychain: Keychain,
    pub(super) session: Session,
    pub(super) layer_limit: u64,
    insecure: bool,
    pub(super) plain: bool,
    pauses: Vec<Duration>,
}

const USER_AGENT: &str = "flux/v2";
/// The longest pause that a registry may ask for. Whoever needs more is asked again at the next reconcile.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 10;

impl Client {
    /// Whether there is anything to show to the registry of a repository.
    pub fn has_credentials(&self, repository: &Repository) -> bool {
        self.keychain.resolve(repository).is_some()
    }

    /// Who a repository is read as, and whom this client trusts to be its registry. What was pulled is for readers of this scope
    /// alone.
    pub fn scope(&self, repository: &Repository) -> TrustScope {
        TrustScope::new(&self.keychain.identity(repository), &self.trust)
    }

    /// A client that shows the credentials of a keychain and shares what it learns in a session.
    ///
    /// # Errors
    /// Where certificates or proxy cannot be used.
    pub fn new(options: &Options, keychain: Keychain, session: &Session) -> Result<Self, Error> {
        let mut http = options.http.clone();
        http.user_agent.get_or_insert_with(|| USER_AGENT.to_owned());
        http.tls.accept_any |= options.insecure && http.tls.authorities.is_none();
        // The library drops credentials on the way to another host; we also refuse to leave TLS on the way.
        let policy = redirect::Policy::custom(|attempt| {
            let left_tls = attempt.url().scheme() != "https"
                && attempt
                    .previous()
                    .last()
                    .is_some_and(|from| from.scheme() == "https");
            if left_tls {
                attempt.error("the registry redirects from https to http")
            } else if attempt.previous().len() > MAX_REDIRECTS {
                attempt.error("the registry redirects too often")
            } else {
                attempt.follow()
            }
        });
        let client = http
            .client_with("registry", |builder| builder.redirect(policy))
            .map_err(Error::Client)?;
        let trust = Fingerprint::builder("registry trust")
            .fingerprint(&http.trust())
            .flag(options.plain)
            .flag(options.insecure)
            .build();
        Ok(Client {
            http: client,
            reached: http,
            trust,
            keychain,
            session: session.clone(),
            layer_limit: options.layer_limit,
            insecure: options.insecure,
            plain: options.plain,
            pauses: options.pauses.clone(),
        })
    }

    /// Sends a request and gives back a good answer. Asks for a token if the registry wants one.
    pub(super) async fn send(&self, call: &Call<'_>) -> Result<Response, Error> {
        let way = self.way(call.repository.registry());
        let scheme = self.scheme(call.repository.registry()).await?;
        let url = call.url(scheme)?;
        // A registry may send us elsewhere, but not with its credentials.
        let home = call.home(scheme)?.origin();
        let is_at_home = url.origin() == home;
        let known = match is_at_home {
            true => self.authorization(call).await,
            false => Ok(None),
        };
        // What the registry wanted before may not be what it wants now: it is asked.
        let (known, stale) = match known {
            Ok(known) => (known, None),
            Err(error) => (None, Some((error, self.session.forget_challenge(&way)))),
        };
        let showed_something = known.is_some();
        let sent = self.send_patiently(call, &url, known).await;
        // What speaks TLS now, or does so no more, is found out the next time. Servers with TLS answer so to those without.
        let is_lost = match &sent {
            Ok(response) => scheme == "http" && response.status() == StatusCode::BAD_REQUEST,
            Err(_) => true,
        };
        if is_lost {
            self.session.forget(&way);
        }
        let mut response = sent?;
        // Only the registry says who gives tokens for it, and not the server that it redirects to.
        if response.status() == StatusCode::UNAUTHORIZED && is_at_home && response.url().origin() == home {
            let Some(challenge) = Challenge::of(response.headers()) else {
                return Err(self.refused(call, response).await);
            };
            // Basic credentials that were refused are not accepted the second time either.
            if showed_something && challenge == Challenge::Basic {
                return Err(self.refused(call, response).await);
            }
            self.session.learn_challenge(way, challenge.clone());
            if let Some((error, before)) = stale
                && before.as_ref() == Some(&challenge)
            {
                return Err(error);
            }
            self.forget_token(call);
            let Some(fresh) = self.authorization(call).await? else {
                return Err(self.refused(call, response).await);
            };
            response = self.send_patiently(call, &url, Some(fresh)).await?;
        }
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refused(call, response).await)
    }

    async fn refused(&self, call: &Call<'_>, response: Response) -> Error {
        failure(call, response, &self.credential(call)).await
    }

    /// Sends, and tries again where this may help.
    async fn send_patiently(
        &self,
        call: &Call<'_>,
        url: &Url,
        authorization: Option<Authorization>,
    ) -> Result<Response, Error> {
        let mut pauses = self.pauses.iter();
        loop {
            let sent = self.request(call, url, authorization.as_ref()).send().await;
            let again = match &sent {
                Ok(response) => is_busy(response.status()),
                Err(error) => error.is_connect() || error.is_request() && !error.is_timeout(),
            };
            let pause = if again { pauses.next() } else { None };
            let Some(pause) = pause else {
                return self.answer(sent, &call.what);
            };
            let asked = sent.as_ref().ok().and_then(retry_after);
            tracing::debug!(what = call.what, "the registry is busy or broken: trying again");
            tokio::time::sleep(asked.map_or(*pause, |asked| asked.min(LONGEST_PAUSE))).await;
        }
    }

    /// What was sent, as far as it was: a proxy that is to blame is told of.
    pub(super) fn answer(
        &self,
        sent: Result<Response, reqwest::Error>,
        what: &str,
    ) -> Result<Response, Error> {
        let blamed = |source| Error::Proxy {
            what: what.to_owned(),
            source,
        };
        let response = sent.map_err(|error| match self.reached.blame(error) {
            Ok(proxy) => blamed(proxy),
            Err(error) => Error::transport(what, error),
        })?;
        match self.reached.refusal(&response) {
            Some(refusal) => Err(blamed(refusal)),
            None => Ok(response),
        }
    }

    fn request(
        &self,
        call: &Call<'_>,
        url: &Url,
        authorization: Option<&Authorization>,
    ) -> reqwest::RequestBuilder {
        let mut request = self.http.request(call.method.clone(), url.clone());
        for (name, value) in &call.headers {
            request = request.header(name, value);
        }
        if let Some(authorization) = authorization {
            request = authorization.apply(request);
        }
        match &call.body {
            Some(body) => request.body(body.clone()),
            None => request,
        }
    }

    /// How this client reaches a registry.
    pub(super) fn way(&self, registry: &str) -> Way {
        (registry.to_owned(), self.trust)
    }

    /// How a registry is reached. Those that may lack TLS are tried with it first, once.
    async fn scheme(&self, registry: &str) -> Result<&'static str, Error> {
        if self.plain {
            return Ok("http");
        }
        if !self.insecure && !is_local(registry) {
            return Ok("https");
        }
        let way = self.way(registry);
        if let Some(scheme) = self.session.registry(&way).scheme {
            return Ok(scheme);
        }
        let ask = async |scheme: &str| self.http.get(format!("{scheme}://{registry}/v2/")).send().await;
        let (answer, scheme) = match ask("https").await {
            Err(error) if may_lack_tls(&error) => match ask("http").await {
                // Whatever else answers there is no registry, or one that has TLS. A proxy that does not lead there is told of.
                Ok(plain)
                    if matches!(plain.status(), StatusCode::OK | StatusCode::UNAUTHORIZED)
                        || self.reached.refusal(&plain).is_some() =>
                {
                    (Ok(plain), "http")
                }
                // Where neither way works, the first failure is the one that matters: TLS is the rule.
                _ => (Err(error), "https"),
            },
            first => (first, "https"),
        };
        let response = self.answer(answer, registry)?;
        let home = Url::parse(&format!("{scheme}://{registry}/"));
        let is_at_home = home.is_ok_and(|home| home.origin() == response.url().origin());
        if let Some(challenge) = Challenge::of(response.headers()).filter(|_| is_at_home) {
            self.session.learn_challenge(way.clone(), challenge);
        }
        self.session.learn_scheme(way, scheme);
        Ok(scheme)
    }
}

/// Whether a registry that was not reached with TLS may be one that has none. One whose certificate we refuse has, and so has one
/// that refuses ours: nothing is sent to them in the clear.
fn may_lack_tls(error: &reqwest::Error) -> bool {
    let speaks_tls =
        tls_failure(error).is_some_and(|error| !matches!(error, rustls::Error::InvalidMessage(_)));
    !error.is_timeout() && !speaks_tls
}

/// One request to a registry.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) repository: &'a Repository,
    /// What follows `/v2/<name>/`, or a whole URL that the registry gave.
    pub(super) target: Target,
    pub(super) access: Access,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Option<Bytes>,
    /// What it is about, for messages.
    pub(super) what: String,
}

pub(super) enum Target {
    Path(String),
    Url(Url),
}

impl<'a> Call<'a> {
    pub(super) fn get(repository: &'a Repository, path: impl Into<String>, what: impl ToString) -> Self {
        Call {
            method: Method::GET,
            repository,
            target: Target::Path(path.into()),
            access: Access::Pull,
            headers: Vec::new(),
            body: None,
            what: what.to_string(),
        }
    }

    pub(super) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(super) fn header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    /// Where everything of the repository is.
    fn home(&self, scheme: &str) -> Result<Url, Error> {
        let (registry, name) = (self.repository.registry(), self.repository.path());
        let text = format!("{scheme}://{registry}/v2/{name}/");
        Url::parse(&text).map_err(|error| Error::malformed(&self.what, error))
    }

    fn url(&self, scheme: &str) -> Result<Url, Error> {
        match &self.target {
            Target::Url(url) => Ok(url.clone()),
            // Joining would take the colon of a digest for that of a scheme.
            Target::Path(path) => {
                let text = format!("{}{path}", self.home(scheme)?);
                Url::parse(&text).map_err(|error| Error::malformed(&self.what, error))
            }
        }
    }
}

/// Registries on this machine and in private networks are tried without TLS too, as other clients do.
fn is_local(registry: &str) -> bool {
    let Ok(url) = Url::parse(&format!("https://{registry}/")) else {
        return false;
    };
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback() || address.is_private(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => {
            name == "localhost" || name.ends_with(".local") || name.ends_with(".localhost")
        }
        None => false,
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 499 | 500 | 502 | 503 | 504)
}

/// The seconds of a `Retry-After` header.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(http::header::RETRY_AFTER)?;
    Some(Duration::from_secs(value.to_str().ok()?.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_registries_may_lack_tls() {
        for local in [
            "localhost:5000",
            "127.0.0.1:5000",
            "[::1]:5000",
            "10.1.2.3",
            "192.168.1.1:80",
            "reg.local",
        ] {
            assert!(is_local(local), "{local}");
        }
        for remote in [
            "ghcr.io",
            "8.8.8.8",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "10.evil.com",
        ] {
            assert!(!is_local(remote), "{remote}");
        }
    }
}
