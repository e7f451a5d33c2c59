//! The evaluator.

use kube_cel::cel;
use kube_cel::cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use std::rc::Rc;

use super::budget::Budget;
use super::value::Val;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Error {
    /// An operator or function does not take values of these types.
    NoSuchOverload,
    /// The budget of this evaluation, or of the object, is used up.
    OutOfBudget,
    /// Anything else; the text tells what.
    Other(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::NoSuchOverload => f.write_str("no such overload"),
            Error::OutOfBudget => f.write_str("operation cancelled: actual cost limit exceeded"),
            Error::Other(text) => f.write_str(text),
        }
    }
}

pub(super) type Result<T> = std::result::Result<T, Error>;

/// The names an expression may use, innermost last.
pub(super) struct Scope<'s, 'v> {
    pub(super) name: &'s str,
    pub(super) value: Val<'v>,
    pub(super) outer: Option<&'s Scope<'s, 'v>>,
}

impl<'v> Scope<'_, 'v> {
    pub(super) fn find(&self, name: &str) -> Option<&Val<'v>> {
        let mut scope = Some(self);
        while let Some(this) = scope {
            if this.name == name {
                return Some(&this.value);
            }
            scope = this.outer;
        }
        None
    }
}

/// One evaluation.
pub(super) struct Eval<'e, 'v> {
    pub(super) functions: &'e cel::Context<'static>,
    pub(super) budget: &'e Budget,
    /// Ties the evaluator to the object it reads.
    pub(super) data: std::marker::PhantomData<&'v ()>,
}

