//! Using the rules of a schema on an object.

use std::marker::PhantomData;

use kube_cel::KubeCelExt as _;
use kube_cel::cel::Context;
use kube_cel::cel::common::ast::IdedExpr;
use model::Value;

use super::Rule;
use super::budget::Budget;
use super::eval::{Error, Eval, Scope};
use super::value::Val;
use crate::crd::path::follow;
use crate::crd::schema::Node;
use crate::crd::validate::{Elements, unchanged};
use crate::field;

/// The functions that rules may use.
pub(crate) struct Functions(Context<'static>);

impl Functions {
    /// All functions that the real server has and `kube-cel` knows.
    pub(crate) fn new() -> Self {
        Functions(Context::default().with_all())
    }
}

impl Default for Functions {
    fn default() -> Self {
        Functions::new()
    }
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Functions")
    }
}

/// All rules that a new object breaks. `at` is the path of the value; empty for a whole object.
pub(crate) fn create(value: &Value, schema: &Node, functions: &Functions, at: &str) -> Vec<field::Error> {
    run(value, None, schema, functions, at)
}

/// All rules that an update of `old` to `value` breaks, but for those that only speak of parts that did not change.
pub(crate) fn update(
    value: &Value,
    old: &Value,
    schema: &Node,
    functions: &Functions,
    at: &str,
) -> Vec<field::Error> {
    run(value, Some(old), schema, functions, at)
}

fn run(
    value: &Value,
    old: Option<&Value>,
    schema: &Node,
    functions: &Functions,
    at: &str,
) -> Vec<field::Error> {
    if schema.rules.is_empty() && !schema.rules_below {
        return Vec::new();
    }
    let mut run = Run {
        functions,
        budget: Budget::new(),
        path: at.to_owned(),
        errors: Vec::new(),
    };
    let unchanged = old.is_some_and(|old| unchanged(value, old, schema));
    // When the budget is used up, the last error says so.
    let _ = run.value(
        value,
        old,
        schema,
        Place {
            root: at.is_empty(),
            unchanged,
        },
    );
    run.errors
}

/// Rules were stopped: none of those that are left is looked at.
struct Stopped;

/// What is known of the place of a value.
#[derive(Clone, Copy)]
struct Place {
    /// It is a resource of its own.
    root: bool,
    /// It, or the nearest thing around it whose old value is known, is as it was.
    unchanged: bool,
}

struct Run<'f> {
    functions: &'f Functions,
    budget: Budget,
    path: String,
    errors: Vec<field::Error>,
}

