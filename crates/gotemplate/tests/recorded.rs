//! What Go's `text/template` and Sprig do, recorded from the real ones and compared with what we do.
//!
//! Each file in `tests/data` is a table of templates with what Go (1.26) and `github.com/Masterminds/sprig/v3` (3.3.0) made of
//! them with the data in `data.json`: the output, or the error. They are made by a program that runs each template with Go; a
//! new case is a new template in a table, and what Go says to it.

use std::path::Path;
use std::sync::Arc;

use gotemplate::{FixedWorld, Functions, Limits, MissingKey, Session, Templates, Value};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    /// The template.
    t: String,
    /// What missing keys are.
    #[serde(default)]
    opt: String,
    out: Option<String>,
    /// Output that is not UTF-8, in base 64.
    bytes: Option<String>,
    err: Option<String>,
}

fn read(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run(functions: &Arc<Functions>, case: &Case, data: &Value) -> Result<Vec<u8>, String> {
    let missing = match case.opt.as_str() {
        "zero" => MissingKey::Zero,
        "error" => MissingKey::Error,
        _ => MissingKey::Invalid,
    };
    let mut templates = Templates::new(functions.clone()).with_missing_key(missing);
    templates.parse("t", &case.t).map_err(|error| error.to_string())?;
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 1);
    let mut session = Session::new(Limits::default(), &mut world);
    templates
        .execute("t", data, &mut session)
        .map_err(|error| error.to_string())
}

/// Compares a whole table and tells all differences at once.
fn compare(file: &str) {
    let functions = Arc::new(Functions::sprig());
    let tree = model::json::parse(&read("data.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_slice(&read(file)).unwrap();
    let mut differences = String::new();
    let mut count = 0;
    for case in &cases {
        let wanted = match (&case.out, &case.bytes, &case.err) {
            (Some(out), ..) => Ok(out.clone().into_bytes()),
            (_, Some(bytes), _) => Ok(base64(bytes)),
            (_, _, Some(error)) => Err(error.clone()),
            _ => panic!("{}: a case without result", case.t),
        };
        // Each case has its own data: some change them.
        let got = run(&functions, case, &Value::from(&tree));
        if got != wanted {
            count += 1;
            let show = |result: &Result<Vec<u8>, String>| match result {
                Ok(out) => format!("{:?}", String::from_utf8_lossy(out)),
                Err(error) => format!("error {error}"),
            };
            differences += &format!("\n{}\n  Go:   {}\n  ours: {}", case.t, show(&wanted), show(&got));
        }
    }
    assert!(count == 0, "{count} of {} differ:{differences}", cases.len());
    assert!(cases.len() > 20, "{file} is a table");
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
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
