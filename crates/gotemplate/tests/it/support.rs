//! Tables of templates with what Go made of them, and how they are compared.

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

fn run(functions: &Arc<Functions>, case: &Case, data: &Value) -> Result<Vec<u8>, String> {
    let missing = match case.opt.as_str() {
        "zero" => MissingKey::Zero,
        "error" => MissingKey::Error,
        _ => MissingKey::Invalid,
    };
    let mut templates = Templates::new(functions.clone()).with_missing_key(missing);
    templates.parse("t", &case.t).map_err(|error| error.to_string())?;
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().expect("it is a time"), 1);
    let mut session = Session::new(Limits::default(), &mut world);
    templates
        .execute("t", data, &mut session)
        .map_err(|error| error.to_string())
}

/// What a table holds, and what differs in it.
pub(crate) struct Score {
    pub(crate) cases: usize,
    pub(crate) differences: Vec<String>,
}

/// Compares a whole table.
pub(crate) fn compare(data: &Path, table: &Path) -> Score {
    let read =
        |path: &Path| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let functions = Arc::new(Functions::sprig());
    let tree = model::json::parse(&read(data)).expect("the data are JSON");
    let cases: Vec<Case> = serde_json::from_slice(&read(table)).expect("the table is one");
    let mut differences = Vec::new();
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
            let show = |result: &Result<Vec<u8>, String>| match result {
                Ok(out) => format!("{:?}", String::from_utf8_lossy(out)),
                Err(error) => format!("error {error}"),
            };
            differences.push(format!(
                "{}\n  Go:   {}\n  ours: {}",
                case.t,
                show(&wanted),
                show(&got)
            ));
        }
    }
    Score {
        cases: cases.len(),
        differences,
    }
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("it is base 64")
}
