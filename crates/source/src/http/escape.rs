//! Paths and queries of addresses, escaped as signatures want them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// All but what a path or query may have unescaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A query, sorted and escaped: as it is signed and as it is sent.
pub(crate) fn query(pairs: &[(&str, String)]) -> String {
    let mut pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
        .collect();
    pairs.sort();
    pairs.join("&")
}

/// A path of a bucket, which is one name, and of a key, whose slashes stay. Both may be missing.
pub(crate) fn path(bucket: Option<&str>, key: &str) -> String {
    let key = (!key.is_empty()).then(|| key.split('/').map(escape).collect::<Vec<_>>().join("/"));
    let parts: Vec<String> = bucket.map(escape).into_iter().chain(key).collect();
    format!("/{}", parts.join("/"))
}

/// Whether this is a part of a path that leads to another place: clients leave such parts out.
pub(crate) fn leads_away(part: &str) -> bool {
    matches!(part, "" | "." | "..")
}

/// A text, escaped with its slashes.
pub(crate) fn escape(text: &str) -> String {
    percent_encode(text.as_bytes(), ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_escaped() {
        assert_eq!(path(Some("bucket"), "a b/ü+c"), "/bucket/a%20b/%C3%BC%2Bc");
        assert_eq!(path(Some("other/bucket?"), ""), "/other%2Fbucket%3F");
        assert_eq!(path(None, "a/b"), "/a/b");
        assert_eq!(path(None, ""), "/");
        assert_eq!(
            query(&[("b", "1 2".to_owned()), ("a", "/".to_owned())]),
            "a=%2F&b=1%202"
        );
    }
}
