//! A client that sees all requests of an engine and refuses some, whichever server is behind it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::sync::watch;
use tower::{BoxError, service_fn};

/// An answer, whole or not.
type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// Which requests are refused, by method and address.
type Refuses = fn(&str) -> bool;

/// All requests of an engine go through it. Clones are the same gate.
#[derive(Clone)]
pub(super) struct Gate {
    refuses: Arc<watch::Sender<Option<Refuses>>>,
    refused: Arc<watch::Sender<usize>>,
    /// Whether what is refused is not answered at all.
    hangs: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Gate {
    pub(super) fn new() -> Gate {
        Gate {
            refuses: Arc::new(watch::Sender::new(None)),
            refused: Arc::new(watch::Sender::new(0)),
            hangs: Arc::default(),
            seen: Arc::default(),
        }
    }

    /// Such requests are refused from now on, and what was answered to such before ends.
    pub(super) fn refuse(&self, refuses: Refuses) {
        self.refused.send_replace(0);
        self.refuses.send_replace(Some(refuses));
    }

    /// Nothing is answered from now on, and what was answered before ends.
    pub(super) fn fall_silent(&self) {
        self.hangs.store(true, Ordering::SeqCst);
        self.refuse(|_| true);
    }

    /// Nothing is refused from now on.
    pub(super) fn open(&self) {
        self.refuses.send_replace(None);
    }

    /// Waits until a request was refused.
    pub(super) async fn refused(&self) {
        let mut refused = self.refused.subscribe();
        let struck = refused.wait_for(|refused| *refused > 0);
        let struck = tokio::time::timeout(super::LIMIT, struck).await;
        struck.expect("no request was refused").unwrap();
    }

    /// The requests so far, with their method and address.
    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.lock().clone()
    }

    /// A client that goes through the gate.
    pub(super) fn client(&self, inner: Client) -> Client {
        let gate = self.clone();
        let namespace = inner.default_namespace().to_owned();
        let service = service_fn(move |request: Request<Body>| {
            let (gate, inner) = (gate.clone(), inner.clone());
            async move { gate.pass(inner, request).await }
        });
        Client::new(service, namespace)
    }

    async fn pass(&self, inner: Client, request: Request<Body>) -> Result<Answer, BoxError> {
        let line = format!("{} {}", request.method(), request.uri());
        self.seen.lock().push(line.clone());
        let mut refuses = self.refuses.subscribe();
        let refused = refuses.borrow_and_update().is_some_and(|refuses| refuses(&line));
        if refused {
            self.refused.send_modify(|refused| *refused += 1);
            if self.hangs.load(Ordering::SeqCst) {
                return std::future::pending().await;
            }
            return Ok(refusal().map(|body| body.map_err(BoxError::from).boxed_unsync()));
        }
        let answer = inner.send(request).await?;
        let ended = async move {
            let ends = |refuses: &Option<Refuses>| refuses.is_some_and(|refuses| refuses(&line));
            if refuses.wait_for(ends).await.is_err() {
                std::future::pending().await
            }
        };
        Ok(answer.map(|body| {
            let pieces = body.into_data_stream().take_until(Box::pin(ended));
            let pieces = pieces.map_ok(Frame::data).map_err(BoxError::from);
            StreamBody::new(pieces).boxed_unsync()
        }))
    }
}

fn refusal() -> Response<Body> {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": "the gate is closed", "reason": "InternalError", "code": 500,
    });
    let mut response = Response::new(Body::from(status.to_string().into_bytes()));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
