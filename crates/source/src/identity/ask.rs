//! Questions to servers that give credentials. Answers are limited, and no secret that was sent comes back in an error.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use reqwest::{RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Error, Grant};
use crate::helm::address::without_secrets;
use crate::http::{escape, repeated};

/// The longest answer that is read.
const MAX_ANSWER: usize = 1 << 20;
/// How much of what a server says is repeated.
const MAX_SHOWN: usize = 300;

/// A server with what it is told and must not tell others.
pub(super) struct Server<'a> {
    /// The address, as it may be shown.
    endpoint: String,
    secrets: Vec<&'a SecretString>,
}

/// What it answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

impl<'a> Server<'a> {
    /// A server that these secrets are sent to.
    pub(super) fn new(address: &str, secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        Server {
            endpoint: without_secrets(address),
            secrets: secrets.into_iter().collect(),
        }
    }

    /// Sends a request.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Answer, Error> {
        let failed = |source: reqwest::Error| Error::Request {
            endpoint: self.endpoint.clone(),
            source: Arc::new(source.without_url()),
        };
        let mut response = request.send().await.map_err(failed)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ANSWER {
                return Err(self.unreadable("answer of this kind"));
            }
        }
        Ok(Answer { status, body })
    }

    /// Sends a request that is answered with JSON if all is well.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        what: &'static str,
    ) -> Result<T, Error> {
        let answer = self.send(request).await?;
        if !answer.status.is_success() {
            return Err(self.refused(&answer, &complaint(&answer.body)));
        }
        serde_json::from_slice(&answer.body).map_err(|_| self.unreadable(what))
    }

    /// Asks a token server of OAuth 2.
    pub(super) async fn token(&self, request: RequestBuilder, now: Timestamp) -> Result<Grant, Error> {
        let token: Token = self.json(request, "token").await?;
        let expires = token.expires_in.seconds().map(|seconds| after(now, seconds));
        Ok(Grant::token(token.access_token.into(), expires))
    }

    /// The server said no.
    pub(super) fn refused(&self, answer: &Answer, complaint: &str) -> Error {
        let why = why(answer.status, complaint, &self.secrets);
        Error::Refused {
            endpoint: self.endpoint.clone(),
            why,
        }
    }

    /// The answer is none.
    pub(super) fn unreadable(&self, what: &'static str) -> Error {
        Error::Answer {
            endpoint: self.endpoint.clone(),
            what,
        }
    }
}

/// What a server said when it said no, without what it was told: some servers repeat what they do not like.
pub(crate) fn why(status: StatusCode, complaint: &str, secrets: &[&SecretString]) -> String {
    let text = complaint.replace(char::is_control, " ");
    let text = repeated::without(&text, secrets.iter().map(|secret| secret.expose_secret()));
    let shown: String = text.trim().chars().take(MAX_SHOWN).collect();
    match shown.as_str() {
        "" => status.to_string(),
        shown => format!("{} {shown}", status.as_u16()),
    }
}

/// A body of form fields, in the order of their names.
pub(super) fn form(request: RequestBuilder, fields: &[(&str, String)]) -> RequestBuilder {
    request
        .header("content-type", "application/x-www-form-urlencoded")
        .body(escape::query(fields))
}

/// A time that is so many seconds later.
pub(super) fn after(now: Timestamp, seconds: i64) -> Timestamp {
    now.saturating_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX)
}

/// What a server complains of in JSON: as OAuth 2, AWS and Google write it.
fn complaint(body: &[u8]) -> String {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kind {
        Word(String),
        Google { message: String },
    }
    #[derive(Default, Deserialize)]
    struct Complaint {
        error: Option<Kind>,
        error_description: Option<String>,
        #[serde(rename = "__type")]
        kind: Option<String>,
        #[serde(alias = "Message")]
        message: Option<String>,
    }
    let said: Complaint = serde_json::from_slice(body).unwrap_or_default();
    let error = said.error.map(|error| match error {
        Kind::Word(word) => word,
        Kind::Google { message } => message,
    });
    let parts = [error, said.error_description, said.kind, said.message];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(": ")
}

#[derive(Deserialize)]
struct Token {
    access_token: String,
    #[serde(default)]
    expires_in: Seconds,
}

/// A number of seconds. The metadata server of Azure writes it as a text.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Seconds {
    Number(i64),
    Text(String),
    #[default]
    None,
}

impl Seconds {
    fn seconds(&self) -> Option<i64> {
        match self {
            Seconds::Number(number) => Some(*number),
            Seconds::Text(text) => text.parse().ok(),
            Seconds::None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_repeats_of_a_secret_is_not_shown() {
        let secret = SecretString::from("ge/heim".to_owned());
        let server = Server::new("https://me:pw@sts.example/token?key=1", [&secret]);
        let answer = Answer {
            status: StatusCode::BAD_REQUEST,
            body: Vec::new(),
        };
        let text =
            r#"{"error":"invalid_grant","error_description":"AADSTS1:\r\nge/heim or ge%2Fheim is bad"}"#;
        let error = server.refused(&answer, &complaint(text.as_bytes()));
        assert_eq!(
            error.to_string(),
            "'https://sts.example/token' gives no credentials: 400 invalid_grant: AADSTS1:  *** or *** is bad"
        );
        let error = server.refused(&answer, &complaint(b"<html>"));
        assert!(error.to_string().ends_with("400 Bad Request"), "{error}");
        let google = br#"{"error":{"code":403,"message":"Permission denied","status":"PERMISSION_DENIED"}}"#;
        assert_eq!(complaint(google), "Permission denied");
    }
}
