//! Health by expressions in CEL: the `healthCheckExprs` of Flux.
//!
//! A check is for a group and kind, or for all kinds of a group that have none of their own. An object whose controller has
//! not seen its newest generation is in progress; then the expressions `inProgress`, `failed` and `current` are asked, in this
//! order, and the first that holds tells. An object of which none holds is in progress.
//!
//! The object's top-level fields are the variables. An expression that cannot be evaluated leaves the health unknown.

mod limits;
mod predicate;
mod prepare;
mod value;

use std::collections::HashMap;

use kube_cel::cel::common::ast::{Expr, IdedExpr};
use kube_cel::cel::parser::Parser;
use kube_cel::cel::{Context, ExecutionError, Value as CelValue};
use model::health::State;
use model::object_key::split_api_version;
use model::{Health, Value};
use serde::{Deserialize, Serialize};

pub use predicate::Predicate;

use super::object::Object;

/// The expressions for objects of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Check {
    /// The group and version; only the group counts.
    pub api_version: String,
    /// The kind; all of the group where it is empty.
    pub kind: String,
    /// Holds where the object is as it should be. Must be there.
    pub current: String,
    /// Holds where the object is on its way. May be empty.
    pub in_progress: String,
    /// Holds where the object has failed. May be empty.
    pub failed: String,
}

/// Checks that were read, by group and kind.
pub struct Checks {
    by_kind: HashMap<(String, String), Expressions>,
    /// What expressions may call.
    functions: Context<'static>,
}

struct Expressions {
    in_progress: Option<Expression>,
    failed: Option<Expression>,
    current: Expression,
}

struct Expression {
    text: String,
    /// As it was read.
    tree: IdedExpr,
    /// As it is evaluated.
    run: IdedExpr,
}

/// Why checks cannot be used. The texts are those that Flux reports with the reason `InvalidCELExpression`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Two checks are for the same kind.
    #[error("duplicate custom health check for GroupKind {kind} at healthchecks[{at}]")]
    Duplicate {
        /// The kind, with its group.
        kind: String,
        /// Which check.
        at: usize,
    },
    /// The expression that must be there is not.
    #[error(
        "failed to create custom status evaluator for healthchecks[{at}]: expression Current not specified"
    )]
    NoCurrent {
        /// Which check.
        at: usize,
    },
    /// An expression cannot be read.
    #[error(
        "failed to create custom status evaluator for healthchecks[{at}]: failed to parse the expression {name}: failed to parse the CEL expression '{text}': {problem}"
    )]
    Syntax {
        /// Which check.
        at: usize,
        /// Which of its expressions.
        name: &'static str,
        /// The expression.
        text: String,
        /// What is wrong.
        problem: String,
    },
}

impl Checks {
    /// Reads checks.
    ///
    /// # Errors
    /// The first check that cannot be used.
    pub fn new(checks: &[Check]) -> Result<Self, Error> {
        let mut by_kind = HashMap::with_capacity(checks.len());
        for (at, check) in checks.iter().enumerate() {
            let (group, _) = split_api_version(&check.api_version);
            let key = (group.to_owned(), check.kind.clone());
            if by_kind.contains_key(&key) {
                let kind = match group {
                    "" => check.kind.clone(),
                    group => format!("{}.{group}", check.kind),
                };
                return Err(Error::Duplicate { kind, at });
            }
            by_kind.insert(key, Expressions::read(check, at)?);
        }
        Ok(Checks {
            by_kind,
            functions: prepare::functions(),
        })
    }

    /// Whether a check is for objects of this kind.
    pub fn has(&self, group: &str, kind: &str) -> bool {
        let has = |kind: &str| self.by_kind.contains_key(&(group.to_owned(), kind.to_owned()));
        has(kind) || has("")
    }

    /// How an object is doing, if a check is for it.
    pub fn assess(&self, object: &Value) -> Option<Health> {
        let (group, kind) = Object(object).group_kind();
        let find = |kind: &str| self.by_kind.get(&(group.to_owned(), kind.to_owned()));
        let expressions = find(kind).or_else(|| find(""))?;
        Some(expressions.assess(object, &self.functions))
    }
}

