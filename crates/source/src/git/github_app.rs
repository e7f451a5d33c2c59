//! Logging in as a GitHub App: a short-lived token of an installation in place of somebody's password.
//!
//! The app signs who it is with its private key (RFC 7519, RS256), and asks for a token of its installation with that. The
//! token is kept until shortly before it expires.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::signature::RsaKeyPair;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Client, Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::auth::Auth;
use crate::http;
use crate::identity::{self, CredentialSource, Grant, jwt};
use crate::trust::Fingerprint;

/// The user that tokens are used with.
pub const USER: &str = "x-access-token";

const PUBLIC_API: &str = "https://api.github.com";
/// How long before its end a token is no longer used: a fetch may take a while.
const MARGIN: SignedDuration = SignedDuration::from_mins(5);
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer that is read.
const MAX_ANSWER: usize = 1 << 20;

/// What an app is known by.
#[derive(Clone)]
pub struct Settings {
    /// The app's id, a number.
    pub app_id: String,
    /// The app's RSA private key in PEM form.
    pub private_key: SecretString,
    /// Which of its installations.
    pub installation: Installation,
    /// The API, if it is not that of github.com.
    pub base_url: Option<String>,
    /// How the API is reached.
    pub http: http::Options,
}

/// An installation of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Installation {
    /// By its number.
    Id(String),
    /// By the organisation or user who has installed it.
    Owner(String),
}

/// An app that tokens can be had from. It keeps the last one.
pub struct App {
    id: u64,
    key: RsaKeyPair,
    installation: Installation,
    base: String,
    client: Client,
    token: Mutex<Option<Token>>,
}

struct Token {
    text: SecretString,
    expires: Timestamp,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The id of the app or installation is no number.
    #[error("{0} must be a positive number: correct it")]
    Id(&'static str),
    /// The key cannot be used.
    #[error("githubAppPrivateKey cannot be used: it must be an RSA private key in PEM form")]
    Key,
    /// The address of the API is none.
    #[error("githubAppBaseURL is not valid: it must begin with https:// or http://")]
    BaseUrl,
    /// No client can be made.
    #[error("the HTTP client cannot be made")]
    Client(#[source] http::Error),
    /// The API cannot be reached.
    #[error("the GitHub API at {base} cannot be reached{}", crate::http::remedy(.source))]
    Connect {
        /// Its address.
        base: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The API said no.
    #[error(
        "the GitHub API refused to {what} with HTTP status {status}: {message}; check the app id, its private key and the installation"
    )]
    Refused {
        /// What was asked.
        what: String,
        /// The status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The answer cannot be read.
    #[error("the answer of the GitHub API at {0} cannot be read: check githubAppBaseURL")]
    Answer(String),
}

impl Settings {
    /// Identifies the installation that tokens are issued to, and the way to the API that issues them. It stays the same when a
    /// token is renewed. Only who has the private key gets the same one.
    pub fn fingerprint(&self) -> Fingerprint {
        let (kind, installation) = match &self.installation {
            Installation::Id(id) => ("id", id),
            Installation::Owner(owner) => ("owner", owner),
        };
        Fingerprint::builder("github app")
            .text(&self.app_id)
            .text(self.private_key.expose_secret())
            .text(kind)
            .text(installation)
            .optional(self.base_url.as_deref().map(str::as_bytes))
            .fingerprint(&self.http.trust())
            .build()
    }
}

impl App {
    /// An app. Nothing is asked yet.
    ///
    /// # Errors
    /// Where ids, key or address are not what they must be.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        let number = |text: &str, name| {
            let number = text.trim().parse().ok().filter(|number: &u64| *number > 0);
            number.ok_or(Error::Id(name))
        };
        let id = number(&settings.app_id, "githubAppID")?;
        if let Installation::Id(text) = &settings.installation {
            number(text, "githubAppInstallationID")?;
        }
        let base = settings
            .base_url
            .as_deref()
            .filter(|base| !base.is_empty())
            .unwrap_or(PUBLIC_API);
        if !(base.starts_with("https://") || base.starts_with("http://")) {
            return Err(Error::BaseUrl);
        }
        let mut options = settings.http.clone();
        options.timeout.get_or_insert(TIMEOUT);
        options.user_agent = Some(
            options
                .user_agent
                .unwrap_or_else(|| super::protocol::AGENT.to_owned()),
        );
        Ok(App {
            id,
            key: jwt::key(settings.private_key.expose_secret()).ok_or(Error::Key)?,
            installation: settings.installation.clone(),
            base: base.trim_end_matches('/').to_owned(),
            client: options.client().map_err(Error::Client)?,
            token: Mutex::default(),
        })
    }

