//! Regular expressions, compared with what Go 1.26's `regexp` answered.
//!
//! The table is made by `cargo xtask generate regexps`; `--count 100000 --output FILE` makes a larger one, which
//! `SLUICE_REGEXPS=FILE` has this test read instead.

use model::regexp::{Regexp, quote_meta};
use proptest::prelude::*;

fn answer(pattern: &str, texts: &[String]) -> String {
    match Regexp::new(pattern) {
        Err(error) => error.to_string(),
        Ok(regexp) => texts
            .iter()
            .map(|text| if regexp.is_match(text) { '1' } else { '0' })
            .collect(),
    }
}

#[test]
fn expressions_are_read_matched_and_refused_as_go_does() {
    let table = match std::env::var("SLUICE_REGEXPS") {
        Ok(file) => std::fs::read_to_string(file).unwrap(),
        Err(_) => include_str!("regexp.jsonl").to_owned(),
    };
    let mut lines = table.lines();
    let texts: Vec<String> = serde_json::from_str(lines.next().unwrap()).unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for line in lines {
        let [pattern, expected]: [String; 2] = serde_json::from_str(line).unwrap();
        let ours = answer(&pattern, &texts);
        if ours != expected {
            wrong.push(format!("{pattern:?}\n  ours {ours}\n  real {expected}"));
        }
        count += 1;
    }
    assert!(count > 1000, "the table has only {count} lines");
    assert!(
        wrong.is_empty(),
        "{} of {count} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Go refuses these since 1.25, as it forgets to look past the `_`; older versions and we do not.
#[test]
fn scripts_of_two_words_are_known() {
    assert!(Regexp::new(r"^\p{Old_Italic}$").unwrap().is_match("\u{10300}"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_expression_panics(pattern in r#"([a-c\\\[\](){}^$|?*+.,:PQEpdbx0-9&~<>i-]|\\PC){0,24}"#, text in ".{0,8}") {
        if let Ok(regexp) = Regexp::new(&pattern) {
            regexp.is_match(&text);
        }
    }

    #[test]
    fn a_quoted_text_matches_itself_alone(text in "\\PC{0,8}", other in "\\PC{0,8}") {
        let regexp = Regexp::new(&format!("^{}$", quote_meta(&text))).unwrap();
        prop_assert!(regexp.is_match(&text));
        prop_assert_eq!(regexp.is_match(&other), other == text);
    }
}
