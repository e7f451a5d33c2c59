//! Schemas and objects that the libraries of the API server judged. Each line of `cases/schemas.jsonl` has a schema
//! with either what is wrong with it, or objects: what comes in, what it becomes, and what is wrong with it. The first
//! object is new, each other is an update of the one before.

use apiserver::strategy::{Part, Strategy};
use model::Value;

use super::{compile, parse, texts};

fn list(value: &Value, name: &str) -> Vec<String> {
    value
        .list_at(&[name])
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// What came out differently for one line.
fn differences(case: &Value) -> Vec<String> {
    let schema = case.get("schema").cloned().unwrap();
    let wrong = list(case, "crdErrors");
    let definition = match compile(schema) {
        Err(errors) => {
            let mut errors = texts(&errors);
            errors.sort();
            errors.dedup();
            return if errors == wrong {
                Vec::new()
            } else {
                vec![format!("{errors:#?}\ninstead of {wrong:#?}")]
            };
        }
        Ok(_) if !wrong.is_empty() => return vec![format!("accepted in spite of {wrong:#?}")],
        Ok(definition) => definition,
    };
    let version = definition.version("v1").unwrap();
    let mut old: Option<Value> = None;
    let mut differences = Vec::new();
    for object in case.list_at(&["objects"]) {
        let mut value = object.get("in").cloned().unwrap();
        let unknown = version.decode(&mut value).unwrap();
        version.default(&mut value);
        let errors = match &old {
            None => version.validate_create(&value),
            Some(old) => version.validate_update(Part::Main, &value, old),
        };
        let mut errors = texts(&errors);
        errors.sort();
        errors.dedup();
        if unknown != list(object, "unknown") {
            differences.push(format!("unknown {unknown:?}"));
        }
        if Some(&value) != object.get("out") {
            differences.push(format!("became {}", model::json::to_string(&value)));
        }
        if errors != list(object, "errors") {
            differences.push(format!("{errors:#?}\ninstead of {:#?}", list(object, "errors")));
        }
        old = Some(value);
    }
    differences
}

fn check(cases: &str) {
    let mut wrong = Vec::new();
    for (number, line) in cases.lines().enumerate() {
        let differences = differences(&parse(line));
        if !differences.is_empty() {
            wrong.push(format!(
                "line {}: {line}\n{}\n",
                number + 1,
                differences.join("\n")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(4)].join("\n")
    );
}

#[test]
fn schemas_and_objects_are_judged_as_the_real_server_judges_them() {
    check(include_str!("cases/schemas.jsonl"));
}

#[test]
fn rules_are_compiled_and_used_as_the_real_server_does_it() {
    check(include_str!("cases/rules.jsonl"));
}
