//! Tags that are versions.

use model::semver::{Constraint, Version, parse_tag};

use super::error::Cause;
use super::reference::{Target, by_short_name};
use super::refs::Ref;

const TAGS: &str = "refs/tags/";

/// What the tags with the greatest version in a range lead to. There is more than one if versions differ only in their
/// build metadata, which says nothing about which of them is greater.
pub(super) fn resolve(refs: &[Ref], range: &str) -> Result<Vec<Target>, Cause> {
    let constraint = Constraint::parse(range).map_err(|error| {
        Cause::ReferenceInvalid(format!(
            "semver parse error: '{range}': {error}; write a range like '1.x' or '>=1.2.0 <2.0.0'"
        ))
    })?;
    let tags = refs.iter().filter_map(|found| found.name.strip_prefix(TAGS));
    let versions: Vec<Version> = tags
        .filter_map(|tag| parse_tag(tag).ok())
        .filter(|version| constraint.matches(version))
        .collect();
    let Some(greatest) = versions.iter().max() else {
        return Err(Cause::NoVersion(range.to_owned()));
    };
    let equal = versions.iter().filter(|version| version.cmp(&greatest).is_eq());
    equal
        .map(|version| by_short_name(refs, &format!("{TAGS}{}", version.original()), version.original()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gix_hash::ObjectId;

    fn resolved(tags: &[&str], range: &str) -> Result<Vec<String>, Cause> {
        let id = ObjectId::from_hex("1".repeat(40).as_bytes()).unwrap();
        let refs: Vec<Ref> = tags
            .iter()
            .map(|tag| Ref::new(format!("{TAGS}{tag}"), id))
            .collect();
        let found = resolve(&refs, range)?;
        Ok(found
            .iter()
            .map(|target| target.revision.name().unwrap().to_owned())
            .collect())
    }

    #[test]
    fn the_greatest_version_in_the_range_is_taken() {
        let tags = [
            "v1.0.0",
            "1.2.3",
            "v1.10.0",
            "2.0.0",
            "1.11",
            "latest",
            "1.12.0-rc.1",
            "2025.02.03",
        ];
        assert_eq!(resolved(&tags, "^1").unwrap(), ["v1.10.0"]);
        assert_eq!(resolved(&tags, ">=1.0.0-0 <2").unwrap(), ["1.12.0-rc.1"]);
        assert_eq!(resolved(&tags, "*").unwrap(), ["2025.02.03"]);
    }

    #[test]
    fn versions_that_differ_in_metadata_are_all_given() {
        let tags = ["1.0.0+a", "v1.0.0+b", "0.9.0"];
        assert_eq!(resolved(&tags, "*").unwrap(), ["1.0.0+a", "v1.0.0+b"]);
    }

    #[test]
    fn nothing_found_and_nothing_meant_are_told_apart() {
        assert!(matches!(resolved(&["1.0.0"], ">=2"), Err(Cause::NoVersion(range)) if range == ">=2"));
        assert!(matches!(
            resolved(&["1.0.0"], "not a range"),
            Err(Cause::ReferenceInvalid(_))
        ));
    }
}
