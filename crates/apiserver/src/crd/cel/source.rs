//! Expressions as text and as trees: places in the one, parts of the other.

use kube_cel::cel::common::ast::{EntryExpr, Expr, IdedExpr};

use super::macros::ident;

/// A message with its place, and the line with a mark below it.
pub(super) fn located(source: &str, line: usize, column: usize, message: &str) -> String {
    let snippet = source.lines().nth(line - 1).unwrap_or_default();
    format!(
        "ERROR: <input>:{line}:{column}: {message}\n | {snippet}\n | {}^",
        ".".repeat(column - 1)
    )
}

/// Where the word `name` stands first from `start` on. After a dot only where `after_dot` says so.
pub(super) fn word(source: &str, name: &str, start: usize, after_dot: bool) -> Option<usize> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut from = start;
    while let Some(found) = source.get(from..)?.find(name) {
        let at = from + found;
        let (head, tail) = (&source[..at], &source[at + name.len()..]);
        if !head.ends_with(is_part)
            && head.trim_end_matches('?').ends_with('.') == after_dot
            && !tail.starts_with(is_part)
        {
            return Some(at);
        }
        from = at + name.len().max(1);
    }
    None
}

/// Whether an expression uses a name.
pub(super) fn mentions(expression: &IdedExpr, name: &str) -> bool {
    any(expression, |expression| ident(expression) == Some(name))
}

/// What an expression has that cannot be evaluated here.
pub(super) fn unsupported(expression: &IdedExpr) -> Option<&'static str> {
    let is_unsupported =
        |expression: &IdedExpr| matches!(expression.expr, Expr::Struct(_) | Expr::Unspecified);
    any(expression, is_unsupported).then_some("message types cannot be made in rules")
}

/// How deep the tree of an expression is.
pub(super) fn depth(expression: &IdedExpr) -> usize {
    let mut deepest = 0;
    let mut open = vec![(expression, 1)];
    while let Some((expression, depth)) = open.pop() {
        deepest = deepest.max(depth);
        open.extend(parts(expression).into_iter().map(|part| (part, depth + 1)));
    }
    deepest
}

/// Whether `test` holds for an expression or a part of it.
fn any(expression: &IdedExpr, test: impl Fn(&IdedExpr) -> bool) -> bool {
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        if test(expression) {
            return true;
        }
        open.extend(parts(expression));
    }
    false
}

/// The expressions right below one.
fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
        Expr::Select(select) => vec![&select.operand],
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => {
            let pairs = map.entries.iter().flat_map(|entry| match &entry.expr {
                EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
                EntryExpr::StructField(field) => vec![&field.value],
            });
            pairs.collect()
        }
        Expr::Comprehension(loop_) => {
            vec![
                &loop_.iter_range,
                &loop_.accu_init,
                &loop_.loop_cond,
                &loop_.loop_step,
                &loop_.result,
            ]
        }
        Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) | Expr::Unspecified => Vec::new(),
    }
}