impl Run<'_> {
    /// Uses the rules of a node and of those below it.
    fn value(
        &mut self,
        value: &Value,
        old: Option<&Value>,
        schema: &Node,
        place: Place,
    ) -> Result<(), Stopped> {
        if value.is_null() || schema.rules.is_empty() && !schema.rules_below {
            return Ok(());
        }
        if !schema.rules.is_empty() {
            self.rules(value, old, schema, place)?;
        }
        let length = self.path.len();
        match value {
            Value::Array(items) => {
                let Some(node) = &schema.items else { return Ok(()) };
                let known = old.map(|old| Elements::of(old, schema)).unwrap_or_default();
                for (at, item) in items.iter().enumerate() {
                    let old = known.get(item);
                    self.path.push_str(&format!("[{at}]"));
                    let unchanged = old.map_or(place.unchanged, |old| unchanged(item, old, node));
                    let result = self.value(
                        item,
                        old,
                        node,
                        Place {
                            root: node.embedded,
                            unchanged,
                        },
                    );
                    self.path.truncate(length);
                    result?;
                }
            }
            Value::Object(map) => {
                for (key, value) in map.iter() {
                    let (node, step) = match (schema.field(key), schema.additional.node()) {
                        (Some(node), _) if length == 0 => (node, key.to_owned()),
                        (Some(node), _) => (node, format!(".{key}")),
                        (None, Some(node)) => (node, format!("[{key}]")),
                        (None, None) => continue,
                    };
                    let old = old.and_then(|old| old.get(key));
                    self.path.push_str(&step);
                    let unchanged = old.map_or(place.unchanged, |old| unchanged(value, old, node));
                    let result = self.value(
                        value,
                        old,
                        node,
                        Place {
                            root: node.embedded,
                            unchanged,
                        },
                    );
                    self.path.truncate(length);
                    result?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Uses the rules of one node.
    fn rules(
        &mut self,
        value: &Value,
        old: Option<&Value>,
        schema: &Node,
        place: Place,
    ) -> Result<(), Stopped> {
        let functions = self.functions;
        let budget = std::mem::take(&mut self.budget);
        let eval = Eval {
            functions: &functions.0,
            budget: &budget,
            data: PhantomData,
        };
        let mut result = Ok(());
        for rule in &schema.rules {
            let Some(expression) = &rule.compiled else {
                continue;
            };
            if rule.uses_old_self && old.is_none() && !rule.optional_old_self {
                continue;
            }
            if !budget.begin() {
                self.out_of_budget(schema);
                result = Err(Stopped);
                break;
            }
            let outcome = with_self(&eval, value, old, schema, rule, place, |scope| {
                eval.truth(expression, scope).map(|kept| match kept {
                    true => None,
                    false => Some(message(&eval, rule.compiled_message.as_ref(), scope)),
                })
            });
            result = self.report(outcome, &budget, rule, value, schema, place);
            if result.is_err() {
                break;
            }
        }
        self.budget = budget;
        result
    }

    fn report(
        &mut self,
        outcome: Result<Option<Option<String>>, Error>,
        budget: &Budget,
        rule: &Rule,
        value: &Value,
        schema: &Node,
        place: Place,
    ) -> Result<(), Stopped> {
        let kind = Value::str(schema.kind.name());
        let detail = match outcome {
            Ok(None) => return Ok(()),
            Ok(Some(message)) => message.unwrap_or_else(|| rule.failure()),
            Err(Error::OutOfBudget) if budget.is_exhausted() => {
                self.out_of_budget(schema);
                return Err(Stopped);
            }
            Err(error) => {
                let title = rule.title();
                let detail = match error {
                    Error::NoSuchOverload => format!(
                        "'{error}': call arguments did not match a supported operator, function or macro signature \
                         for rule: {title}"
                    ),
                    Error::OutOfBudget => format!(
                        "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: \
                         {title}"
                    ),
                    Error::Other(_) => format!("{error} evaluating rule: {title}"),
                };
                self.errors
                    .push(field::Error::invalid(self.field(""), &kind, detail));
                return if error == Error::OutOfBudget {
                    Err(Stopped)
                } else {
                    Ok(())
                };
            }
        };
        if !rule.uses_old_self && place.unchanged {
            return Ok(());
        }
        let below = match rule.field_path.as_str() {
            "" => String::new(),
            path => follow(path, schema, true)
                .map(|(path, _)| path)
                .unwrap_or_default(),
        };
        let error = field::Error {
            kind: rule.reason.unwrap_or(field::Kind::Invalid),
            field: self.field(&below),
            value: match value {
                // Maps and lists are not shown.
                Value::Object(_) | Value::Array(_) => String::new(),
                value => field::print(value),
            },
            detail,
        };
        self.errors.push(match error.kind {
            field::Kind::Duplicate => field::Error {
                detail: String::new(),
                ..error
            },
            _ => error,
        });
        Ok(())
    }

    fn out_of_budget(&mut self, schema: &Node) {
        let detail =
            "validation failed due to running out of cost budget, no further validation rules will be run";
        self.errors.push(field::Error::invalid(
            self.field(""),
            &Value::str(schema.kind.name()),
            detail,
        ));
    }

    /// The path of the value, or of a field below it.
    fn field(&self, below: &str) -> String {
        match (self.path.as_str(), below) {
            ("", "") => "<nil>".into(),
            ("", below) => below.into(),
            (path, "") => path.into(),
            (path, below) => format!("{path}.{below}"),
        }
    }
}

/// Does something with `self` and `oldSelf` in scope.
fn with_self<'v, T>(
    eval: &Eval<'_, 'v>,
    value: &'v Value,
    old: Option<&'v Value>,
    schema: &'v Node,
    rule: &Rule,
    place: Place,
    work: impl FnOnce(&Scope<'_, 'v>) -> Result<T, Error>,
) -> Result<T, Error> {
    let old = old
        .filter(|old| !old.is_null())
        .map(|old| eval.open(old, Some(schema), place.root))
        .transpose()?;
    let old = match rule.optional_old_self {
        true => Val::Optional(old.map(std::rc::Rc::new)),
        false => old.unwrap_or(Val::Null),
    };
    let outer = Scope {
        name: "oldSelf",
        value: old,
        outer: None,
    };
    let value = eval.open(value, Some(schema), place.root)?;
    work(&Scope {
        name: "self",
        value,
        outer: Some(&outer),
    })
}

/// What the rule's own expression says about a failure; `None` where it has none or it makes no sense.
fn message<'v>(eval: &Eval<'_, 'v>, expression: Option<&IdedExpr>, scope: &Scope<'_, 'v>) -> Option<String> {
    const LONGEST: usize = 5120;
    match eval.eval(expression?, scope) {
        Ok(Val::Str(text)) => {
            let text = text.trim();
            (!text.is_empty() && text.len() <= LONGEST && !text.contains('\n')).then(|| text.to_owned())
        }
        _ => None,
    }
}
