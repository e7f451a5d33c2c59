//! A watch, event by event.

use std::pin::Pin;
use std::time::Duration;

use futures::TryStreamExt;
use futures::io::{AsyncBufRead, AsyncBufReadExt};
use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::Value;

use crate::caller::{NOT_READY, NOT_READY_PAUSE, NOT_READY_TRIES};

/// How long an event may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// An open watch, or the refusal of one.
pub struct Watch {
    request: String,
    lines: Pin<Box<dyn AsyncBufRead + Send>>,
}

impl Watch {
    pub(crate) async fn open(client: &Client, path: &str, accept: &str) -> Watch {
        for _ in 0..NOT_READY_TRIES {
            match Watch::try_open(client, path, accept).await {
                Ok(watch) => return watch,
                Err(refusal) if refusal.contains(NOT_READY) => tokio::time::sleep(NOT_READY_PAUSE).await,
                Err(refusal) => panic!("{refusal}"),
            }
        }
        panic!("GET {path}: the server does not get ready")
    }

    async fn try_open(client: &Client, path: &str, accept: &str) -> Result<Watch, String> {
        let request = Request::get(path).header("accept", accept).body(Body::empty());
        let request = request.unwrap_or_else(|error| panic!("GET {path}: {error}"));
        let response = client
            .send(request)
            .await
            .unwrap_or_else(|error| panic!("GET {path}: {error}"));
        let (parts, body) = response.into_parts();
        if !parts.status.is_success() {
            let text = body
                .collect()
                .await
                .map(|body| body.to_bytes().to_vec())
                .unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            return Err(format!("GET {path} gave {} {text}", parts.status));
        }
        let lines = body
            .into_data_stream()
            .map_err(std::io::Error::other)
            .into_async_read();
        Ok(Watch {
            request: path.to_owned(),
            lines: Box::pin(lines),
        })
    }

    /// The next event, or nothing when the server ends the watch.
    ///
    /// # Panics
    /// When no event comes in time or it is no JSON.
    pub async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.lines.read_line(&mut line));
        let read = read
            .await
            .unwrap_or_else(|_| panic!("{}: no event within {PATIENCE:?}", self.request));
        match read.unwrap_or_else(|error| panic!("{}: {error}", self.request)) {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"))),
        }
    }

    /// The object of the next event, which has to be of that type.
    ///
    /// # Panics
    /// When another event comes, or none.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let mut event = self
            .next()
            .await
            .unwrap_or_else(|| panic!("{} ended before {kind}", self.request));
        assert_eq!(event["type"], kind, "{}: {event}", self.request);
        event["object"].take()
    }

    /// Type and name of the next event, which is enough for most.
    ///
    /// # Panics
    /// When none comes.
    pub async fn short(&mut self) -> String {
        let event = self
            .next()
            .await
            .unwrap_or_else(|| panic!("{} ended", self.request));
        format!(
            "{} {}",
            text(&event["type"]),
            text(&event["object"]["metadata"]["name"])
        )
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}
