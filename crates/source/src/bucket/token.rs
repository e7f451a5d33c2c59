//! Bearer tokens, wherever they come from.

use std::fmt;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use reqwest::Client;
use secrecy::SecretString;
use serde::Deserialize;

use super::store::Error;
use crate::helm::address::without_secrets;

/// A token with its end.
#[derive(Clone)]
pub struct Token {
    /// What to show.
    pub text: SecretString,
    /// Until when it is good; nothing if that is not known.
    pub expires: Option<Timestamp>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// Where tokens come from: a key that signs, a secret that is exchanged, or the identity of a workload.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// A new token.
    fn token(&self) -> BoxFuture<'_, Result<Token, Error>>;
}

/// Keeps a token until it ends.
#[derive(Debug, Default)]
pub(super) struct Kept(tokio::sync::Mutex<Option<Token>>);

impl Kept {
    pub(super) async fn token(&self, source: &dyn TokenSource) -> Result<SecretString, Error> {
        let mut kept = self.0.lock().await;
        let soon = Timestamp::now().saturating_add(SignedDuration::from_mins(5));
        if let (Some(token), Ok(soon)) = (kept.as_ref(), soon)
            && token.expires.is_none_or(|end| end > soon)
        {
            return Ok(token.text.clone());
        }
        Ok(kept.insert(source.token().await?).text.clone())
    }
}

#[derive(Deserialize)]
struct Answer {
    access_token: Option<String>,
    expires_in: Option<i64>,
    error: Option<String>,
}

/// Asks a token server of OAuth 2.
pub(super) async fn ask(client: &Client, endpoint: &str, form: &[(&str, String)]) -> Result<Token, Error> {
    let shown = without_secrets(endpoint);
    let failed = |source: reqwest::Error| Error::StsRequest {
        endpoint: shown.clone(),
        source: source.without_url(),
    };
    let response = client
        .post(endpoint)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(super::escape::query(form))
        .send()
        .await
        .map_err(failed)?;
    let status = response.status();
    let text = response.text().await.map_err(failed)?;
    let answer = serde_json::from_str(&text).unwrap_or(Answer {
        access_token: None,
        expires_in: None,
        error: None,
    });
    match answer.access_token.filter(|_| status.is_success()) {
        Some(token) => Ok(Token {
            text: token.into(),
            expires: answer.expires_in.and_then(|seconds| {
                Timestamp::now()
                    .checked_add(SignedDuration::from_secs(seconds))
                    .ok()
            }),
        }),
        None => Err(Error::Sts {
            endpoint: shown,
            code: answer.error.unwrap_or_else(|| status.to_string()),
        }),
    }
}
