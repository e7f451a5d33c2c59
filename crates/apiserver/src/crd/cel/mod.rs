//! Rules in the Common Expression Language, `x-kubernetes-validations`.
//!
//! Expressions are parsed by the `cel` crate and its functions are those of `kube-cel`. The evaluator is ours: it reads
//! objects in place through their schema, without a copy, counts what it does, and so ends every expression that would
//! take too long.

mod budget;
mod check;
pub(crate) mod escape;
mod eval;
mod function;
mod macros;
mod operator;
mod run;
mod source;
mod types;
mod value;

pub(crate) use check::check;
use kube_cel::cel::common::ast::IdedExpr;
use kube_cel::cel::parser::Parser;
use model::{Str, Value};
pub(crate) use run::{Functions, create, update};

use crate::field;

/// One rule. It is compiled once, when its definition is read.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    /// The expression that must be true.
    pub(crate) rule: Str,
    /// What to say when it is not; empty where not given.
    pub(crate) message: Str,
    /// An expression that says it.
    pub(crate) message_expression: Str,
    /// The kind of failure it is.
    pub(crate) reason: Option<field::Kind>,
    /// The field that is told to be wrong, below the one with the rule.
    pub(crate) field_path: Str,
    /// Whether `oldSelf` is optional, so that the rule is also used where there is no old value.
    pub(crate) optional_old_self: bool,
    compiled: Option<IdedExpr>,
    compiled_message: Option<IdedExpr>,
    uses_old_self: bool,
}

/// Longer expressions are not read. The real server has no limit of its own, but the cost of such an expression would
/// be beyond its budget.
const MAX_SOURCE: usize = 64 * 1024;

/// How deeply brackets may be nested.
const MAX_NESTING: usize = 90;

/// How many operators and dots an expression may have.
const MAX_OPERATORS: usize = 1000;

/// How deep the tree of an expression may be; the evaluator calls itself for each level.
const MAX_DEPTH: usize = 250;

const TOO_DEEP: &str = "ERROR: <input>:1:1: expression recursion limit exceeded: 250";

impl Rule {
    /// Reads a rule from a schema. What does not compile is left out: [`check`] reports it.
    pub(crate) fn read(rule: &Value) -> Rule {
        let text = |name| Str::from(rule.str_at(&[name]));
        let compiled = parse(&text("rule")).ok();
        let message_expression = text("messageExpression");
        Rule {
            uses_old_self: compiled
                .as_ref()
                .is_some_and(|expression| source::mentions(expression, "oldSelf")),
            compiled,
            compiled_message: match message_expression.trim() {
                "" => None,
                source => parse(source).ok(),
            },
            rule: text("rule"),
            message: text("message"),
            message_expression,
            reason: match rule.str_at(&["reason"]) {
                "FieldValueRequired" => Some(field::Kind::Required),
                "FieldValueForbidden" => Some(field::Kind::Forbidden),
                "FieldValueDuplicate" => Some(field::Kind::Duplicate),
                "FieldValueInvalid" => Some(field::Kind::Invalid),
                _ => None,
            },
            field_path: text("fieldPath"),
            optional_old_self: rule
                .at(&["optionalOldSelf"])
                .and_then(Value::as_bool)
                .unwrap_or_default(),
        }
    }

    /// Whether the rule speaks of the old value.
    pub(crate) fn uses_old_self(&self) -> bool {
        self.uses_old_self
    }

    /// How messages name the rule: by its message, or by itself.
    fn title(&self) -> &str {
        match self.message.trim() {
            "" => self.rule.trim(),
            message => message,
        }
    }

    /// What to say when the rule is not kept.
    fn failure(&self) -> String {
        match self.message.is_empty() {
            true => format!("failed rule: {}", self.title()),
            false => self.message.trim().to_owned(),
        }
    }
}

/// Parses an expression.
///
/// # Errors
/// The text of the real server for what is wrong, with the place.
fn parse(source: &str) -> Result<IdedExpr, String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("expression has more than {MAX_SOURCE} bytes"));
    }
    // The parser calls itself for each bracket and each link of a chain, before it looks at its own limit.
    if nesting(source) > MAX_NESTING || operators(source) > MAX_OPERATORS {
        return Err(TOO_DEEP.into());
    }
    let parsed = Parser::new().enable_optional_syntax(true).parse(source);
    let expression = parsed.map_err(|errors| {
        let texts = errors.errors.iter().map(|error| {
            let (line, column) = (error.pos.0.max(1) as usize, error.pos.1.max(1) as usize);
            source::located(source, line, column, &error.msg)
        });
        texts.collect::<Vec<_>>().join("\n")
    })?;
    match source::unsupported(&expression) {
        Some(what) => Err(format!("ERROR: <input>:1:1: {what}")),
        None if source::depth(&expression) > MAX_DEPTH => Err(TOO_DEEP.into()),
        None => Ok(expression),
    }
}

/// How deeply brackets and sign operators are nested.
fn nesting(source: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'?' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// How many characters of operators stand outside of texts: no chain can be longer.
fn operators(source: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    let mut count = 0;
    for byte in source.bytes() {
        match (byte, quote) {
            _ if escaped => escaped = false,
            (b'\\', Some(_)) => escaped = true,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (
                b'.' | b'?' | b'&' | b'|' | b'+' | b'-' | b'*' | b'/' | b'%' | b'!' | b'<' | b'=' | b'>'
                | b'[',
                None,
            ) => {
                count += 1;
            }
            _ => {}
        }
    }
    count
}
