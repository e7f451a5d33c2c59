//! A request, read whole.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri, header};

/// A request with its whole body.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The target as it came, still percent-encoded.
    pub uri: Uri,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// `http` or `https`.
    pub scheme: &'static str,
}

impl Request {
    /// The path, still percent-encoded.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// The path's segments, decoded. A leading or trailing slash makes no segment.
    pub fn segments(&self) -> Vec<String> {
        self.path()
            .split('/')
            .filter(|part| !part.is_empty())
            .map(percent_decode)
            .collect()
    }

    /// The first value of a query parameter, decoded.
    pub fn query(&self, name: &str) -> Option<String> {
        query_pairs(self.uri.query().unwrap_or_default())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// The fields of a form, and nothing where the body is none.
    pub fn form(&self) -> BTreeMap<String, String> {
        let is_form = self.header(header::CONTENT_TYPE) == Some("application/x-www-form-urlencoded");
        let body = if is_form { &self.body[..] } else { b"" };
        form_urlencoded::parse(body).into_owned().collect()
    }

    /// Whether the body is a form with exactly these fields.
    pub fn is_form(&self, fields: &[(&str, &str)]) -> bool {
        let fields = fields.iter();
        let wanted: BTreeMap<String, String> = fields
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        self.form() == wanted
    }

    /// A header field, if it is text.
    pub fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The host that the client wanted, with the port.
    pub fn host(&self) -> &str {
        let authority = self.uri.authority().map(|authority| authority.as_str());
        authority
            .or_else(|| self.header(header::HOST))
            .unwrap_or_default()
    }

    /// The server's address as this client sees it, such as `http://127.0.0.1:8080`.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.host())
    }
}

/// The names and values of a query or form, decoded.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    form_urlencoded::parse(query.as_bytes()).into_owned()
}

/// The text with `%41` read as `A`. What is not an escape stays, and bytes that are not UTF-8 are replaced.
pub(crate) fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}
