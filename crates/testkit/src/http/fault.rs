//! Faults on demand.

use std::time::Duration;

use http::{HeaderName, Method, header};
use parking_lot::Mutex;

use super::{Reply, Request};

/// Something that goes wrong, with the requests it happens to: the next one, unless told otherwise.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) kind: Kind,
    times: Option<u32>,
    path: Option<String>,
    method: Option<Method>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Status {
        status: u16,
        headers: Vec<(String, String)>,
    },
    Redirect {
        status: u16,
        to: String,
    },
    Drop,
    Hang,
    Delay(Duration),
    Truncate(usize),
    Corrupt,
    Slow {
        piece: usize,
        pause: Duration,
    },
}

impl Fault {
    /// The request is answered with a status and not looked at.
    pub fn status(status: u16) -> Self {
        Self::of(Kind::Status {
            status,
            headers: Vec::new(),
        })
    }

    /// The request is redirected to the same path and query on another server, such as `http://127.0.0.1:1234`, with 301,
    /// 302, 307 or 308.
    pub fn redirect(status: u16, to: &str) -> Self {
        Self::of(Kind::Redirect {
            status,
            to: to.trim_end_matches('/').to_string(),
        })
    }

    /// The connection is closed without an answer.
    pub fn drop_connection() -> Self {
        Self::of(Kind::Drop)
    }

    /// No answer comes, ever.
    pub fn hang() -> Self {
        Self::of(Kind::Hang)
    }

    /// The answer comes late.
    pub fn delay(by: Duration) -> Self {
        Self::of(Kind::Delay(by))
    }

    /// The connection is closed after so many bytes of the answer's body.
    pub fn truncate(after: usize) -> Self {
        Self::of(Kind::Truncate(after))
    }

    /// One bit in the middle of the answer's body is wrong (of its first piece, if it is sent in pieces).
    pub fn corrupt() -> Self {
        Self::of(Kind::Corrupt)
    }

    /// The answer's body drips: a few bytes, a pause, and so on.
    pub fn slow(piece: usize, pause: Duration) -> Self {
        Self::of(Kind::Slow {
            piece: piece.max(1),
            pause,
        })
    }

    /// Adds a header field to the answer of [`Fault::status`], such as `Retry-After`.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Kind::Status { headers, .. } = &mut self.kind {
            headers.push((name.to_string(), value.to_string()));
        }
        self
    }

    /// Happens so many times instead of once.
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Happens until [`super::Server::heal`].
    pub fn forever(mut self) -> Self {
        self.times = None;
        self
    }

    /// Happens only to requests whose path and query contain this.
    pub fn on(mut self, part: &str) -> Self {
        self.path = Some(part.to_string());
        self
    }

    /// Happens only to requests with this method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            times: Some(1),
            path: None,
            method: None,
        }
    }

    fn concerns(&self, request: &Request) -> bool {
        let target = request
            .uri
            .path_and_query()
            .map_or(request.path(), |target| target.as_str());
        self.method.as_ref().is_none_or(|method| method == request.method)
            && self.path.as_ref().is_none_or(|part| target.contains(part))
    }
}

impl Kind {
    /// The answer that takes the place of the real one, if this fault has one.
    pub(super) fn answer(&self, request: &Request) -> Option<Reply> {
        match self {
            Self::Status { status, headers } => {
                let mut reply = Reply::text(format!("{status}: a fault on demand\n"));
                reply.status = Reply::status(*status).status;
                let add = |reply: Reply, (name, value): &(String, String)| {
                    let name: HeaderName = name
                        .parse()
                        .unwrap_or_else(|_| panic!("{name:?} is no header name"));
                    reply.with(name, value)
                };
                Some(headers.iter().fold(reply, add))
            }
            Self::Redirect { status, to } => {
                let target = request.uri.path_and_query().map_or("/", |target| target.as_str());
                Some(Reply::status(*status).with(header::LOCATION, format!("{to}{target}")))
            }
            _ => None,
        }
    }
}

/// The faults that are still to happen, oldest first.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    pub(super) fn push(&self, fault: Fault) {
        self.0.lock().push(fault);
    }

    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }

    /// The fault that happens to this request: the oldest that concerns it.
    pub(super) fn take(&self, request: &Request) -> Option<Kind> {
        let mut faults = self.0.lock();
        let index = faults.iter().position(|fault| fault.concerns(request))?;
        let fault = &mut faults[index];
        let kind = fault.kind.clone();
        if let Some(times) = &mut fault.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                faults.remove(index);
            }
        }
        Some(kind)
    }
}
