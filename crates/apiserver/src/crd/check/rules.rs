//! Rules in a schema.

use model::{Map, Value};

use super::schema::{Found, Place};
use crate::crd::cel;
use crate::crd::path::follow;
use crate::crd::schema::Node;
use crate::field::Error;

/// The reasons a rule may give, in the order messages list them.
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Checks the rules of one node. `node` is missing where the schema is wrong, so that expressions cannot be checked.
pub(super) fn check(schema: &Value, node: Option<&Node>, path: &str, place: &Place, found: &mut Found) {
    let rules = schema.list_at(&["x-kubernetes-validations"]);
    if rules.is_empty() {
        return;
    }
    let before = found.schema.len();
    let own = Node::read(schema);
    for (at, rule) in rules.iter().enumerate() {
        form(
            rule,
            &own,
            &format!("{path}.x-kubernetes-validations[{at}]"),
            &mut found.schema,
        );
    }
    let Some(node) = node.filter(|_| found.schema.len() == before) else {
        return;
    };
    for (at, (rule, compiled)) in rules.iter().zip(&node.rules).enumerate() {
        let path = format!("{path}.x-kubernetes-validations[{at}]");
        let problems = cel::check(compiled, node, place.root);
        let fails_to_compile = problems.iter().any(|problem| problem.member == "rule");
        for problem in problems {
            found.rules.push(Error::invalid(
                format!("{path}.{}", problem.member),
                &shown(rule),
                problem.detail,
            ));
        }
        if fails_to_compile {
            continue;
        }
        match (compiled.uses_old_self(), &place.uncorrelatable) {
            (true, Some(around)) => {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {around}"
                );
                found.rules.push(Error::invalid(
                    format!("{path}.rule"),
                    &Value::str(&compiled.rule),
                    detail,
                ));
            }
            (false, _) => {
                if let Some(flag) = rule.get("optionalOldSelf").filter(|flag| !flag.is_null()) {
                    let detail = "may not be set if oldSelf is not used in rule";
                    found
                        .rules
                        .push(Error::invalid(format!("{path}.optionalOldSelf"), flag, detail));
                }
            }
            _ => {}
        }
    }
}

/// What can be told without compiling the rule.
fn form(rule: &Value, schema: &Node, path: &str, errors: &mut Vec<Error>) {
    let text = |name| rule.str_at(&[name]);
    let has_breaks = |text: &str| text.contains(['\n', '\r']);
    let (source, message) = (text("rule").trim(), text("message").trim());
    let at = |name: &str| format!("{path}.{name}");
    if source.is_empty() {
        errors.push(Error::required(at("rule"), "rule is not specified"));
    } else if !text("message").is_empty() && message.is_empty() {
        errors.push(Error::invalid(
            at("message"),
            &Value::str(text("message")),
            "must be non-empty if specified",
        ));
    } else if has_breaks(message) {
        errors.push(Error::invalid(
            at("message"),
            &Value::str(text("message")),
            "must not contain line breaks",
        ));
    } else if has_breaks(source) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(Error::required(at("message"), detail));
    }
    if !text("messageExpression").is_empty() && text("messageExpression").trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(Error::required(at("messageExpression"), detail));
    }
    if let Some(reason) = rule.get("reason").and_then(Value::as_str)
        && !REASONS.contains(&reason)
    {
        errors.push(Error::not_supported(at("reason"), &Value::str(reason), &REASONS));
    }
    let field_path = text("fieldPath");
    let mut wrong_path =
        |detail: &str| errors.push(Error::invalid(at("fieldPath"), &Value::str(field_path), detail));
    if !field_path.is_empty() {
        if field_path.trim().is_empty() {
            wrong_path("must be non-empty if specified");
        }
        if has_breaks(field_path) {
            wrong_path("must not contain line breaks");
        }
        if follow(field_path, schema, true).is_err() {
            wrong_path("must be a valid path");
        }
    }
}

/// The rule as the real server shows it: with the names of its inner form.
fn shown(rule: &Value) -> Value {
    let mut map = Map::new();
    let text = |name| Value::str(rule.str_at(&[name]));
    let or_null = |name| rule.get(name).cloned().unwrap_or_default();
    for (name, value) in [
        ("Rule", text("rule")),
        ("Message", text("message")),
        ("MessageExpression", text("messageExpression")),
        ("Reason", or_null("reason")),
        ("FieldPath", text("fieldPath")),
        ("OptionalOldSelf", or_null("optionalOldSelf")),
    ] {
        map.push(name.into(), value);
    }
    Value::Object(map)
}
