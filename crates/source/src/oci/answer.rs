//! Answers of registries: bodies that are not too long, and what an error means.

use futures::StreamExt as _;
use reqwest::Response;
use secrecy::ExposeSecret;
use serde::Deserialize;

use super::client::Call;
use super::{Credential, Error};
use crate::http::repeated;

const ERROR_LIMIT: u64 = 64 << 10;

/// The whole body of an answer, if it is not larger than it may be.
pub(super) async fn body(response: Response, limit: u64, what: &str) -> Result<Vec<u8>, Error> {
    let too_large = || Error::TooLarge {
        what: what.to_owned(),
        limit,
    };
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| Error::transport(what, error))?;
        if (bytes.len() + chunk.len()) as u64 > limit {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// What an answer means that is no success. What was shown is not in it, even if the registry repeats it.
pub(super) async fn failure(call: &Call<'_>, response: Response, shown: &Credential) -> Error {
    let status = response.status();
    let message = message(response, shown).await;
    let what = call.what.clone();
    match status.as_u16() {
        401 | 403 => Error::unauthorized(call.repository.registry(), &what, message, shown),
        404 => Error::NotFound { what, message },
        status => Error::Status {
            what,
            status,
            message,
        },
    }
}

#[derive(Deserialize)]
struct Failures {
    errors: Vec<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// What an answer says about its failure, or the name of the status where it says nothing that can be understood.
pub(super) async fn message(response: Response, shown: &Credential) -> String {
    let status = response.status();
    let fallback = status
        .canonical_reason()
        .unwrap_or("no reason given")
        .to_lowercase();
    let Ok(bytes) = body(response, ERROR_LIMIT, "an error").await else {
        return fallback;
    };
    let Ok(failures) = serde_json::from_slice::<Failures>(&bytes) else {
        return fallback;
    };
    let texts: Vec<String> = failures
        .errors
        .iter()
        .map(|failure| format!("{}: {}", failure.code, failure.message))
        .collect();
    let text = texts.join("; ");
    let secrets = shown.secrets();
    let text = repeated::without(&text, secrets.iter().map(ExposeSecret::expose_secret));
    let text: String = text
        .chars()
        .filter(|found| !found.is_control())
        .take(512)
        .collect();
    if text.is_empty() { fallback } else { text }
}
