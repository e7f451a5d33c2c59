//! One expression: how it is read, and in which words it fails.

use kube_cel::cel::common::ast::{Expr, IdedExpr, LiteralValue};
use kube_cel::cel::parser::Parser;
use kube_cel::cel::{Context, ExecutionError, Value as CelValue};
use model::Value;

use super::{limits, prepare};

/// An expression that was read.
pub(super) struct Expression {
    text: String,
    /// As it was read.
    tree: IdedExpr,
    /// As it is evaluated.
    run: IdedExpr,
}

impl Expression {
    pub(super) fn read(text: &str) -> Result<Self, String> {
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

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether evaluating it for an object may begin.
    pub(super) fn check(&self, object: &Value) -> Result<(), String> {
        limits::check_work(&self.tree, object).map_err(|problem| self.failure(&problem))
    }

    /// Whether it holds; else why that cannot be told, in Flux's words.
    pub(super) fn resolve(&self, scope: &Context<'_>) -> Result<bool, String> {
        match scope.resolve(&self.run) {
            Ok(CelValue::Bool(flag)) => Ok(flag),
            Ok(_) => Err(format!(
                "failed to evaluate CEL expression as boolean: '{}'",
                self.text
            )),
            Err(error) => Err(self.failure(&self.problem(&error))),
        }
    }

    pub(super) fn failure(&self, problem: &str) -> String {
        format!("failed to evaluate the CEL expression '{}': {problem}", self.text)
    }

    /// What went wrong. The errors of the crate hold values, which may be secret: only what the expression itself spells out is repeated.
    fn problem(&self, error: &ExecutionError) -> String {
        match error {
            ExecutionError::NoSuchKey(name) if spells(&self.tree, &Word::Text(name)) => {
                format!("no such key: {name}")
            }
            ExecutionError::NoSuchKey(_) => "no such key".to_owned(),
            // Functions that are missing are no attributes.
            ExecutionError::UndeclaredReference(name) => match attribute(&self.tree, name) {
                Some(attribute) => format!("no such attribute(s): {attribute}"),
                None => "no such overload".to_owned(),
            },
            ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
            ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
            ExecutionError::Overflow(..) => "integer overflow".to_owned(),
            ExecutionError::IndexOutOfBounds(CelValue::Int(at)) if spells(&self.tree, &Word::Number(*at)) => {
                format!("index out of bounds: {at}")
            }
            ExecutionError::IndexOutOfBounds(_) => "index out of bounds".to_owned(),
            ExecutionError::FunctionError { function, .. }
                if spells(&self.tree, &Word::Function(function)) =>
            {
                format!("no such overload: {function}")
            }
            _ => "no such overload".to_owned(),
        }
    }
}

/// Something that an error names.
enum Word<'a> {
    Text(&'a str),
    Number(i64),
    Function(&'a str),
}

/// Whether an expression spells something out, so that saying it tells nothing of what the expression was given.
fn spells(tree: &IdedExpr, word: &Word<'_>) -> bool {
    let is_here = match (&tree.expr, word) {
        (Expr::Literal(LiteralValue::String(text)), Word::Text(word)) => text.inner() == *word,
        (Expr::Literal(LiteralValue::Int(number)), Word::Number(word)) => number.inner() == word,
        (Expr::Select(select), Word::Text(word)) => select.field == *word,
        (Expr::Call(call), Word::Function(word)) => call.func_name == *word,
        _ => false,
    };
    is_here || limits::parts(tree).into_iter().any(|part| spells(part, word))
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
