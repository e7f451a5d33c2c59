//! What Go's `text/template` and Sprig do, recorded from the real ones and compared with what we do.
//!
//! Each file in `tests/data` is a table of templates with what Go (1.26) and `github.com/Masterminds/sprig/v3` (3.3.0) made of
//! them with the data in `data.json`: the output, or the error. They are made by a program that runs each template with Go; a
//! new case is a new template in a table, and what Go says to it.

use std::path::Path;

/// Compares a whole table and tells all differences at once.
fn compare(file: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let score = crate::support::compare(&folder.join("data.json"), &folder.join(file));
    let (count, cases) = (score.differences.len(), score.cases);
    assert!(
        count == 0,
        "{count} of {cases} differ:\n{}",
        score.differences.join("\n")
    );
    assert!(cases > 50, "{file} is a table");
}

#[test]
fn the_language_and_its_errors_are_those_of_go() {
    compare("language.json");
}

#[test]
fn values_are_printed_by_all_verbs_as_go_prints_them() {
    compare("printf.json");
}

#[test]
fn strings_are_worked_on_as_sprig_does() {
    compare("strings.json");
}

#[test]
fn numbers_are_worked_on_as_sprig_does() {
    compare("math.json");
}

#[test]
fn lists_and_maps_are_worked_on_as_sprig_does() {
    compare("collections.json");
}

#[test]
fn the_other_functions_do_what_sprig_does() {
    compare("others.json");
}
