//! The patch forms against cases recorded from the API server's own libraries (Kubernetes 1.35): each line of a file
//! in `cases/` has an object, a patch and the result or the error text.

mod json;
mod merge;
mod strategic;

use model::Value;
use smd::patch::Error;

/// Runs `apply` over recorded cases and reports all that come out differently.
fn check_recorded(cases: &str, apply: impl Fn(&mut Value, &Value) -> Result<(), Error>) {
    let mut wrong = Vec::new();
    for (number, line) in cases.lines().enumerate() {
        let case = parse(line);
        let part = |name| case.get(name).cloned().unwrap_or_default();
        let mut object = part("object");
        let outcome = apply(&mut object, &part("patch")).map(|()| object);
        let fits = match (&outcome, case.get("error").and_then(Value::as_str)) {
            (Ok(result), None) => *result == part("result"),
            (Err(error), Some(text)) => error.to_string() == text,
            _ => false,
        };
        if !fits {
            wrong.push(format!(
                "line {}: {line}\ngot {}\n",
                number + 1,
                describe(&outcome)
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
}

fn describe(outcome: &Result<Value, Error>) -> String {
    match outcome {
        Ok(result) => model::json::to_string(result),
        Err(error) => format!("error {error}"),
    }
}

fn parse(text: &str) -> Value {
    model::json::parse(text.as_bytes()).unwrap()
}

/// Any map.
fn any_object() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::strategy::Strategy;

    any_value().prop_map(|value| match value {
        Value::Object(_) => value,
        other => model::value!({ "other": other }),
    })
}

/// Any JSON value, for properties.
fn any_value() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;

    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i64..3).prop_map(Value::Int),
        Just(Value::Float(0.5)),
        "[ab/~-]{0,2}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        "[a-c]",
        Just("$patch".to_owned()),
        Just("name".to_owned()),
        Just("$retainKeys".to_owned())
    ];
    leaf.prop_recursive(4, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}
