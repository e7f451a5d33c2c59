//! Somebody who makes requests.

use std::time::Duration;

use http::{Method, Request};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde_json::Value;

use crate::{Reply, Watch};

/// A client and the requests a check makes with it. Paths carry their query: `t.get(&format!("{path}?limit=1"))`.
pub struct Caller {
    client: Client,
}

/// The four forms of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patch {
    /// RFC 6902.
    Json,
    /// RFC 7396.
    Merge,
    /// Kubernetes' merge that knows the keys of lists.
    Strategic,
    /// Server-side apply.
    Apply,
}

impl Patch {
    /// The media type that names the form.
    pub fn media_type(self) -> &'static str {
        match self {
            Patch::Json => "application/json-patch+json",
            Patch::Merge => "application/merge-patch+json",
            Patch::Strategic => "application/strategic-merge-patch+json",
            Patch::Apply => "application/apply-patch+yaml",
        }
    }
}

impl Caller {
    pub(crate) fn new(client: Client) -> Caller {
        Caller { client }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], Vec::new()).await
    }

    /// GET with an `Accept` header.
    pub async fn get_as(&self, path: &str, accept: &str) -> Reply {
        self.send(Method::GET, path, &[("accept", accept)], Vec::new())
            .await
    }

    /// POST of JSON.
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.send(Method::POST, path, JSON, body.to_string().into_bytes())
            .await
    }

    /// PUT of JSON.
    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.send(Method::PUT, path, JSON, body.to_string().into_bytes())
            .await
    }

    /// PATCH in one of the four forms.
    pub async fn patch(&self, path: &str, form: Patch, body: Value) -> Reply {
        self.send(
            Method::PATCH,
            path,
            &[("content-type", form.media_type())],
            body.to_string().into_bytes(),
        )
        .await
    }

    /// Server-side apply by a manager.
    pub async fn apply(&self, path: &str, manager: &str, body: Value) -> Reply {
        let join = if path.contains('?') { '&' } else { '?' };
        self.patch(&format!("{path}{join}fieldManager={manager}"), Patch::Apply, body)
            .await
    }

    /// DELETE without options.
    pub async fn delete(&self, path: &str) -> Reply {
        self.send(Method::DELETE, path, &[], Vec::new()).await
    }

    /// DELETE with `DeleteOptions` in the body.
    pub async fn delete_with(&self, path: &str, options: Value) -> Reply {
        self.send(Method::DELETE, path, JSON, options.to_string().into_bytes())
            .await
    }

    /// Any request. A server that is not yet ready for a definition that is new or was just changed is asked again, as real
    /// clients do.
    ///
    /// # Panics
    /// When the request cannot be made, or no answer comes: then there is nothing to check.
    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
        for _ in 0..NOT_READY_TRIES {
            let reply = self.send_once(method.clone(), path, headers, body.clone()).await;
            if reply.code != 429 || !reply.text.contains(NOT_READY) {
                return reply;
            }
            tokio::time::sleep(NOT_READY_PAUSE).await;
        }
        self.send_once(method, path, headers, body).await
    }

    async fn send_once(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
        let mut request = Request::builder().method(method.clone()).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Body::from(body))
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let answer = async {
            let (parts, body) = self.client.send(request).await?.into_parts();
            Ok::<_, kube::Error>((parts, body.collect().await?.to_bytes()))
        };
        let answer = tokio::time::timeout(PATIENCE, answer).await;
        let answer = answer.unwrap_or_else(|_| panic!("{method} {path}: no answer within {PATIENCE:?}"));
        let (parts, bytes) = answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Reply {
            request: format!("{method} {path}"),
            code: parts.status.as_u16(),
            headers: parts.headers,
            text,
            body,
        }
    }

    /// Opens a watch. The path carries the query, without `watch=true`.
    pub async fn watch(&self, path: &str) -> Watch {
        self.watch_as(path, "application/json").await
    }

    /// Opens a watch with an `Accept` header.
    pub async fn watch_as(&self, path: &str, accept: &str) -> Watch {
        let join = if path.contains('?') { '&' } else { '?' };
        Watch::open(&self.client, &format!("{path}{join}watch=true"), accept).await
    }
}

/// How long an answer may take. The real server itself gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the real server says while it sets up the storage of a definition.
pub(crate) const NOT_READY: &str = "storage is (re)initializing";
pub(crate) const NOT_READY_PAUSE: Duration = Duration::from_millis(200);
pub(crate) const NOT_READY_TRIES: usize = 50;

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
