//! Sends one request and reads its answer.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use model::{Value, json};

use super::Cluster;
use super::budget::{Charge, over_budget};
use super::counts::Verb;
use super::error::Error;
use super::limit::Outcome;
use super::refusal::Refusal;
use super::resource::Resource;

/// An answer has to be there by then: admission webhooks may take half a minute.
const LIMIT: Duration = Duration::from_secs(60);
/// A request that the server asks for again is sent so many times at most.
const ATTEMPTS: u32 = 6;
/// The server may not keep a request away for longer than this at a time.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Larger answers are refused, by what was asked for: pages of lists have many objects, an object has at most three million bytes, and a refusal
/// is read by people. A server need not be one that anybody here trusts.
const LARGEST_LIST: usize = 512 * 1024 * 1024;
const LARGEST_DISCOVERY: usize = 32 * 1024 * 1024;
const LARGEST_OBJECT: usize = 16 * 1024 * 1024;
pub(super) const LARGEST_REFUSAL: usize = 1024 * 1024;

/// The size of the largest answer to a request of this kind.
fn largest(verb: Verb) -> usize {
    match verb {
        Verb::List => LARGEST_LIST,
        Verb::Discover => LARGEST_DISCOVERY,
        _ => LARGEST_OBJECT,
    }
}

pub(super) const JSON: &str = "application/json";
/// An object without all but its metadata.
pub(super) const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// What a request is about, for messages.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) verb: Verb,
    pub(super) kind: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Subject<'a> {
    pub(super) fn new(verb: Verb, resource: &'a Resource, namespace: &'a str, name: &'a str) -> Self {
        Subject {
            verb,
            kind: &resource.kind,
            namespace: if resource.namespaced { namespace } else { "" },
            name,
        }
    }
}

/// `apply Deployment/shop/web`
impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subject { verb, kind, .. } = self;
        write!(f, "{verb} {kind}")?;
        for part in [self.namespace, self.name] {
            if !part.is_empty() {
                write!(f, "/{part}")?;
            }
        }
        Ok(())
    }
}

/// A request, ready to be sent more than once.
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) accept: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
    /// Texts that the server's refusal may repeat and nobody may read.
    pub(super) secrets: Vec<String>,
}

impl Ask {
    pub(super) fn get(path: String) -> Ask {
        Ask {
            method: Method::GET,
            path,
            accept: JSON,
            content_type: "",
            body: Bytes::new(),
            secrets: Vec::new(),
        }
    }
}

/// The body of an answer, with the part of the cluster's budget that it takes.
pub(super) struct Answer {
    pub(super) body: Bytes,
    pub(super) charge: Charge,
}

impl Cluster {
    /// Sends a request, again if the server asks for that, and returns the body of its answer.
    pub(super) async fn ask(&self, subject: &Subject<'_>, ask: &Ask) -> Result<Answer, Error> {
        let mut attempt = 1;
        loop {
            let error = match self.attempt(subject, ask).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = error.retry_after().filter(|_| subject.verb.is_repeated());
            match pause {
                // The server has not begun to work on a request that it wants to see again.
                Some(pause) if attempt < ATTEMPTS => {
                    tracing::debug!(%subject, attempt, ?pause, "the server wants the request again");
                    tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
                }
                _ => return Err(error),
            }
            attempt += 1;
        }
    }

    /// Sends a request and reads the object in its answer.
    pub(super) async fn ask_object(&self, subject: &Subject<'_>, ask: &Ask) -> Result<Value, Error> {
        let answer = self.ask(subject, ask).await?;
        json::parse(&answer.body).map_err(|source| malformed(subject, source))
    }

    async fn attempt(&self, subject: &Subject<'_>, ask: &Ask) -> Result<Answer, Error> {
        self.may_ask(subject)?;
        let turn = self.shared.darkness.enter(subject)?;
        let slot = self.shared.limiter.slot(subject.verb).await;
        let sent = turn.now(subject)?;
        let answer = tokio::time::timeout(LIMIT, async {
            let response = self.open(subject, ask).await?;
            self.read(subject, response.into_body(), largest(subject.verb))
                .await
        });
        let result = answer.await.unwrap_or_else(|_| {
            Err(Error::Timeout {
                what: subject.to_string(),
                after: LIMIT,
            })
        });
        sent.ended(&result);
        slot.done(match &result {
            Ok(_) => Outcome::Answered,
            Err(error) if error.is_overload() => Outcome::Overload,
            Err(_) => Outcome::Other,
        });
        result
    }

    /// Sends a request and returns its answer as soon as its head is there; a refusal is an error.
    pub(super) async fn open(&self, subject: &Subject<'_>, ask: &Ask) -> Result<Response<Body>, Error> {
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(&ask.path)
            .header(ACCEPT, ask.accept)
            .header(USER_AGENT, self.shared.agent.as_str());
        if !ask.content_type.is_empty() {
            request = request.header(CONTENT_TYPE, ask.content_type);
        }
        let body = Body::from(ask.body.clone());
        let request = request.body(body).map_err(|source| transport(subject, source))?;
        self.shared.counters.add(subject.verb);
        let response = self.shared.client.send(request).await;
        let response = response.map_err(|source| transport(subject, source))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        let answer = self.read(subject, body, LARGEST_REFUSAL).await?;
        let mut refusal = Refusal::read(subject.to_string(), head.status.as_u16(), &answer.body);
        refusal.hide(&ask.secrets);
        refusal.retry_after = retry_after(&head.headers).or(refusal.retry_after);
        Err(Error::refused(refusal))
    }

    /// Reads a body of this size at most. What there is of it so far counts, and in the end what it is as a value.
    async fn read(&self, subject: &Subject<'_>, body: Body, most: usize) -> Result<Answer, Error> {
        let (mut body, mut charge) = (Limited::new(body, most), self.charge());
        if !charge.is_metered() {
            let body = body.collect().await;
            let body = body.map_err(|source| transport(subject, source))?.to_bytes();
            return Ok(Answer { body, charge });
        }
        let mut read = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|source| transport(subject, source))?;
            if let Ok(data) = frame.into_data() {
                let size = charge.resize(read.len() + data.len());
                size.map_err(|over| over_budget(subject, over))?;
                read.extend_from_slice(&data);
            }
        }
        let size = charge.resize(json::memory(&read));
        size.map_err(|over| over_budget(subject, over))?;
        Ok(Answer {
            body: read.freeze(),
            charge,
        })
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

pub(super) fn transport(
    what: impl fmt::Display,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::Transport {
        what: what.to_string(),
        cause: cause.into().into(),
    }
}

pub(super) fn malformed(
    what: impl fmt::Display,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::Malformed {
        what: what.to_string(),
        source: source.into().into(),
    }
}
