//! Semantic versions and ranges of them, as `github.com/Masterminds/semver/v3` (3.5) reads, orders and matches them.
//!
//! Helm charts, Git tags and OCI tags are all picked with that library, and its leniency is part of what people rely on:
//! `v1`, `1.2` and `2025.02.03` are versions, `>=1.2 <2 || ^3.x` is a range, and `1.0 - 2.0` another.
//!
//! ```
//! use model::semver::{Constraint, Version, highest};
//!
//! let range: Constraint = ">=1.2, <2".parse().unwrap();
//! let versions = ["1.0.0", "v1.9.1", "2.0.0", "1.9.2-rc.1"].map(|text| Version::parse(text).unwrap());
//! assert_eq!(highest(&versions, &range).unwrap().original(), "v1.9.1");
//! ```

mod check;
mod constraint;
mod grammar;
mod version;

pub use constraint::{Constraint, ConstraintError};
pub use version::{Error, Version};

/// Reads a version as Flux does where Git and OCI tags are compared with a range: at least two dots are needed, so that a tag
/// like `2024` or `v1` is no version, but a leading `v` and leading zeros are fine (`v2025.02.03-rc.1`).
pub fn parse_tag(text: &str) -> Result<Version, Error> {
    if text.splitn(3, '.').count() != 3 {
        return Err(Error::Invalid);
    }
    Version::parse(text)
}

/// The highest of the versions that match; of equal ones the first.
pub fn highest<'a>(
    versions: impl IntoIterator<Item = &'a Version>,
    constraint: &Constraint,
) -> Option<&'a Version> {
    let mut best: Option<&Version> = None;
    for version in versions {
        if constraint.matches(version) && best.is_none_or(|best| version > best) {
            best = Some(version);
        }
    }
    best
}

/// The tags that are versions (see [`parse_tag`]) and match, highest first; all of them where no range is given.
pub fn sort_tags<'a>(
    tags: impl IntoIterator<Item = &'a str>,
    constraint: Option<&Constraint>,
) -> Vec<&'a str> {
    let mut versions: Vec<(Version, &str)> = tags
        .into_iter()
        .filter_map(|tag| Some((parse_tag(tag).ok()?, tag)))
        .filter(|(version, _)| constraint.is_none_or(|range| range.matches(version)))
        .collect();
    versions.sort_by(|(a, _), (b, _)| b.cmp(a));
    versions.into_iter().map(|(_, tag)| tag).collect()
}
