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

/// Where the word `name` stands first with `before` in front of it.
pub(super) fn word(source: &str, name: &str, before: &str) -> Option<usize> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut from = 0;
    while let Some(found) = source[from..].find(name) {
        let at = from + found;
        let (head, tail) = (&source[..at], &source[at + name.len()..]);
        let starts = head.ends_with(before)
            && !head.ends_with(is_part)
            && (!before.is_empty() || !head.ends_with('.'));
        if (starts || before.is_empty() && !head.ends_with(is_part)) && !tail.starts_with(is_part) {
            return Some(at);
        }
        from = at + name.len().max(1);
    }
    None
}

/// Whether an expression uses a name.
pub(super) fn mentions(expression: &IdedExpr, name: &str) -> bool {
    any(expression, &mut |expression| ident(expression) == Some(name))
}

/// What an expression has that cannot be evaluated here.
pub(super) fn unsupported(expression: &IdedExpr) -> Option<&'static str> {
    let is_unsupported =
        |expression: &IdedExpr| matches!(expression.expr, Expr::Struct(_) | Expr::Unspecified);
    any(expression, &mut |expression| is_unsupported(expression))
        .then_some("message types cannot be made in rules")
}

/// Whether `test` holds for an expression or a part of it.
fn any(expression: &IdedExpr, test: &mut impl FnMut(&IdedExpr) -> bool) -> bool {
    if test(expression) {
        return true;
    }
    match &expression.expr {
        Expr::Call(call) => {
            call.target.as_deref().is_some_and(|target| any(target, test))
                || call.args.iter().any(|arg| any(arg, test))
        }
        Expr::Select(select) => any(&select.operand, test),
        Expr::List(list) => list.elements.iter().any(|element| any(element, test)),
        Expr::Map(map) => map.entries.iter().any(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => any(&entry.key, test) || any(&entry.value, test),
            EntryExpr::StructField(_) => true,
        }),
        Expr::Comprehension(loop_) => {
            let parts = [
                &loop_.iter_range,
                &loop_.accu_init,
                &loop_.loop_cond,
                &loop_.loop_step,
                &loop_.result,
            ];
            parts.into_iter().any(|part| any(part, test))
        }
        Expr::Literal(_) | Expr::Ident(_) | Expr::Struct(_) | Expr::Unspecified => false,
    }
}