impl<'v> Eval<'_, 'v> {
    /// Takes `cost` off the budget.
    pub(super) fn spend(&self, cost: usize) -> Result<()> {
        if self.budget.spend(cost) {
            Ok(())
        } else {
            Err(Error::OutOfBudget)
        }
    }

    /// The value of an expression.
    pub(super) fn eval(&self, expression: &IdedExpr, scope: &Scope<'_, 'v>) -> Result<Val<'v>> {
        self.spend(1)?;
        match &expression.expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident(name) => match (scope.find(name), super::types::named(name)) {
                (Some(value), _) => Ok(value.clone()),
                (None, Some(name)) => Ok(Val::Type(name)),
                (None, None) => Err(Error::Other(format!("no such attribute(s): {name}"))),
            },
            Expr::Select(select) => {
                let operand = self.eval(&select.operand, scope)?;
                self.select(&operand, &select.field, select.test)
            }
            Expr::List(list) => {
                let mut items = Vec::with_capacity(list.elements.len());
                for (at, element) in list.elements.iter().enumerate() {
                    let value = self.eval(element, scope)?;
                    match value {
                        Val::Optional(inner) if list.optional_indices.contains(&at) => {
                            items.extend(inner.map(|inner| inner.as_ref().clone()));
                        }
                        value => items.push(value),
                    }
                }
                Ok(Val::List(Rc::new(items)))
            }
            Expr::Map(map) => {
                let mut pairs = Vec::with_capacity(map.entries.len());
                for entry in &map.entries {
                    let EntryExpr::MapEntry(entry) = &entry.expr else {
                        return Err(Error::NoSuchOverload);
                    };
                    let key = self.eval(&entry.key, scope)?;
                    match self.eval(&entry.value, scope)? {
                        Val::Optional(inner) if entry.optional => {
                            pairs.extend(inner.map(|inner| (key, inner.as_ref().clone())));
                        }
                        value => pairs.push((key, value)),
                    }
                }
                Ok(Val::Map(Rc::new(pairs)))
            }
            Expr::Comprehension(loop_) => self.comprehension(loop_, scope),
            Expr::Call(call) => {
                let args = call.args.as_slice();
                match (call.func_name.as_str(), args, &call.target) {
                    (operators::CONDITIONAL, [condition, yes, no], None) => {
                        let branch = if self.truth(condition, scope)? { yes } else { no };
                        self.eval(branch, scope)
                    }
                    (operators::LOGICAL_AND, [left, right], None) => self.logical(left, right, false, scope),
                    (operators::LOGICAL_OR, [left, right], None) => self.logical(left, right, true, scope),
                    (operators::NOT_STRICTLY_FALSE, [value], None) => match self.truth(value, scope) {
                        Err(Error::OutOfBudget) => Err(Error::OutOfBudget),
                        truth => Ok(Val::Bool(truth.unwrap_or(true))),
                    },
                    (operators::OPT_SELECT, [operand, field], None) => {
                        let operand = self.eval(operand, scope)?;
                        let Val::Str(field) = self.eval(field, scope)? else {
                            return Err(Error::NoSuchOverload);
                        };
                        self.optional(&operand, |value| self.field(value, &field))
                    }
                    (operators::OPT_INDEX, [operand, index], None) => {
                        let (operand, index) = (self.eval(operand, scope)?, self.eval(index, scope)?);
                        self.optional(&operand, |value| self.element(value, &index))
                    }
                    _ => match self.special_form(call, scope) {
                        Some(result) => result,
                        None => self.apply(call, scope),
                    },
                }
            }
            Expr::Struct(_) | Expr::Unspecified => Err(Error::NoSuchOverload),
        }
    }

    /// The value of an expression that must be true or false.
    pub(super) fn truth(&self, expression: &IdedExpr, scope: &Scope<'_, 'v>) -> Result<bool> {
        match self.eval(expression, scope)? {
            Val::Bool(flag) => Ok(flag),
            _ => Err(Error::NoSuchOverload),
        }
    }

    /// `&&` and `||`: one side may fail where the other decides alone.
    fn logical(
        &self,
        left: &IdedExpr,
        right: &IdedExpr,
        decisive: bool,
        scope: &Scope<'_, 'v>,
    ) -> Result<Val<'v>> {
        let left = self.truth(left, scope);
        if left == Ok(decisive) || left == Err(Error::OutOfBudget) {
            return left.map(Val::Bool);
        }
        match (left, self.truth(right, scope)) {
            (_, Ok(right)) if right == decisive => Ok(Val::Bool(decisive)),
            (Err(error), _) => Err(error),
            (Ok(_), right) => right.map(Val::Bool),
        }
    }

    fn select(&self, operand: &Val<'v>, field: &str, test: bool) -> Result<Val<'v>> {
        if let Val::Optional(inner) = operand {
            let found = match inner {
                Some(inner) => self.field(inner, field)?,
                None => None,
            };
            return Ok(if test {
                Val::Bool(found.is_some())
            } else {
                Val::Optional(found.map(Rc::new))
            });
        }
        let found = self.field(operand, field)?;
        match (test, found) {
            (true, found) => Ok(Val::Bool(found.is_some())),
            (false, Some(value)) => Ok(value),
            (false, None) => Err(Error::Other(format!("no such key: {field}"))),
        }
    }

    /// What `find` finds in a value or in an optional one, as an optional value.
    fn optional(
        &self,
        operand: &Val<'v>,
        find: impl Fn(&Val<'v>) -> Result<Option<Val<'v>>>,
    ) -> Result<Val<'v>> {
        let found = match operand {
            Val::Optional(None) => None,
            Val::Optional(Some(inner)) => find(inner)?,
            value => find(value)?,
        };
        Ok(Val::Optional(found.map(Rc::new)))
    }

    fn literal(&self, literal: &LiteralValue) -> Result<Val<'v>> {
        Ok(match literal {
            LiteralValue::Null => Val::Null,
            LiteralValue::Boolean(flag) => Val::Bool(*flag.inner()),
            LiteralValue::Int(number) => Val::Int(*number.inner()),
            LiteralValue::UInt(number) => Val::Uint(*number.inner()),
            LiteralValue::Double(number) => Val::Double(*number.inner()),
            LiteralValue::String(text) => {
                self.spend(text.inner().len() / 10)?;
                Val::str(text.inner())
            }
            LiteralValue::Bytes(bytes) => Val::Bytes(bytes.inner().into()),
        })
    }
}
