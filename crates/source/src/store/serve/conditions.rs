//! What a client has already: entity tags and times.

use std::fs::Metadata;

use http::header::{self, AsHeaderName};
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};

/// Which file this is.
pub(super) struct Version {
    pub(super) tag: HeaderValue,
    pub(super) modified: Option<HeaderValue>,
    second: Option<i64>,
}

impl Version {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| Timestamp::try_from(time).ok());
        let nanoseconds = modified.map_or(0, Timestamp::as_nanosecond);
        let tag = format!("\"{nanoseconds:x}-{:x}\"", metadata.len());
        let date = modified
            .and_then(|time| DateTimePrinter::new().timestamp_to_rfc9110_string(&time).ok())
            .and_then(|date| HeaderValue::from_str(&date).ok());
        Version {
            tag: HeaderValue::from_str(&tag).expect("hexadecimal digits can be in a header"),
            modified: date,
            second: modified.map(Timestamp::as_second),
        }
    }
}

/// The conditions of a request.
pub(super) struct Conditions<'a> {
    headers: &'a HeaderMap,
}

impl<'a> Conditions<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Self {
        Conditions { headers }
    }

    /// Whether the client wants another version than this.
    pub(super) fn fail(&self, version: &Version) -> bool {
        self.text(header::IF_MATCH)
            .is_some_and(|tags| !lists(tags, version))
    }

    /// Whether the client has this version already.
    pub(super) fn has(&self, version: &Version) -> bool {
        match self.text(header::IF_NONE_MATCH) {
            Some(tags) => lists(tags, version),
            None => self
                .time(header::IF_MODIFIED_SINCE)
                .is_some_and(|since| version.second.is_some_and(|modified| modified <= since)),
        }
    }

    /// Whether a range is of this version, so that it continues what the client has.
    pub(super) fn range_holds(&self, version: &Version) -> bool {
        match self.text(header::IF_RANGE) {
            None => true,
            Some(tag) if tag.starts_with('"') => version.tag.as_bytes() == tag.as_bytes(),
            Some(_) => self.time(header::IF_RANGE) == version.second && version.second.is_some(),
        }
    }

    fn text(&self, name: impl AsHeaderName) -> Option<&'a str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn time(&self, name: impl AsHeaderName) -> Option<i64> {
        let parsed = DateTimeParser::new().parse_timestamp(self.text(name)?);
        parsed.ok().map(Timestamp::as_second)
    }
}

fn lists(tags: &str, version: &Version) -> bool {
    tags.split(',').map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || tag.as_bytes() == version.tag.as_bytes()
    })
}
