//! How much work an expression may make. It is bounded before it begins: nothing can stop it on its way.
//!
//! An expression has no loops but its walks over lists and maps. How often the innermost part runs is bounded by the length of
//! the longest of them to the power of how deep walks are nested; how large a value grows, by how many of its walks put
//! something together.

use kube_cel::cel::common::ast::{EntryExpr, Expr, IdedExpr, operators};
use model::Value;

use super::lexer::without_quotes;

/// The longest text of an expression.
const TEXT: usize = 8 << 10;
/// How deep brackets may be nested, and how many operators may follow one another: the parser calls itself for each.
const NESTING: usize = 24;
const OPERATORS: usize = 256;
/// How deep the tree may be.
const DEPTH: usize = 64;
/// How often the innermost part may run.
const RUNS: u128 = 2_000_000;
/// How many parts of walks may put values together. Each can double what it is given.
const JOINS: usize = 4;
/// What puts values together.
const JOINING: [&str; 4] = [operators::ADD, "join", "replace", "format"];

const TOO_COMPLEX: &str = "the expression is too long or nested too deeply";

/// The limits of brackets and operators in the whole text, quoted or not. They hold even if the lexer here and the one of the parser disagree
/// about what is quoted: the stack is large enough for them.
const ALL_BRACKETS: usize = 256;
const ALL_OPERATORS: usize = 1024;

/// The stack that is allocated for parsing and evaluating where less than `ENOUGH` is left.
const STACK: usize = 64 << 20;
const ENOUGH: usize = 32 << 20;

/// The expressions that an object may have, and the sum of their lengths.
const EXPRESSIONS: usize = 200;
const BYTES: usize = 64 << 10;

/// An object has more expressions than it may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the object has {count} CEL expressions of {bytes} bytes in total: at most {EXPRESSIONS} expressions and {BYTES} bytes are allowed"
)]
pub struct TooMany {
    count: usize,
    bytes: usize,
}

/// Checks the number and the length of all expressions of an object before any of them is parsed.
///
/// # Errors
/// There are too many.
pub fn check_amount<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), TooMany> {
    let (mut count, mut bytes) = (0, 0);
    for text in texts {
        count += 1;
        bytes += text.len();
    }
    if count > EXPRESSIONS || bytes > BYTES {
        return Err(TooMany { count, bytes });
    }
    Ok(())
}

/// Runs something that calls itself as deeply as the limits allow, on a stack that is large enough whatever the thread has.
pub(super) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(ENOUGH, STACK, run)
}

/// Checks whether a text may be given to the parser.
pub(super) fn check_text(text: &str) -> Result<(), String> {
    if text.len() > TEXT {
        return Err(TOO_COMPLEX.to_owned());
    }
    let (code, all) = (shape(&without_quotes(text)), shape(text.as_bytes()));
    let is_simple = code.nesting <= NESTING && code.operators <= OPERATORS;
    if !is_simple || all.brackets > ALL_BRACKETS || all.operators > ALL_OPERATORS {
        return Err(TOO_COMPLEX.to_owned());
    }
    Ok(())
}

#[derive(Default)]
struct Shape {
    nesting: usize,
    brackets: usize,
    operators: usize,
}

fn shape(code: &[u8]) -> Shape {
    let (mut shape, mut depth) = (Shape::default(), 0usize);
    for (at, byte) in code.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                shape.brackets += 1;
                shape.nesting = shape.nesting.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' | b'!' | b'-' | b'+' | b'*' | b'/' | b'%' | b'?' | b'&' | b'|' | b'<' | b'>' | b'=' => {
                shape.operators += 1;
            }
            // `in` is an operator as well. Names that end so count, too.
            b'i' if code[at..].starts_with(b"in") => {
                let next = code.get(at + 2);
                let is_part = next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
                shape.operators += usize::from(!is_part);
            }
            _ => {}
        }
    }
    shape
}

/// Whether a tree may be evaluated at all.
pub(super) fn check_tree(tree: &IdedExpr) -> Result<(), String> {
    let mut open = vec![(tree, 1usize, false)];
    let mut joins = 0;
    while let Some((part, depth, in_walk)) = open.pop() {
        if depth > DEPTH {
            return Err(TOO_COMPLEX.to_owned());
        }
        match &part.expr {
            Expr::Struct(_) | Expr::Unspecified => {
                return Err("message types cannot be made in health checks".to_owned());
            }
            Expr::Call(call) if in_walk && JOINING.contains(&call.func_name.as_str()) => joins += 1,
            _ => {}
        }
        let walks = matches!(part.expr, Expr::Comprehension(_));
        open.extend(
            parts(part)
                .into_iter()
                .map(|part| (part, depth + 1, in_walk || walks)),
        );
    }
    // A walk that makes a list (`map`, `filter`) adds to it once itself.
    let walks = count(tree, &|part| matches!(part.expr, Expr::Comprehension(_)));
    if joins > JOINS + walks {
        return Err("the expression puts too many values together in its walks over lists".to_owned());
    }
    Ok(())
}

/// Whether evaluating a tree for an object ends soon enough.
pub(super) fn check_work(tree: &IdedExpr, object: &Value) -> Result<(), String> {
    let calls = |name: &str| {
        count(
            tree,
            &|part| matches!(&part.expr, Expr::Call(call) if call.func_name == name),
        )
    };
    let texts = if calls("split") > 0 {
        longest_text(object)
    } else {
        0
    };
    let length = longest(object).max(longest_literal(tree)).max(texts).max(1);
    let length = length.saturating_mul(1 + calls(operators::ADD)) as u128;
    if length
        .checked_pow(nested_walks(tree))
        .is_none_or(|runs| runs > RUNS)
    {
        return Err("it would take too long for an object of this size".to_owned());
    }
    Ok(())
}

fn count(tree: &IdedExpr, is: &dyn Fn(&IdedExpr) -> bool) -> usize {
    usize::from(is(tree)) + parts(tree).into_iter().map(|part| count(part, is)).sum::<usize>()
}

/// How deep walks over lists are nested.
fn nested_walks(tree: &IdedExpr) -> u32 {
    let own = u32::from(matches!(tree.expr, Expr::Comprehension(_)));
    own + parts(tree).into_iter().map(nested_walks).max().unwrap_or(0)
}

/// The length of the longest list or map of an object.
fn longest(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len()),
        Value::Object(map) => map.values().map(longest).max().unwrap_or(0).max(map.len()),
        _ => 0,
    }
}

/// The length of the longest list that an expression spells out.
fn longest_literal(tree: &IdedExpr) -> usize {
    let own = match &tree.expr {
        Expr::List(list) => list.elements.len(),
        Expr::Map(map) => map.entries.len(),
        _ => 0,
    };
    parts(tree).into_iter().map(longest_literal).fold(own, usize::max)
}

/// The length of the longest text of an object.
fn longest_text(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len(),
        Value::Array(items) => items.iter().map(longest_text).max().unwrap_or(0),
        Value::Object(map) => map.values().map(longest_text).max().unwrap_or(0),
        _ => 0,
    }
}

/// The expressions right below one.
pub(super) fn parts(tree: &IdedExpr) -> Vec<&IdedExpr> {
    match &tree.expr {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map
            .entries
            .iter()
            .flat_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
                EntryExpr::StructField(field) => vec![&field.value],
            })
            .collect(),
        Expr::Comprehension(walk) => vec![
            &walk.iter_range,
            &walk.accu_init,
            &walk.loop_cond,
            &walk.loop_step,
            &walk.result,
        ],
        _ => Vec::new(),
    }
}
