//! What the answers of all servers have in common.

use futures::{StreamExt, TryStreamExt};
use reqwest::{RequestBuilder, Response, StatusCode};

use super::store::{Error, Object};
use crate::http::{Options, ProxyFailure};

/// The largest list or error that is read.
const MAX_ANSWER: usize = 16 << 20;

/// The server did not answer.
fn unreachable(bucket: &str, error: reqwest::Error) -> Error {
    // Without the rest: a query may hold what lets us in.
    let server = error.url().map(|url| url.origin().ascii_serialization());
    Error::Request {
        bucket: bucket.to_owned(),
        server: server.unwrap_or_default(),
        source: error.without_url(),
    }
}

/// Sends a request, and sees to it that a proxy which is to blame is told of.
pub(super) async fn send(http: &Options, bucket: &str, request: RequestBuilder) -> Result<Response, Error> {
    let blamed = |server: String, source: ProxyFailure| Error::Proxy {
        bucket: bucket.to_owned(),
        server,
        source,
    };
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => {
            let server = error.url().map(|url| url.origin().ascii_serialization());
            let server = server.unwrap_or_default();
            return Err(match http.blame(error) {
                Ok(failure) => blamed(server, failure),
                Err(source) => Error::Request {
                    bucket: bucket.to_owned(),
                    server,
                    source,
                },
            });
        }
    };
    match http.refusal(&response) {
        Some(failure) => Err(blamed(response.url().origin().ascii_serialization(), failure)),
        None => Ok(response),
    }
}

/// The body as text.
pub(super) async fn text(bucket: &str, mut response: Response) -> Result<String, Error> {
    let no_text = || Error::Answer {
        bucket: bucket.to_owned(),
        what: "list of objects",
    };
    let mut text = Vec::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|error| unreachable(bucket, error))?
    {
        text.extend_from_slice(&piece);
        if text.len() > MAX_ANSWER {
            return Err(no_text());
        }
    }
    String::from_utf8(text).map_err(|_| no_text())
}

/// The body as an object.
pub(super) fn object(bucket: &str, tag: String, response: Response) -> Object {
    let bucket = bucket.to_owned();
    let content = response.bytes_stream();
    let content = content.map_err(move |error| unreachable(&bucket, error));
    Object {
        tag,
        content: content.boxed(),
    }
}

/// The entity tag of an answer, without quotes.
pub(super) fn tag(response: &Response) -> String {
    let header = response.headers().get("etag");
    without_quotes(header.and_then(|tag| tag.to_str().ok()).unwrap_or_default())
}

/// An entity tag without the quotes around it.
pub(super) fn without_quotes(tag: &str) -> String {
    tag.trim().trim_matches('"').to_owned()
}

/// An answer that is a failure.
pub(super) fn failure(bucket: &str, status: StatusCode, code: String) -> Error {
    let bucket = bucket.to_owned();
    let code = if code.is_empty() {
        status.canonical_reason().unwrap_or_default().to_owned()
    } else {
        code
    };
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Error::Refused { bucket, code },
        StatusCode::NOT_FOUND if matches!(code.as_str(), "NoSuchBucket" | "ContainerNotFound") => {
            Error::NoBucket(bucket)
        }
        status => Error::Status {
            bucket,
            status: status.as_u16(),
            code,
        },
    }
}
