//! A client whose connection loses, refuses and cuts off, whichever server is behind it.

use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;
use futures::{StreamExt, TryStreamExt};
use http::{Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tower::{BoxError, service_fn};

/// What the faults are chosen by; without it, or with zero, there are none.
pub(super) const SEED: &str = "SLUICE_ENGINE_FAULTS";
/// So many requests may be struck. Faults that never end would keep everybody from their end.
const REQUESTS: usize = 60;

enum Fault {
    /// The server says so, with this reason.
    Refused(StatusCode, &'static str),
    /// The request never arrives.
    RequestLost,
    /// The request arrives and is carried out; nobody hears of it.
    AnswerLost,
    /// The answer ends after so many pieces.
    CutOff(usize),
}

struct Dice {
    random: Rng,
    left: usize,
}

/// A client that goes through one that works.
pub(super) fn client(inner: Client) -> Client {
    let seed = std::env::var(SEED).ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_default();
    let dice = Dice {
        random: Rng::with_seed(seed),
        left: if seed == 0 { 0 } else { REQUESTS },
    };
    let dice = Arc::new(Mutex::new(dice));
    let namespace = inner.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let fault = dice.lock().throw(&request);
        answer(inner.clone(), request, fault)
    });
    Client::new(service, namespace)
}

impl Dice {
    fn throw(&mut self, request: &Request<Body>) -> Option<Fault> {
        self.left = self.left.checked_sub(1)?;
        if self.random.u8(..6) > 0 {
            return None;
        }
        let is_watch = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("watch="));
        let refused = |code: StatusCode, reason| Some(Fault::Refused(code, reason));
        match self.random.u8(..7) {
            0 => refused(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
            1 => refused(StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
            2 => refused(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
            3 if is_watch => refused(StatusCode::GONE, "Expired"),
            3 if request.method() != Method::GET => refused(StatusCode::CONFLICT, "Conflict"),
            4 => Some(Fault::RequestLost),
            5 => Some(Fault::AnswerLost),
            _ => Some(Fault::CutOff(self.random.usize(..3))),
        }
    }
}

/// The body of an answer, whole or not.
type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

async fn answer(inner: Client, request: Request<Body>, fault: Option<Fault>) -> Result<Answer, BoxError> {
    let lost = || BoxError::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    match fault {
        None => Ok(whole(inner.send(request).await?)),
        Some(Fault::Refused(code, reason)) => Ok(whole(refusal(code, reason))),
        Some(Fault::RequestLost) => Err(lost()),
        Some(Fault::AnswerLost) => {
            inner.send(request).await?;
            Err(lost())
        }
        Some(Fault::CutOff(after)) => {
            let answer = whole(inner.send(request).await?);
            Ok(answer.map(|body| {
                let pieces = body.into_data_stream().take(after).map_ok(Frame::data);
                StreamBody::new(pieces).boxed_unsync()
            }))
        }
    }
}

fn whole(answer: Response<Body>) -> Answer {
    answer.map(|body| body.map_err(BoxError::from).boxed_unsync())
}

fn refusal(code: StatusCode, reason: &str) -> Response<Body> {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure",
        "message": "injected", "reason": reason, "code": code.as_u16(),
    });
    let mut response = Response::new(Body::from(status.to_string().into_bytes()));
    *response.status_mut() = code;
    response
}
