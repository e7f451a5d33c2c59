//! Making the evaluator mean by an expression what cel-go means, by writing some parts of it in other words before it runs.
//!
//! | in the expression | the crate | what is evaluated |
//! |---|---|---|
//! | `a.b` | `false` where `a` is no map, even an optional one | `a['b']` |
//! | `a.?b` | fails where there is no `b` | `a[?'b']` |
//! | `a == b`, `a != b`, `a in b` | numbers of different kinds are never equal | functions of our own |
//! | `dyn(a)`, `bool(a)` | missing | functions of our own |
//! | `matches` | takes as long as it takes | a function of our own, which is paid for |
//! | other functions | only their arguments exist before they run | the same, once arguments, work and result are paid for |
//! | `a[?b]` | copies what it finds | the same, once it is paid for |
//! | a step of a walk | | the same, if it can be paid for |
//! | what is copied: arguments, operands, parts of lists and maps | | the same, once it is paid for |

use std::sync::Arc;

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::Key;
use kube_cel::cel::{Context, ExecutionError, Value};

use super::budget::{Budget, weight};
use super::functions;
use super::pay::pay;

/// Pays for a step of a walk: what was put together so far, the item, and how many parts the step has.
pub(super) const STEP: &str = "@step";
/// Pays for a value and returns it.
pub(super) const PAID: &str = "@paid";
/// What a walk has put together so far. Nobody can write this name.
pub(super) const RESULT: &str = "@result";
pub(super) const SAME: &str = "@same";
pub(super) const WITHIN: &str = "@within";

/// What expressions may call. All of it is paid from this budget.
pub(super) fn context(budget: &Arc<Budget>) -> Context<'static> {
    let mut context = Context::empty();
    functions::register(&mut context, budget);
    let paying = Arc::clone(budget);
    context.add_function(STEP, move |so_far: Value, item: Value, size: i64| {
        let size = u64::try_from(size).unwrap_or_default();
        paying
            .spend(size + weight(&so_far) + weight(&item))
            .map(|()| true)
    });
    let paying = Arc::clone(budget);
    context.add_function(PAID, move |value: Value| paying.weigh(&value).map(|()| value));
    let paying = Arc::clone(budget);
    context.add_function(SAME, move |a: Value, b: Value| {
        paying.spend(weight(&a) + weight(&b)).map(|()| same(&a, &b))
    });
    let paying = Arc::clone(budget);
    context.add_function(WITHIN, move |item: Value, of: Value| {
        let items = match &of {
            Value::List(items) => items.len() as u64,
            _ => 1,
        };
        paying.spend(items.saturating_mul(weight(&item)) + weight(&of))?;
        within(&item, &of)
    });
    let paying = Arc::clone(budget);
    context.add_function("dyn", move |value: Value| paying.weigh(&value).map(|()| value));
    context.add_function("bool", to_bool);
    let paying = Arc::clone(budget);
    context.add_function(
        "matches",
        move |This(text): This<Arc<String>>, pattern: Arc<String>| paying.matches(&text, &pattern),
    );
    context
}

/// Returns the expression as it is evaluated.
pub(super) fn prepare(tree: &IdedExpr) -> IdedExpr {
    let mut tree = tree.clone();
    rewrite(&mut tree);
    pay(&mut tree);
    tree
}

fn rewrite(tree: &mut IdedExpr) {
    match &mut tree.expr {
        Expr::Call(call) => {
            call.target
                .as_deref_mut()
                .into_iter()
                .chain(&mut call.args)
                .for_each(rewrite);
            match call.func_name.as_str() {
                operators::OPT_SELECT => call.func_name = operators::OPT_INDEX.to_owned(),
                operators::EQUALS => call.func_name = SAME.to_owned(),
                operators::IN => call.func_name = WITHIN.to_owned(),
                operators::NOT_EQUALS => {
                    call.func_name = SAME.to_owned();
                    let equal = std::mem::take(tree);
                    *tree = made(operators::LOGICAL_NOT, vec![equal]);
                }
                _ => {}
            }
        }
        Expr::Select(select) => {
            rewrite(&mut select.operand);
            if !select.test {
                let field = Expr::Literal(LiteralValue::String(select.field.as_str().into()));
                let operand = std::mem::take(&mut *select.operand);
                *tree = made(
                    operators::INDEX,
                    vec![
                        operand,
                        IdedExpr {
                            id: tree.id,
                            expr: field,
                        },
                    ],
                );
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(rewrite),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                match &mut entry.expr {
                    EntryExpr::MapEntry(entry) => {
                        rewrite(&mut entry.key);
                        rewrite(&mut entry.value);
                    }
                    EntryExpr::StructField(field) => rewrite(&mut field.value),
                }
            }
        }
        Expr::Comprehension(walk) => [
            &mut walk.iter_range,
            &mut walk.accu_init,
            &mut walk.loop_cond,
            &mut walk.loop_step,
            &mut walk.result,
        ]
        .into_iter()
        .for_each(rewrite),
        _ => {}
    }
}

pub(super) fn made(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    IdedExpr {
        id: 0,
        expr: Expr::Call(CallExpr {
            func_name: name.to_owned(),
            target: None,
            args,
        }),
    }
}

/// Whether two values are equal; numbers are by their value, whatever their kind.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::UInt(b)) | (Value::UInt(b), Value::Int(a)) => u64::try_from(*a) == Ok(*b),
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
        (Value::UInt(a), Value::Float(b)) | (Value::Float(b), Value::UInt(a)) => *a as f64 == *b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.map.len() == b.map.len()
                && a.map
                    .iter()
                    .all(|(key, a)| b.map.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn within(item: &Value, of: &Value) -> Result<bool, ExecutionError> {
    match of {
        Value::List(items) => Ok(items.iter().any(|other| same(item, other))),
        Value::Map(map) => {
            let key = match item {
                Value::String(text) => Key::String(Arc::clone(text)),
                Value::Int(number) => Key::Int(*number),
                Value::UInt(number) => Key::Uint(*number),
                Value::Bool(flag) => Key::Bool(*flag),
                _ => return Ok(false),
            };
            Ok(map.map.contains_key(&key))
        }
        _ => Err(ExecutionError::NoSuchOverload),
    }
}

fn to_bool(value: Value) -> Result<bool, ExecutionError> {
    match value {
        Value::Bool(flag) => Ok(flag),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(ExecutionError::function_error("bool", "no boolean")),
        },
        _ => Err(ExecutionError::NoSuchOverload),
    }
}
