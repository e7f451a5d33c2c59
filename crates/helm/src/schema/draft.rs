//! The versions of JSON schema.

/// A version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Draft {
    /// The version that `$schema` names.
    pub(super) fn of(url: &str) -> Option<Draft> {
        let url = url
            .strip_prefix("http://")
            .or_else(|| url.strip_prefix("https://"))?;
        let url = url.strip_suffix('#').unwrap_or(url);
        Some(match url {
            "json-schema.org/schema" | "json-schema.org/draft/2020-12/schema" => Draft::Draft2020,
            "json-schema.org/draft/2019-09/schema" => Draft::Draft2019,
            "json-schema.org/draft-07/schema" => Draft::Draft7,
            "json-schema.org/draft-06/schema" => Draft::Draft6,
            "json-schema.org/draft-04/schema" => Draft::Draft4,
            _ => return None,
        })
    }

    /// The keyword that names a schema.
    pub(super) fn id(self) -> &'static str {
        match self {
            Draft::Draft4 => "id",
            _ => "$id",
        }
    }

    /// Whether a `$ref` stands alone, whatever is beside it.
    pub(super) fn has_lone_refs(self) -> bool {
        self < Draft::Draft2019
    }

    /// Whether `format` is more than a remark.
    pub(super) fn asserts_formats(self) -> bool {
        self < Draft::Draft2019
    }
}
