//! Tokens of registries.

use std::time::{Duration, Instant};

use reqwest::{RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use super::answer::{body, message};
use super::challenge::Challenge;
use super::client::{Call, Client};
use super::session::{Token, TokenKey};
use super::{Credential, Error};
use crate::trust::TrustScope;

const TOKEN_LIMIT: u64 = 1 << 20;
/// What the specification says of a token that names no time.
const DEFAULT_LIFE: Duration = Duration::from_secs(60);
/// How long one waits for the token that another client fetches.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const CLIENT_ID: &str = "flux/v2";

/// What is going to be done with a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Pull,
    Push,
}

/// What a request shows of itself.
pub(super) enum Authorization {
    Basic { user: String, password: SecretString },
    Bearer(SecretString),
}

impl Authorization {
    pub(super) fn apply(&self, request: RequestBuilder) -> RequestBuilder {
        match self {
            Authorization::Basic { user, password } => {
                request.basic_auth(user, Some(password.expose_secret()))
            }
            Authorization::Bearer(token) => request.bearer_auth(token.expose_secret()),
        }
    }
}

impl Client {
    /// What to show with a request, as far as it is known what the registry wants.
    pub(super) async fn authorization(&self, call: &Call<'_>) -> Result<Option<Authorization>, Error> {
        let credential = self.credential(call);
        if let Credential::Bearer(token) = &credential {
            return Ok(Some(Authorization::Bearer(token.clone())));
        }
        let challenge = self
            .session
            .registry(&self.way(call.repository.registry()))
            .challenge;
        match (challenge, credential) {
            (None, _) => Ok(None),
            (Some(Challenge::Basic), Credential::Basic { user, password }) => {
                Ok(Some(Authorization::Basic { user, password }))
            }
            (Some(Challenge::Basic), _) => Ok(None),
            (Some(Challenge::Bearer { realm, service }), credential) => {
                let server = TokenServer { realm, service };
                let token = self.token(call, &server, &credential).await?;
                Ok(Some(Authorization::Bearer(token)))
            }
        }
    }

    /// Forgets the token for such a request, because the registry did not take it.
    pub(super) fn forget_token(&self, call: &Call<'_>) {
        let key = self.token_key(call, &self.credential(call));
        *self.session.slot(key, Instant::now()).token.lock() = None;
    }

    /// Who we are to the registry of a request.
    pub(super) fn credential(&self, call: &Call<'_>) -> Credential {
        self.keychain
            .resolve(call.repository)
            .cloned()
            .unwrap_or_default()
    }

    async fn token(
        &self,
        call: &Call<'_>,
        server: &TokenServer,
        credential: &Credential,
    ) -> Result<SecretString, Error> {
        let slot = self
            .session
            .slot(self.token_key(call, credential), Instant::now());
        if let Some(token) = slot.good(Instant::now()) {
            return Ok(token);
        }
        // One fetches, and the others wait for its token instead of asking for one each. Who has waited too long asks alone.
        let turn = tokio::time::timeout(LONGEST_WAIT, slot.turn.lock()).await;
        if let Some(token) = slot.good(Instant::now()) {
            return Ok(token);
        }
        let token = self.fetch_token(call, server, credential).await?;
        let text = token.text.clone();
        *slot.token.lock() = Some(token);
        drop(turn);
        Ok(text)
    }

    /// What a token for such a request is good for, and who may use it.
    fn token_key(&self, call: &Call<'_>, credential: &Credential) -> TokenKey {
        TokenKey {
            registry: call.repository.registry().to_owned(),
            scope: scope(call),
            trust: TrustScope::new(&credential.fingerprint(), &self.trust),
        }
    }

