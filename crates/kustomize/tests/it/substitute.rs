//! Substitutions as Flux makes them. `data/substitute.json` has texts of ours and what Flux's `envsubst` 1.7.0 made of them, with
//! and without strictness.

use kustomize::substitute::{Problem, Variables};
use model::{Value, json};
use proptest::prelude::*;

fn variables(strict: bool) -> Variables {
    let mut variables = Variables::default();
    variables.strict = strict;
    for (name, value) in [
        ("name", "podinfo"),
        ("empty", ""),
        ("path", "/usr/local/lib/a.tar.gz"),
        ("word", "straße Éa"),
        ("number", "6"),
        ("dollar", "$"),
        ("nested", "${name}"),
        ("dots", "a.b.c.d"),
        ("first", "ünder"),
        ("zero", "0"),
    ] {
        variables.insert(name, value);
    }
    variables
}

#[test]
fn every_text_becomes_what_flux_makes_of_it() {
    let cases = json::parse(include_bytes!("../data/substitute.json")).unwrap();
    let mut wrong = Vec::new();
    for case in cases.as_array().unwrap() {
        let text = case.str_at(&["text"]);
        let strict = case.get("strict").and_then(Value::as_bool) == Some(true);
        let got = variables(strict).substitute(text);
        let same = match (&got, case.get("out").and_then(Value::as_str)) {
            (Ok(got), Some(wanted)) => got == wanted,
            (Err(error), None) => {
                let wanted = case.str_at(&["error"]);
                // What makes Flux panic is an error with us.
                wanted == "panic" || error.to_string().contains(wanted)
            }
            _ => false,
        };
        if !same {
            wrong.push(format!(
                "{text:?} strict {strict}: {got:?}, but Flux: {}",
                json::to_string(case)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_problem_is_told_with_its_line() {
    let error = variables(true)
        .substitute("a: 1\nb: ${name}\nc: ${nobody}\n")
        .unwrap_err();
    assert_eq!((error.line, error.problem), (3, Problem::NotSet("nobody".into())));
    let error = variables(true).substitute("a: ${name-x}\n").unwrap_err();
    assert_eq!(
        (error.line, error.problem),
        (1, Problem::NotClosed("name".into()))
    );
}

#[test]
fn values_lose_their_ends_of_lines_and_names_are_checked() {
    let mut variables = Variables::default();
    variables.insert("text", "a\nb\n");
    assert_eq!(variables.substitute("${text}").unwrap(), "ab");
    assert_eq!(variables.invalid_names().count(), 0);
    for name in ["1a", "a-b", "", "a.b", "ä"] {
        variables.insert(name, "x");
    }
    assert_eq!(
        variables.invalid_names().collect::<Vec<_>>(),
        ["", "1a", "a-b", "a.b", "ä"]
    );
}

#[test]
fn substitutions_that_nest_too_deeply_are_refused() {
    let text = "${a:-".repeat(100_000);
    let error = variables(false).substitute(&text).unwrap_err();
    assert_eq!(error.problem, Problem::TooDeep);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[${}:=\\-+?#%/^,\\\\a-cé0-9 \n*\\[\\]]{0,40}", value in ".{0,12}") {
        let mut variables = variables(false);
        variables.insert("a", &value);
        variables.insert("b", "");
        let _ = variables.substitute(&text);
    }
}