impl Expressions {
    fn read(check: &Check, at: usize) -> Result<Self, Error> {
        if check.current.is_empty() {
            return Err(Error::NoCurrent { at });
        }
        let read = |name, text: &str| {
            Expression::read(text).map_err(|problem| Error::Syntax {
                at,
                name,
                text: text.to_owned(),
                problem,
            })
        };
        let optional = |name, text: &str| match text {
            "" => Ok(None),
            text => read(name, text).map(Some),
        };
        Ok(Expressions {
            current: read("Current", &check.current)?,
            failed: optional("Failed", &check.failed)?,
            in_progress: optional("InProgress", &check.in_progress)?,
        })
    }

    fn assess(&self, object: &Value, functions: &Context<'static>) -> Health {
        let generation = Object(object).int(&["metadata", "generation"]);
        let observed = Object(object).int(&["status", "observedGeneration"]);
        if let (Some(generation), Some(observed)) = (generation, observed)
            && generation != observed
        {
            return Health::new(State::Progressing);
        }
        let mut scope = functions.new_inner_scope();
        for (name, value) in object.as_object().into_iter().flat_map(|object| object.iter()) {
            scope.add_variable_from_value(name, value::cel(value));
        }
        let order = [
            (self.in_progress.as_ref(), State::Progressing),
            (self.failed.as_ref(), State::Degraded),
            (Some(&self.current), State::Healthy),
        ];
        for (expression, state) in order {
            match expression.map(|expression| expression.holds(object, &scope)) {
                Some(Ok(true)) => return Health::new(state),
                Some(Err(message)) => return Health::because(State::Unknown, message),
                Some(Ok(false)) | None => {}
            }
        }
        Health::new(State::Progressing)
    }
}

impl Expression {
    fn read(text: &str) -> Result<Self, String> {
        limits::check_text(text)?;
        let parsed = Parser::new().enable_optional_syntax(true).parse(text);
        let tree = parsed.map_err(|errors| {
            let texts = errors.errors.iter().map(|error| {
                let (line, column) = (error.pos.0.max(1), error.pos.1.max(1));
                format!("ERROR: <input>:{line}:{column}: {}", error.msg)
            });
            texts.collect::<Vec<_>>().join("\n")
        })?;
        limits::check_tree(&tree)?;
        Ok(Expression {
            text: text.to_owned(),
            run: prepare::prepare(&tree),
            tree,
        })
    }

    /// Whether it holds; else why that cannot be told, in Flux's words.
    fn holds(&self, object: &Value, scope: &Context<'_>) -> Result<bool, String> {
        limits::check_work(&self.tree, object).map_err(|problem| self.failure(&problem))?;
        match scope.resolve(&self.run) {
            Ok(CelValue::Bool(flag)) => Ok(flag),
            Ok(_) => Err(format!(
                "failed to evaluate CEL expression as boolean: '{}'",
                self.text
            )),
            Err(error) => Err(self.failure(&self.problem(&error))),
        }
    }

    fn failure(&self, problem: &str) -> String {
        format!("failed to evaluate the CEL expression '{}': {problem}", self.text)
    }

    /// What went wrong. The texts of the crate hold values, which may be secret.
    fn problem(&self, error: &ExecutionError) -> String {
        match error {
            ExecutionError::NoSuchKey(name) => format!("no such key: {name}"),
            // Functions that are missing are no attributes.
            ExecutionError::UndeclaredReference(name) => match attribute(&self.tree, name) {
                Some(attribute) => format!("no such attribute(s): {attribute}"),
                None => "no such overload".to_owned(),
            },
            ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
            ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
            ExecutionError::Overflow(..) => "integer overflow".to_owned(),
            ExecutionError::IndexOutOfBounds(CelValue::Int(at)) => format!("index out of bounds: {at}"),
            ExecutionError::FunctionError { function, .. } => format!("no such overload: {function}"),
            _ => "no such overload".to_owned(),
        }
    }
}

/// The fields that are read of a variable, where it is used first: `status.conditions`.
fn attribute(tree: &IdedExpr, name: &str) -> Option<String> {
    if let Some(chain) = chain(tree).filter(|chain| chain.first() == Some(&name)) {
        return Some(chain.join("."));
    }
    limits::parts(tree)
        .into_iter()
        .find_map(|part| attribute(part, name))
}

fn chain(tree: &IdedExpr) -> Option<Vec<&str>> {
    match &tree.expr {
        Expr::Ident(name) => Some(vec![name]),
        Expr::Select(select) => {
            let mut chain = chain(&select.operand)?;
            chain.push(&select.field);
            Some(chain)
        }
        _ => None,
    }
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_set().entries(self.by_kind.keys()).finish()
    }
}
