//! Parts of a file.

use http::{HeaderMap, HeaderValue, header};

/// What of a file is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    Part(Part),
    /// The part is beyond the end.
    Unsatisfiable,
}

/// Some bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: u64,
    pub(super) length: u64,
}

impl Wanted {
    /// By the header `Range`. Several ranges at once, other units and what cannot be read are answered with everything, as
    /// the protocol allows.
    pub(super) fn of(headers: &HeaderMap, size: u64) -> Wanted {
        let text = headers
            .get(header::RANGE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("bytes="));
        let Some((first, last)) = text.and_then(|text| text.trim().split_once('-')) else {
            return Wanted::All;
        };
        let bounds = match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => (first, last.saturating_add(1).min(size)),
            (Some(first), None) if last.is_empty() => (first, size),
            (None, Some(0)) if first.is_empty() => return Wanted::Unsatisfiable,
            (None, Some(last)) if first.is_empty() => (size.saturating_sub(last), size),
            _ => return Wanted::All,
        };
        match bounds {
            // Nothing can be part of an empty file.
            (start, end) if start < end => Wanted::Part(Part {
                start,
                length: end - start,
            }),
            _ => Wanted::Unsatisfiable,
        }
    }
}

fn number(text: &str) -> Option<u64> {
    // `parse` would take a sign.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

impl Part {
    pub(super) fn header(&self, size: u64) -> HeaderValue {
        let last = self.start + self.length - 1;
        value(&format!("bytes {}-{last}/{size}", self.start))
    }

    pub(super) fn none(size: u64) -> HeaderValue {
        value(&format!("bytes */{size}"))
    }
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("digits and slashes can be in a header")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(range: &str, size: u64) -> Wanted {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, range.parse().unwrap());
        Wanted::of(&headers, size)
    }

    fn part(start: u64, length: u64) -> Wanted {
        Wanted::Part(Part { start, length })
    }

    #[test]
    fn one_range_is_a_part() {
        assert_eq!(wanted("bytes=0-0", 10), part(0, 1));
        assert_eq!(wanted("bytes=2-5", 10), part(2, 4));
        assert_eq!(wanted("bytes=2-500", 10), part(2, 8));
        assert_eq!(wanted("bytes=9-", 10), part(9, 1));
        assert_eq!(wanted("bytes=-3", 10), part(7, 3));
        assert_eq!(wanted("bytes=-30", 10), part(0, 10));
        assert_eq!(wanted("bytes=1-99999999999999999999999", 10), part(1, 9));
    }

    #[test]
    fn what_is_beyond_the_end_cannot_be_had() {
        for range in [
            "bytes=10-",
            "bytes=10-12",
            "bytes=-0",
            "bytes=99999999999999999999999-",
        ] {
            assert_eq!(wanted(range, 10), Wanted::Unsatisfiable, "{range}");
        }
        assert_eq!(wanted("bytes=0-", 0), Wanted::Unsatisfiable);
        assert_eq!(wanted("bytes=-5", 0), Wanted::Unsatisfiable);
    }

    #[test]
    fn what_is_no_single_range_is_everything() {
        for range in [
            "bytes=",
            "bytes=-",
            "bytes=5-2",
            "bytes=a-b",
            "bytes=0-1,3-4",
            "lines=0-1",
            "0-1",
            "bytes=+1-2",
        ] {
            assert_eq!(wanted(range, 10), Wanted::All, "{range}");
        }
        assert_eq!(Wanted::of(&HeaderMap::new(), 10), Wanted::All);
    }
}
