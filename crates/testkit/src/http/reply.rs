//! What a server answers.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

/// A reply.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub content: Content,
}

/// The body of a reply.
pub enum Content {
    /// All of it at once. The length is announced.
    Whole(Bytes),
    /// Piece by piece, made only when the client is ready for it, so that a huge body needs no memory.
    Pieces(Box<dyn Iterator<Item = Bytes> + Send>),
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Pieces(_) => f.write_str("pieces"),
        }
    }
}

impl Reply {
    /// An empty reply.
    ///
    /// # Panics
    /// When the number is no HTTP status: a mistake in the test.
    pub fn status(status: u16) -> Self {
        let status =
            StatusCode::from_u16(status).unwrap_or_else(|_| panic!("{status} is not an HTTP status"));
        Self {
            status,
            headers: HeaderMap::new(),
            content: Content::Whole(Bytes::new()),
        }
    }

    /// 200 with a body of the given media type.
    pub fn ok(media_type: &str, body: impl Into<Bytes>) -> Self {
        Self::status(200)
            .with(header::CONTENT_TYPE, media_type)
            .body(body)
    }

    /// 200 with plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::ok("text/plain; charset=utf-8", text.into())
    }

    /// 200 with JSON that is written already.
    pub fn json(json: impl Into<String>) -> Self {
        Self::ok("application/json", json.into())
    }

    /// Sets the status.
    ///
    /// # Panics
    /// When the number is no HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Self::status(status).status;
        self
    }

    /// Sets a header field.
    ///
    /// # Panics
    /// When the name or value cannot stand in a header.
    pub fn with(mut self, name: impl TryInto<HeaderName>, value: impl AsRef<str>) -> Self {
        let name = name
            .try_into()
            .unwrap_or_else(|_| panic!("a bad header name for {:?}", value.as_ref()));
        let value = HeaderValue::from_str(value.as_ref()).unwrap_or_else(|_| panic!("a bad value of {name}"));
        self.headers.insert(name, value);
        self
    }

    /// Adds a header field beside those of the same name.
    ///
    /// # Panics
    /// When the value cannot stand in a header.
    pub fn and(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        let value = HeaderValue::from_str(value.as_ref()).unwrap_or_else(|_| panic!("a bad value of {name}"));
        self.headers.append(name, value);
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.content = Content::Whole(body.into());
        self
    }

    /// Sets a body that is made while it is sent.
    pub fn pieces(mut self, pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Self {
        self.content = Content::Pieces(Box::new(pieces));
        self
    }
}