    /// What to log in with at `now`. Whoever asks at the same time waits for one answer.
    ///
    /// # Errors
    /// Where no token is to be had.
    pub async fn auth(&self, now: Timestamp) -> Result<Auth, Error> {
        let mut kept = self.token.lock().await;
        let password = match &*kept {
            Some(token) if now + MARGIN < token.expires => token.text.clone(),
            _ => {
                let token = self.new_token(now).await?;
                kept.insert(token).text.clone()
            }
        };
        Ok(Auth::Basic {
            user: USER.to_owned(),
            password,
        })
    }

    async fn new_token(&self, now: Timestamp) -> Result<Token, Error> {
        #[derive(Deserialize)]
        struct Granted {
            token: String,
            expires_at: Timestamp,
        }
        let proof = self.proof(now)?;
        let id = match &self.installation {
            Installation::Id(id) => id.trim().to_owned(),
            Installation::Owner(owner) => self.find_installation(owner, &proof).await?.to_string(),
        };
        let path = format!("app/installations/{id}/access_tokens");
        let granted: Granted = self
            .ask(Method::POST, &path, &proof, "make a token of the installation")
            .await?;
        Ok(Token {
            text: granted.token.into(),
            expires: granted.expires_at,
        })
    }

    /// An owner is an organisation or a user; nobody can tell which by the name.
    async fn find_installation(&self, owner: &str, proof: &SecretString) -> Result<u64, Error> {
        #[derive(Deserialize)]
        struct Found {
            id: u64,
        }
        let name = utf8_percent_encode(owner, NON_ALPHANUMERIC).to_string();
        let what = format!("find the installation of '{owner}'");
        let mut failure = None;
        for kind in ["orgs", "users"] {
            let path = format!("{kind}/{name}/installation");
            match self.ask::<Found>(Method::GET, &path, proof, &what).await {
                Ok(found) => return Ok(found.id),
                Err(error @ Error::Refused { status: 404, .. }) => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failure.expect("both ways were refused"))
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        proof: &SecretString,
        what: &str,
    ) -> Result<T, Error> {
        #[derive(Deserialize)]
        struct Complaint {
            message: String,
        }
        let unreached = |source: reqwest::Error| Error::Connect {
            base: self.base.clone(),
            source: source.without_url(),
        };
        let mut response = self
            .client
            .request(method, format!("{}/{path}", self.base))
            .bearer_auth(proof.expose_secret())
            .header("Accept", "application/vnd.github+json")
            .send()
            .await
            .map_err(unreached)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(unreached)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ANSWER {
                return Err(Error::Answer(self.base.clone()));
            }
        }
        if !matches!(status, StatusCode::OK | StatusCode::CREATED) {
            let complaint = serde_json::from_slice::<Complaint>(&body);
            let message =
                complaint.map_or_else(|_| "no reason given".to_owned(), |complaint| complaint.message);
            return Err(Error::Refused {
                what: what.to_owned(),
                status: status.as_u16(),
                message,
            });
        }
        serde_json::from_slice(&body).map_err(|_| Error::Answer(self.base.clone()))
    }

    /// A signed statement of who we are, good for two minutes. It begins a little in the past: clocks differ.
    fn proof(&self, now: Timestamp) -> Result<SecretString, Error> {
        let begins = now.as_second() - 30;
        let head = serde_json::json!({"alg": "RS256", "typ": "JWT"});
        let claims = serde_json::json!({ "iss": self.id.to_string(), "iat": begins, "exp": begins + 120 });
        jwt::sign(&self.key, &head, &claims).ok_or(Error::Key)
    }
}

impl CredentialSource for App {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, identity::Error>> {
        Box::pin(async move {
            let token = self.new_token(Timestamp::now()).await;
            let token = token.map_err(|error| identity::Error::App(Arc::new(error)))?;
            Ok(Grant::login(USER, token.text, Some(token.expires)))
        })
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("id", &self.id)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("app_id", &self.app_id)
            .field("installation", &self.installation)
            .finish_non_exhaustive()
    }
}
