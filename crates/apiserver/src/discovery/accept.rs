//! What a client accepts: the `Accept` header with the parameters by which clients of Kubernetes ask for another
//! representation of an object (`application/json;as=Table;v=v1;g=meta.k8s.io`).

use std::cmp::Reverse;

use crate::error::Error;

/// The only encoding this server writes.
pub const JSON: &str = "application/json";

/// The kind a client asks objects to be converted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target<'a> {
    /// Parameter `g`.
    pub group: &'a str,
    /// Parameter `v`.
    pub version: &'a str,
    /// Parameter `as`.
    pub kind: &'a str,
}

/// What was agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed<'a> {
    /// The kind to convert to; `None` for the object as it is.
    pub target: Option<Target<'a>>,
    /// Whether the client asks for indented text.
    pub pretty: bool,
}

impl Agreed<'_> {
    /// The `Content-Type` of the answer.
    pub fn content_type(&self) -> String {
        match self.target {
            Some(Target { group, version, kind }) => format!("{JSON};g={group};v={version};as={kind}"),
            None => JSON.to_owned(),
        }
    }
}

/// One alternative of the header.
#[derive(Debug, PartialEq)]
struct Clause<'a> {
    media: &'a str,
    subtype: &'a str,
    quality: f32,
    params: Vec<(&'a str, &'a str)>,
}

/// Picks the first alternative of `header` that is JSON and whose target `allows` accepts. An empty header accepts
/// everything.
pub fn negotiate<'a>(header: &'a str, allows: impl Fn(Option<Target<'a>>) -> bool) -> Option<Agreed<'a>> {
    if header.is_empty() {
        return Some(Agreed::default());
    }
    let mut clauses: Vec<Clause<'a>> = header.split(',').filter_map(Clause::parse).collect();
    clauses.sort_by_key(|clause| {
        let quality = (clause.quality.clamp(0.0, 1.0) * 1000.0) as u32;
        (Reverse(quality), clause.media == "*", clause.subtype == "*")
    });
    clauses
        .iter()
        .filter(|clause| clause.covers_json())
        .find_map(|clause| clause.agree(&allows))
}

/// The answer to a client that accepts nothing we can write.
pub fn not_acceptable() -> Error {
    Error::new(
        406,
        "NotAcceptable",
        format!("only the following media types are accepted: {JSON}"),
    )
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';');
        let name = parts.next()?.trim_matches(' ');
        let (media, subtype) = match name.split_once('/') {
            Some((media, subtype)) => (media.trim_matches(' '), subtype.trim_matches(' ')),
            None if name == "*" => ("*", "*"),
            None => return None,
        };
        let mut clause = Clause {
            media,
            subtype,
            quality: 1.0,
            params: Vec::new(),
        };
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key.trim_matches(' ') {
                "q" => clause.quality = value.trim_matches(' ').parse().unwrap_or(0.0),
                key => clause.params.push((key, value.trim_matches(' '))),
            }
        }
        Some(clause)
    }

    fn covers_json(&self) -> bool {
        matches!(
            (self.media, self.subtype),
            ("application", "json" | "*") | ("*", "*")
        )
    }

    fn agree(&self, allows: &impl Fn(Option<Target<'a>>) -> bool) -> Option<Agreed<'a>> {
        let mut agreed = Agreed::default();
        for &(key, value) in &self.params {
            match key {
                "as" => agreed.target.get_or_insert_default().kind = value,
                "g" => agreed.target.get_or_insert_default().group = value,
                "v" => agreed.target.get_or_insert_default().version = value,
                "pretty" => agreed.pretty = value == "1",
                // A version of the server's own group was never offered, and watch is the only stream.
                "sv" if !value.is_empty() => return None,
                "stream" if !value.is_empty() && value != "watch" => return None,
                _ => {}
            }
        }
        allows(agreed.target).then_some(agreed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

    fn any(header: &str) -> Option<Agreed<'_>> {
        negotiate(header, |_| true)
    }

    fn plain(header: &str) -> Option<Agreed<'_>> {
        negotiate(header, |target| target.is_none())
    }

    #[test]
    fn parameters_name_the_kind_that_is_wanted() {
        let target = Target {
            group: "meta.k8s.io",
            version: "v1",
            kind: "Table",
        };
        assert_eq!(
            any(TABLE),
            Some(Agreed {
                target: Some(target),
                pretty: false
            })
        );
        assert_eq!(
            any(TABLE).unwrap().content_type(),
            "application/json;g=meta.k8s.io;v=v1;as=Table"
        );
    }

    #[test]
    fn the_first_alternative_that_is_allowed_wins() {
        let header = format!("{TABLE},application/json");
        assert!(any(&header).unwrap().target.is_some());
        assert_eq!(plain(&header), Some(Agreed::default()));
        assert_eq!(plain(TABLE), None);
    }

    #[test]
    fn quality_and_precision_order_the_alternatives() {
        assert!(
            any(&format!("application/json;q=0.5, {TABLE}"))
                .unwrap()
                .target
                .is_some()
        );
        assert!(any(&format!("*/*, {TABLE}")).unwrap().target.is_some());
        assert_eq!(
            any(&format!("application/json, {TABLE}")),
            Some(Agreed::default())
        );
    }

    #[test]
    fn a_client_without_a_wish_gets_json() {
        for header in [
            "",
            "*/*",
            "*",
            "application/*",
            "application/json",
            "text/html, */*;q=0.1",
        ] {
            assert_eq!(plain(header), Some(Agreed::default()), "{header}");
        }
    }

    #[test]
    fn other_encodings_are_not_acceptable() {
        for header in [
            "application/xml",
            "application/vnd.kubernetes.protobuf",
            "text/*",
            "json",
            ";;",
            "a/b/c",
        ] {
            assert_eq!(any(header), None, "{header}");
        }
    }

    #[test]
    fn an_odd_quality_does_no_harm() {
        for quality in ["NaN", "inf", "-1", "x", "1e99"] {
            assert!(
                any(&format!("application/json;q={quality}")).is_some(),
                "{quality}"
            );
        }
    }
}
