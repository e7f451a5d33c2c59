//! Parts of a body, and answers that depend on what the client has already.

use bytes::Bytes;
use http::header;

use super::{Reply, Request};

/// What part of a body a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteRange {
    Whole,
    /// From the first to the last byte, both within the body.
    Part {
        first: usize,
        last: usize,
    },
    /// Nothing that the body has.
    Unsatisfiable,
}

impl ByteRange {
    /// What the request's `Range` header wants of a body of this length. A header that asks for several parts or
    /// cannot be read is ignored, as the standard has it.
    pub(crate) fn of(request: &Request, length: usize) -> Self {
        let wanted = request
            .header(header::RANGE)
            .and_then(|range| range.trim().strip_prefix("bytes="));
        let Some((first, last)) = wanted.and_then(|range| range.split_once('-')) else {
            return Self::Whole;
        };
        match (first.parse::<usize>(), last.parse::<usize>()) {
            (Ok(first), _) if first >= length => Self::Unsatisfiable,
            (Ok(first), Ok(last)) if last >= first => Self::Part {
                first,
                last: last.min(length - 1),
            },
            (Ok(first), _) if last.is_empty() => Self::Part {
                first,
                last: length - 1,
            },
            (_, Ok(suffix)) if first.is_empty() => match suffix.min(length) {
                0 => Self::Unsatisfiable,
                suffix => Self::Part {
                    first: length - suffix,
                    last: length - 1,
                },
            },
            _ => Self::Whole,
        }
    }

    /// That part of the body.
    pub(crate) fn reply(self, media_type: &str, body: Bytes) -> Reply {
        let length = body.len();
        let reply = match self {
            Self::Whole => Reply::ok(media_type, body),
            Self::Part { first, last } => Reply::ok(media_type, body.slice(first..=last))
                .with_status(206)
                .with(header::CONTENT_RANGE, format!("bytes {first}-{last}/{length}")),
            Self::Unsatisfiable => {
                Reply::status(416).with(header::CONTENT_RANGE, format!("bytes */{length}"))
            }
        };
        reply.with(header::ACCEPT_RANGES, "bytes")
    }
}

/// Whether the client has the body with this tag already (`If-None-Match`).
pub(crate) fn is_unchanged(request: &Request, etag: &str) -> bool {
    let plain = |tag: &str| tag.trim().trim_start_matches("W/").trim_matches('"').to_string();
    let known = request.header(header::IF_NONE_MATCH);
    known.is_some_and(|known| {
        known
            .split(',')
            .any(|tag| tag.trim() == "*" || plain(tag) == plain(etag))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: header::HeaderName, value: &str) -> Request {
        let mut headers = http::HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        Request {
            method: Default::default(),
            uri: Default::default(),
            headers,
            body: Bytes::new(),
            scheme: "http",
        }
    }

    #[test]
    fn ranges_are_read() {
        let of = |range: &str| ByteRange::of(&request(header::RANGE, range), 10);
        assert_eq!(of("bytes=0-3"), ByteRange::Part { first: 0, last: 3 });
        assert_eq!(of("bytes=8-100"), ByteRange::Part { first: 8, last: 9 });
        assert_eq!(of("bytes=4-"), ByteRange::Part { first: 4, last: 9 });
        assert_eq!(of("bytes=-3"), ByteRange::Part { first: 7, last: 9 });
        assert_eq!(of("bytes=-0"), ByteRange::Unsatisfiable);
        assert_eq!(of("bytes=10-"), ByteRange::Unsatisfiable);
        for ignored in ["bytes=3-1", "bytes=0-1,4-5", "items=0-1", "bytes=a-b", "bytes=-"] {
            assert_eq!(of(ignored), ByteRange::Whole, "{ignored}");
        }
        assert_eq!(
            ByteRange::of(&request(header::RANGE, "bytes=0-"), 0),
            ByteRange::Unsatisfiable
        );
    }

    #[test]
    fn a_known_tag_is_recognised() {
        let known = |tags: &str| is_unchanged(&request(header::IF_NONE_MATCH, tags), "\"abc\"");
        assert!(
            known("\"abc\"") && known("W/\"abc\"") && known("\"x\", \"abc\"") && known("*") && known("abc")
        );
        assert!(!known("\"x\"") && !known(""));
    }
}
