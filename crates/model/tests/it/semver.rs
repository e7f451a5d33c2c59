//! Versions and ranges, compared with what `github.com/Masterminds/semver/v3` 3.5.0 answered.

use model::semver::{Constraint, Version, highest, parse_tag, sort_tags};
use proptest::prelude::*;

/// What the recorded table says of a version and a range: the version read leniently, the version read strictly, the
/// range or its error, whether it matches, and how the two compare if the range is a version, too.
fn answer(version: &str, range: &str) -> String {
    let lenient = Version::parse(version).ok();
    let shown = |version: Option<&Version>| version.map(ToString::to_string);
    let mut answer = shown(lenient.as_ref()).unwrap_or("version: bad".to_owned());
    let strict = Version::parse_strict(version).ok();
    answer += "|";
    answer += &shown(strict.as_ref()).unwrap_or("strict: bad".to_owned());
    match Constraint::parse(range) {
        Err(error) => answer += &format!("|{error}"),
        Ok(range) => {
            answer += &format!("|{range}");
            if let Some(version) = &lenient {
                answer += &format!("|{}", range.matches(version));
            }
        }
    }
    if let (Some(version), Ok(other)) = (lenient, Version::parse(range)) {
        answer += &format!("|{}", version.cmp(&other) as i8);
    }
    answer
}

#[test]
fn versions_and_ranges_are_read_and_matched_as_the_go_library_does() {
    let mut wrong = Vec::new();
    for line in include_str!("semver.jsonl").lines() {
        let [version, range, expected]: [String; 3] = serde_json::from_str(line).unwrap();
        let ours = answer(&version, &range);
        if ours != expected {
            wrong.push(format!("{version:?} {range:?}\n  ours {ours}\n  real {expected}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

#[test]
fn build_metadata_does_not_count_in_the_order() {
    let version = |text| Version::parse(text).unwrap();
    assert_eq!(version("1.2.3+a"), version("v1.2.3+b"));
    assert_eq!(version("v1.2").original(), "v1.2");
    assert_eq!(version("v1.2+7").metadata(), "7");
}

#[test]
fn metadata_is_replaced_and_the_v_stays() {
    let version = Version::parse("v1.2+old").unwrap();
    let changed = version.with_metadata("abc.1").unwrap();
    assert_eq!(changed.to_string(), "1.2.0+abc.1");
    assert_eq!(changed.original(), "v1.2.0+abc.1");
    assert_eq!(version.with_metadata("").unwrap().to_string(), "1.2.0");
    assert!(version.with_metadata("a b").is_err());
}

#[test]
fn a_tag_needs_three_parts_to_be_a_version() {
    assert!(parse_tag("v2025.02.03-rc.1").is_ok());
    assert!(parse_tag("1.2").is_err());
    assert!(parse_tag("v1").is_err());
    assert!(parse_tag("1.2.3.4").is_err());
}

#[test]
fn the_highest_match_wins_and_of_equal_ones_the_first() {
    let range = Constraint::parse(">=1.0.0 <2.0.0").unwrap();
    let versions =
        ["1.1.0", "1.10.0+a", "1.10.0+b", "2.0.0", "1.11.0-rc.1"].map(|text| Version::parse(text).unwrap());
    assert_eq!(highest(&versions, &range).unwrap().original(), "1.10.0+a");
    let none = Constraint::parse(">3").unwrap();
    assert_eq!(highest(&versions, &none), None);
}

#[test]
fn tags_are_filtered_and_sorted_from_the_highest() {
    let tags = ["latest", "v1.0.0", "1.2", "2.0.0", "v1.10.0", "1.9.0-rc.1"];
    let range = Constraint::parse("1.x").unwrap();
    assert_eq!(sort_tags(tags, Some(&range)), ["v1.10.0", "v1.0.0"]);
    assert_eq!(
        sort_tags(tags, None),
        ["2.0.0", "v1.10.0", "1.9.0-rc.1", "v1.0.0"]
    );
}

proptest! {
    #[test]
    fn no_text_makes_them_panic(version in ".{0,40}", range in "[0-9xX*v.,|<>=~^! \\-+aé]{0,60}") {
        answer(&version, &range);
        answer(&range, &version);
    }

    #[test]
    fn what_is_printed_is_read_back_equal(text in "v?[0-9]{1,3}(\\.[0-9]{1,3}){0,2}(-[a-z0-9.-]{1,8})?") {
        if let Ok(version) = Version::parse(&text) {
            prop_assert_eq!(&Version::parse_strict(&version.to_string()).unwrap(), &version);
            let exactly = Constraint::parse(&format!("={version}")).unwrap();
            prop_assert!(exactly.matches(&version));
        }
    }
}
