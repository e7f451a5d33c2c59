//! What was asked of a server.

use http::{HeaderMap, Method, StatusCode, header};
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{Credential, Request};

/// One request that a server has answered (or let fall).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The method.
    pub method: Method,
    /// The path, still percent-encoded.
    pub path: String,
    /// What follows the question mark, or nothing.
    pub query: String,
    /// The status of the answer. A dropped connection has none.
    pub status: Option<StatusCode>,
    /// The header fields.
    pub headers: HeaderMap,
    /// The credential that the request showed.
    pub credential: Option<Credential>,
    /// How long the request's body was.
    pub body: usize,
}

impl Record {
    /// A header field, or the empty text.
    pub fn header(&self, name: impl header::AsHeaderName) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    pub(super) fn new(request: &Request, status: Option<StatusCode>) -> Self {
        Self {
            method: request.method.clone(),
            path: request.path().to_string(),
            query: request.uri.query().unwrap_or_default().to_string(),
            status,
            headers: request.headers.clone(),
            credential: Credential::of(request),
            body: request.body.len(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Log {
    records: Mutex<Vec<Record>>,
    count: watch::Sender<usize>,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            records: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }
}

impl Log {
    pub(super) fn push(&self, record: Record) {
        self.records.lock().push(record);
        self.count.send_modify(|count| *count += 1);
    }

    pub(super) fn records(&self) -> Vec<Record> {
        self.records.lock().clone()
    }

    pub(super) fn clear(&self) {
        self.records.lock().clear();
    }

    pub(super) fn changes(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }
}
