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

/// What the rows of the contract say, one by one: the row, whether missing variables are refused, a text, and what becomes of it.
#[rustfmt::skip]
const ROWS: &[(&str, bool, &str, Result<&str, &str>)] = &[
    ("VS5 a variable that is not set is refused", true, "${nobody}", Err("variable not set (strict mode): \"nobody\"")),
    ("VS5 also where it is changed", true, "${nobody^^}", Err("variable not set (strict mode): \"nobody\"")),
    ("VS5 not where there is a default", true, "${nobody:-d}${nobody:=}${nobody=e}", Ok("de")),
    ("VS5 without strictness it is empty", false, "[${nobody}]", Ok("[]")),
    ("VS6 the value", true, "${name}", Ok("podinfo")),
    ("VS6 its length", true, "${#name}", Ok("7")),
    ("VS6 the first letter large", true, "${name^}", Ok("Podinfo")),
    ("VS6 all letters large", true, "${name^^}", Ok("PODINFO")),
    ("VS6 the first letter small", true, "${shout,}", Ok("sHOUT")),
    ("VS6 all letters small", true, "${shout,,}", Ok("shout")),
    ("VS6 from a place", true, "${name:3}", Ok("info")),
    ("VS6 from a place, so long", true, "${name:1:2}", Ok("od")),
    ("VS6 without the shortest start", true, "${path#*/}", Ok("usr/local/lib/a.tar.gz")),
    ("VS6 without the longest start", true, "${path##*/}", Ok("a.tar.gz")),
    ("VS6 without the shortest end", true, "${path%.*}", Ok("/usr/local/lib/a.tar")),
    ("VS6 without the longest end", true, "${path%%.*}", Ok("/usr/local/lib/a")),
    ("VS6 a default with =", true, "${empty=d}", Ok("d")),
    ("VS6 a default with :=", true, "${empty:=d}", Ok("d")),
    ("VS6 a default with :-", true, "${empty:-d}", Ok("d")),
    ("VS6 a default with :?", true, "${empty:?d}", Ok("d")),
    ("VS6 a default with :+", true, "${empty:+d}", Ok("d")),
    ("VS6 the first one replaced", true, "${dots/./-}", Ok("a-b.c.d")),
    ("VS6 all replaced", true, "${dots//./-}", Ok("a-b-c-d")),
    ("VS6 the start replaced", true, "${name/#pod/x}", Ok("xinfo")),
    ("VS6 the end replaced", true, "${name/%info/x}", Ok("podx")),
    ("VS6 a default that holds another one", true, "${nobody:-a${nobody:-b${name}c}}", Ok("abpodinfoc")),
    ("VS7 :+ is a default and no alternative", true, "${name:+d}", Ok("podinfo")),
    ("VS7 :? is a default and no error", true, "${nobody:?d}", Ok("d")),
    ("VS7 a dash alone is no default", true, "${name-d}", Err("missing closing brace")),
    ("VS7 what is replaced is literal", true, "${name//o*/x}", Ok("podinfo")),
    ("VS7 what is cut off is a pattern", true, "${name#[a-q]?}", Ok("dinfo")),
    ("VS7 lengths count bytes", true, "${#umlaut}", Ok("2")),
    ("VS7 a negative place counts from the end", true, "${name:${minus}}", Ok("nfo")),
    ("VS7 but what is no number is no place", true, "${name: -3}", Ok("podinfo")),
    ("VS8 two dollars are one", true, "$$", Ok("$")),
    ("VS8 and so a text that looks like a variable", true, "$${name}", Ok("${name}")),
    ("VS8 without braces there is no variable", true, "$name", Ok("$name")),
    ("VS8 escapes in replacements", true, r"${path//\//_}", Ok("_usr_local_lib_a.tar.gz")),
    ("VS8 a backslash in replacements", true, r"${dots/./\\}", Ok(r"a\b.c.d")),
    ("VS9 a brace that is not closed", false, "a: ${name\n", Err("missing closing brace")),
    ("VS9 no name", false, "a: ${}\n", Err("unable to parse variable name")),
    ("VS9 a name that is none", false, "a: ${ name}\n", Err("unable to parse variable name")),
    ("VS9 an operation that there is not", false, "a: ${name!}\n", Err("missing closing brace")),
    ("VS9 anywhere in the text", false, "a: ${name}\nb: ok\nc: '# ${'\n", Err("line 3: ")),
];

#[test]
fn every_row_of_the_contract_holds() {
    for (row, strict, text, wanted) in ROWS {
        let mut variables = variables(*strict);
        variables.insert("shout", "SHOUT");
        variables.insert("umlaut", "ü");
        variables.insert("minus", "-3");
        match (variables.substitute(text), wanted) {
            (Ok(got), Ok(wanted)) => assert_eq!(got, *wanted, "{row}: {text}"),
            (Err(error), Err(wanted)) => {
                let told = error.to_string();
                assert!(told.contains(wanted), "{row}: {text}: {told}");
            }
            (got, _) => panic!("{row}: {text}: {got:?}"),
        }
    }
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

/// VS2, VS3
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
