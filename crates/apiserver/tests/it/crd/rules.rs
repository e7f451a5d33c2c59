//! Rules that were made to hurt end all the same.

use std::time::{Duration, Instant};

use apiserver::strategy::Strategy;
use model::{Value, value};

use super::{compile, texts};

/// What validating `spec` against a rule says.
fn errors(rule: &str, spec: Value) -> Vec<String> {
    let schema = value!({ "type": "object", "properties": { "spec": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "l": { "type": "array", "items": { "type": "string" } },
            "s": { "type": "string" },
        },
        "x-kubernetes-validations": [{ "rule": rule }],
    } } });
    let definition = compile(schema).unwrap();
    let object =
        value!({ "apiVersion": "t.example.com/v1", "kind": "T", "metadata": { "name": "x" }, "spec": spec });
    texts(&definition.version("v1").unwrap().validate_create(&object))
}

#[test]
fn hostile_rules_end_at_their_budget() {
    let list: Value = (0..20_000).map(|n| Value::from(format!("element {n}"))).collect();
    let digits = "[0,1,2,3,4,5,6,7,8,9]";
    let nested = format!(
        "{digits}.all(a, {digits}.all(b, {digits}.all(c, {digits}.all(d, {digits}.all(e, {digits}.all(f, {digits}.all(g, {digits}.all(h, true))))))))"
    );
    let blown_up = format!(
        "self.s{}.size() > 0",
        ".replace('a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')".repeat(12)
    );
    let rules = [
        nested.as_str(),
        blown_up.as_str(),
        "self.l.all(x, self.l.all(y, x != '' && y != ''))",
        "self.l.map(x, self.l).size() > 0 && self.l.map(x, self.l.map(y, y + x)).size() < 0",
        "lists.range(1000000000).size() > 0",
        "self.l.all(x, !x.matches('(a*)*(a*)*(a*)*b'))",
    ];
    for rule in rules {
        let start = Instant::now();
        let found = errors(rule, value!({ "l": (list.clone()), "s": "aaaaaaaaaa" }));
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{rule} took {:?}",
            start.elapsed()
        );
        assert!(
            found.iter().any(|error| error.contains("cost")),
            "{rule}: {found:?}"
        );
    }
}

#[test]
fn deep_expressions_are_refused_without_a_stack_overflow() {
    for bracket in ["(", "[", "{"] {
        let schema =
            value!({ "type": "object", "x-kubernetes-validations": [{ "rule": (bracket.repeat(5000)) }] });
        assert!(compile(schema).is_err());
    }
    let long = vec!["true"; 3000].join(" && ");
    let chain = format!("self{}", ".a".repeat(3000));
    let ternary = "true ? ".repeat(500) + "true" + &" : true".repeat(500);
    let signs = [
        "!".repeat(5000) + "true",
        "-".repeat(5000) + "1",
        "a.".repeat(5000),
    ];
    for source in [long, chain, ternary, "1".repeat(100_000)]
        .into_iter()
        .chain(signs)
    {
        let schema = value!({ "type": "object", "x-kubernetes-validations": [{ "rule": source }] });
        let _ = compile(schema);
    }
}

#[test]
fn a_rule_sees_metadata_only_by_its_names() {
    let schema =
        value!({ "type": "object", "x-kubernetes-validations": [{ "rule": "has(self.metadata.labels)" }] });
    let found = texts(&compile(schema).unwrap_err());
    assert!(found[0].contains("undefined field 'labels'"), "{found:?}");
}
