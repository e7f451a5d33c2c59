//! A request, read whole.

use std::borrow::Cow;

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

/// The names and values of a query, decoded.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decode = |text: &str| percent_decode(&text.replace('+', " "));
        (decode(key), decode(value))
    })
}

/// The text with `%41` read as `A`. What is not an escape stays, and bytes that are not UTF-8 are replaced.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escape = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = escape.filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match (first, escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_string(),
        Cow::Owned(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_what_is_none_stays() {
        assert_eq!(percent_decode("a%2Fb%20c"), "a/b c");
        assert_eq!(percent_decode("100%"), "100%");
        assert_eq!(percent_decode("%zz%4"), "%zz%4");
        assert_eq!(percent_decode("%+1"), "%+1");
        assert_eq!(percent_decode("%ff"), "\u{fffd}");
    }

    #[test]
    fn a_query_is_taken_apart() {
        let pairs: Vec<_> = query_pairs("a=1&b&c=x%26y+z&&").collect();
        let expected = [("a", "1"), ("b", ""), ("c", "x&y z")];
        assert_eq!(
            pairs,
            expected.map(|(key, value)| (key.to_string(), value.to_string()))
        );
    }
}
