//! Inserts payments into expressions: for the steps of walks, and for values that are copied.

use std::collections::BTreeSet;

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::functions;
use super::limits::parts;
use super::prepare::{PAID, RESULT, SAME, STEP, WITHIN, made};

/// Makes all parts pay that take time by the size of what they are given.
pub(super) fn pay(tree: &mut IdedExpr) {
    let mut payments = Payments::default();
    payments.look(tree);
    payments.pay(tree);
}

#[derive(Default)]
struct Payments {
    /// Whether there may be optional values.
    has_optionals: bool,
    /// The variables of walks.
    bound: BTreeSet<String>,
}

impl Payments {
    fn look(&mut self, tree: &IdedExpr) {
        match &tree.expr {
            Expr::Call(call) => {
                let target = call.target.as_deref().map(|target| &target.expr);
                self.has_optionals |= call.func_name == operators::OPT_INDEX
                    || matches!(target, Some(Expr::Ident(name)) if name == "optional");
            }
            Expr::Comprehension(walk) => {
                self.bound.insert(walk.iter_var.clone());
                self.bound.insert(walk.accu_var.clone());
            }
            _ => {}
        }
        parts(tree).into_iter().for_each(|part| self.look(part));
    }

    /// Returns whether this may be an optional value that nobody has paid for. Indexing copies what such a value holds.
    fn may_be_optional(&self, tree: &IdedExpr) -> bool {
        let may_be = |tree| self.may_be_optional(tree);
        match &tree.expr {
            Expr::Ident(name) => self.has_optionals && self.bound.contains(name),
            Expr::Call(call) => match call.func_name.as_str() {
                operators::INDEX => call.args.first().is_some_and(may_be),
                operators::CONDITIONAL => call.args.iter().skip(1).any(may_be),
                _ => false,
            },
            _ => false,
        }
    }

    fn pay(&self, tree: &mut IdedExpr) {
        match &mut tree.expr {
            Expr::Call(call) => {
                let is_index = matches!(call.func_name.as_str(), operators::INDEX | operators::OPT_INDEX);
                let is_copied = call.func_name == operators::OPT_INDEX;
                self.pay_arguments(call);
                if let Some(operand) = call.args.first_mut()
                    && is_index
                    && self.may_be_optional(operand)
                {
                    paid(operand);
                }
                if is_copied {
                    paid(tree);
                }
            }
            Expr::Select(select) => self.pay(&mut select.operand),
            Expr::List(list) => {
                for element in &mut list.elements {
                    self.pay(element);
                    paid(element);
                }
            }
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        for part in [&mut entry.key, &mut entry.value] {
                            self.pay(part);
                            paid(part);
                        }
                    }
                }
            }
            Expr::Comprehension(walk) => {
                let size = i64::try_from(size(&walk.loop_step)).unwrap_or(i64::MAX);
                for part in [
                    &mut walk.iter_range,
                    &mut walk.accu_init,
                    &mut walk.loop_cond,
                    &mut walk.loop_step,
                    &mut walk.result,
                ] {
                    self.pay(part);
                }
                let ident = |name: &str| IdedExpr {
                    id: 0,
                    expr: Expr::Ident(name.to_owned()),
                };
                let literal = |value| IdedExpr {
                    id: 0,
                    expr: Expr::Literal(value),
                };
                let step = std::mem::take(&mut walk.loop_step);
                let size = literal(LiteralValue::Int(size.into()));
                let pays = made(STEP, vec![ident(&walk.accu_var), ident(&walk.iter_var), size]);
                let never = literal(LiteralValue::Boolean(false.into()));
                walk.loop_step = made(operators::CONDITIONAL, vec![pays, step, never]);
            }
            _ => {}
        }
    }

    fn pay_arguments(&self, call: &mut CallExpr) {
        let is_library = is_library(call);
        let is_free = match call.func_name.as_str() {
            operators::LOGICAL_AND
            | operators::LOGICAL_OR
            | operators::LOGICAL_NOT
            | operators::NOT_STRICTLY_FALSE
            | operators::CONDITIONAL
            | operators::NEGATE
            | operators::INDEX
            | operators::OPT_INDEX
            // They pay themselves.
            | SAME
            | WITHIN
            | "dyn" => true,
            name => is_library || functions::is_registered(name),
        };
        let target = call.target.as_deref_mut().filter(|_| !is_library);
        for part in target.into_iter().chain(&mut call.args) {
            self.pay(part);
            if !is_free {
                paid(part);
            }
        }
    }
}

/// Has a part paid for when it is copied.
fn paid(part: &mut IdedExpr) {
    let is_free = match &part.expr {
        Expr::Literal(_) => true,
        // Each step pays for it.
        Expr::Ident(name) => name == RESULT,
        Expr::Call(call) => call.func_name == PAID,
        _ => false,
    };
    if !is_free {
        let value = std::mem::take(part);
        *part = made(PAID, vec![value]);
    }
}

/// Returns whether what stands before the dot is a library and no value, as in `optional.of(a)`.
fn is_library(call: &CallExpr) -> bool {
    match call.target.as_ref().map(|target| &target.expr) {
        Some(Expr::Ident(library)) => functions::is_registered(&format!("{library}.{}", call.func_name)),
        _ => false,
    }
}

/// How many parts an expression has.
fn size(tree: &IdedExpr) -> usize {
    1 + parts(tree).into_iter().map(size).sum::<usize>()
}