    async fn fetch_token(
        &self,
        call: &Call<'_>,
        server: &TokenServer,
        credential: &Credential,
    ) -> Result<Token, Error> {
        let what = format!("a token for {}", call.repository);
        let url = server.url(call, self.is_plain(call), credential)?;
        let scope = scope(call);
        let asked = Instant::now();
        let request = match credential {
            Credential::Identity(token) => {
                let form = [
                    ("grant_type", "refresh_token"),
                    ("service", server.service.as_deref().unwrap_or_default()),
                    ("client_id", CLIENT_ID),
                    ("scope", &scope),
                    ("refresh_token", token.expose_secret()),
                ];
                let form = url::form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(form)
                    .finish();
                self.http
                    .post(url)
                    .header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                    .body(form)
            }
            credential => {
                let mut url = url;
                url.query_pairs_mut().append_pair("scope", &scope);
                if let Some(service) = &server.service {
                    url.query_pairs_mut().append_pair("service", service);
                }
                let request = self.http.get(url);
                match credential {
                    Credential::Basic { user, password } => {
                        request.basic_auth(user, Some(password.expose_secret()))
                    }
                    _ => request,
                }
            }
        };
        let response = self.answer(request.send().await, &what)?;
        read_token(call, response, &what, asked, credential).await
    }

    /// Whether the registry is spoken to without TLS, so that its token server may be too.
    fn is_plain(&self, call: &Call<'_>) -> bool {
        let way = self.way(call.repository.registry());
        self.plain || self.session.registry(&way).scheme == Some("http")
    }
}

struct TokenServer {
    realm: String,
    service: Option<String>,
}

impl TokenServer {
    fn url(&self, call: &Call<'_>, registry_is_plain: bool, credential: &Credential) -> Result<Url, Error> {
        let wrong = |reason: &str| Error::Malformed {
            what: call.what.clone(),
            reason: format!("its token server '{}' {reason}", self.realm),
        };
        let url = Url::parse(&self.realm).map_err(|_| wrong("is no URL"))?;
        match url.scheme() {
            "https" => Ok(url),
            "http" if registry_is_plain || matches!(credential, Credential::Anonymous) => Ok(url),
            "http" => Err(wrong("has no TLS, and credentials are not sent in the clear")),
            _ => Err(wrong("must be an https URL")),
        }
    }
}

#[derive(Deserialize)]
struct Given {
    #[serde(default)]
    token: String,
    #[serde(default)]
    access_token: String,
    expires_in: Option<f64>,
}

async fn read_token(
    call: &Call<'_>,
    response: reqwest::Response,
    what: &str,
    asked: Instant,
    shown: &Credential,
) -> Result<Token, Error> {
    let status = response.status();
    if !status.is_success() {
        let server = response.url().host_str().unwrap_or_default().to_owned();
        let message = message(response, shown).await;
        let refused = matches!(
            status,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::BAD_REQUEST
        );
        let message = format!("its token server {server} says: {message}");
        return Err(if refused {
            Error::unauthorized(call.repository.registry(), &call.what, message, shown)
        } else {
            Error::Status {
                what: what.to_owned(),
                status: status.as_u16(),
                message,
            }
        });
    }
    let bytes = body(response, TOKEN_LIMIT, what).await?;
    // The parser's message could quote the token.
    let given: Given = serde_json::from_slice(&bytes)
        .map_err(|_| Error::malformed(what, "the token server must answer with JSON that has a token"))?;
    let text = if given.token.is_empty() {
        given.access_token
    } else {
        given.token
    };
    if text.is_empty() {
        return Err(Error::malformed(what, "there is no token in it"));
    }
    Ok(Token {
        text: text.into(),
        good_until: asked + usable_life(given.expires_in),
    })
}

/// How long a token is used: a bit shorter than it is good, for clocks differ and requests take time.
fn usable_life(expires_in: Option<f64>) -> Duration {
    let given = expires_in
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0)
        .map_or(DEFAULT_LIFE, |seconds| {
            Duration::from_secs_f64(seconds.min(86_400.0))
        });
    given.mul_f64(0.8)
}

fn scope(call: &Call<'_>) -> String {
    let actions = match call.access {
        Access::Pull => "pull",
        Access::Push => "pull,push",
    };
    format!("repository:{}:{actions}", call.repository.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_used_shorter_than_it_is_good() {
        assert_eq!(usable_life(None), Duration::from_secs(48));
        assert_eq!(usable_life(Some(300.0)), Duration::from_secs(240));
        assert_eq!(usable_life(Some(-1.0)), Duration::from_secs(48));
        assert_eq!(usable_life(Some(f64::NAN)), Duration::from_secs(48));
        assert_eq!(usable_life(Some(1e300)), Duration::from_secs(69120));
    }
}
