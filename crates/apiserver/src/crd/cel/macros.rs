//! Loops, and the forms that bind names.

use std::rc::Rc;

use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, operators};

use super::eval::{Error, Eval, Result, Scope};
use super::value::Val;

impl<'v> Eval<'_, 'v> {
    /// A loop that the parser made of `all`, `exists`, `exists_one`, `map` or `filter`.
    pub(super) fn comprehension(
        &self,
        expression: &ComprehensionExpr,
        scope: &Scope<'_, 'v>,
    ) -> Result<Val<'v>> {
        let range = self.eval(&expression.iter_range, scope)?;
        let is_map = range.type_name() == "map";
        let init = self.eval(&expression.accu_init, scope)?;
        let mut result = Scope {
            name: &expression.accu_var,
            value: init,
            outer: Some(scope),
        };
        for (key, item) in self.pairs(&range)? {
            if !self.truth(&expression.loop_cond, &result)? {
                break;
            }
            // With one name a loop over a map goes over its keys.
            let (first, second) = match (&expression.iter_var2, is_map) {
                (Some(name), _) => (key, Some((name.as_str(), item))),
                (None, true) => (key, None),
                (None, false) => (item, None),
            };
            let value = {
                let inner = Scope {
                    name: &expression.iter_var,
                    value: first,
                    outer: Some(&result),
                };
                match second {
                    None => self.step(expression, &inner, &result.value)?,
                    Some((name, value)) => {
                        let innermost = Scope {
                            name,
                            value,
                            outer: Some(&inner),
                        };
                        self.step(expression, &innermost, &result.value)?
                    }
                }
            };
            match value {
                Step::Replace(value) => result.value = value,
                // The list is ours alone, so that nothing is copied.
                Step::Append(item) => match &mut result.value {
                    Val::List(items) => Rc::make_mut(items).push(item),
                    _ => return Err(Error::NoSuchOverload),
                },
                Step::Keep => {}
            }
        }
        self.eval(&expression.result, &result)
    }

    /// One round. Rounds that only append to a list say so, and the list is not built anew each time.
    fn step(
        &self,
        expression: &ComprehensionExpr,
        scope: &Scope<'_, 'v>,
        result: &Val<'v>,
    ) -> Result<Step<'v>> {
        if !matches!(result, Val::List(_)) {
            return self.eval(&expression.loop_step, scope).map(Step::Replace);
        }
        if let Some(item) = appended(&expression.loop_step, &expression.accu_var) {
            return self.eval(item, scope).map(Step::Append);
        }
        if let Expr::Call(call) = &expression.loop_step.expr
            && let (operators::CONDITIONAL, [condition, yes, no]) =
                (call.func_name.as_str(), call.args.as_slice())
            && let Some(item) = appended(yes, &expression.accu_var)
            && is_ident(no, &expression.accu_var)
        {
            return match self.truth(condition, scope)? {
                true => self.eval(item, scope).map(Step::Append),
                false => Ok(Step::Keep),
            };
        }
        self.eval(&expression.loop_step, scope).map(Step::Replace)
    }

    /// Forms that the parser takes for function calls: `optMap` and loops with two names.
    pub(super) fn special_form(&self, call: &CallExpr, scope: &Scope<'_, 'v>) -> Option<Result<Val<'v>>> {
        let target = call.target.as_deref()?;
        match (call.func_name.as_str(), call.args.as_slice()) {
            ("optMap" | "optFlatMap", [name, body]) => {
                let flat = call.func_name == "optFlatMap";
                Some(self.opt_map(target, ident(name)?, body, flat, scope))
            }
            ("all" | "exists" | "existsOne" | "exists_one", [first, second, body]) => {
                let names = (ident(first)?, ident(second)?);
                Some(self.quantify(&call.func_name, target, names, body, scope))
            }
            _ => None,
        }
    }

    fn opt_map(
        &self,
        target: &IdedExpr,
        name: &str,
        body: &IdedExpr,
        flat: bool,
        scope: &Scope<'_, 'v>,
    ) -> Result<Val<'v>> {
        match self.eval(target, scope)? {
            Val::Optional(None) => Ok(Val::Optional(None)),
            Val::Optional(Some(inner)) => {
                let value = inner.as_ref().clone();
                let result = self.eval(
                    body,
                    &Scope {
                        name,
                        value,
                        outer: Some(scope),
                    },
                )?;
                if flat {
                    Ok(result)
                } else {
                    Ok(Val::Optional(Some(Rc::new(result))))
                }
            }
            _ => Err(Error::NoSuchOverload),
        }
    }

    /// `all`, `exists` and `existsOne` over places and elements, or keys and values.
    fn quantify(
        &self,
        kind: &str,
        target: &IdedExpr,
        names: (&str, &str),
        body: &IdedExpr,
        scope: &Scope<'_, 'v>,
    ) -> Result<Val<'v>> {
        let mut hits = 0;
        let mut failure = None;
        for (key, item) in self.pairs(&self.eval(target, scope)?)? {
            let outer = Scope {
                name: names.0,
                value: key,
                outer: Some(scope),
            };
            let inner = Scope {
                name: names.1,
                value: item,
                outer: Some(&outer),
            };
            match (self.truth(body, &inner), kind) {
                (Ok(false), "all") => return Ok(Val::Bool(false)),
                (Ok(true), "exists") => return Ok(Val::Bool(true)),
                (Ok(true), "existsOne" | "exists_one") => hits += 1,
                (Err(Error::OutOfBudget), _) => return Err(Error::OutOfBudget),
                (Err(error), _) => failure = Some(error),
                _ => {}
            }
        }
        match (failure, kind) {
            (Some(error), _) => Err(error),
            (None, "all") => Ok(Val::Bool(true)),
            (None, "exists") => Ok(Val::Bool(false)),
            (None, _) => Ok(Val::Bool(hits == 1)),
        }
    }
}

/// What a round of a loop does to the result.
enum Step<'v> {
    Replace(Val<'v>),
    Append(Val<'v>),
    Keep,
}

/// The element in `result + [element]`.
pub(super) fn appended<'e>(expression: &'e IdedExpr, result: &str) -> Option<&'e IdedExpr> {
    let Expr::Call(call) = &expression.expr else {
        return None;
    };
    let (operators::ADD, [left, right]) = (call.func_name.as_str(), call.args.as_slice()) else {
        return None;
    };
    match &right.expr {
        Expr::List(list) if is_ident(left, result) && list.optional_indices.is_empty() => {
            match &list.elements[..] {
                [one] => Some(one),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_ident(expression: &IdedExpr, name: &str) -> bool {
    ident(expression) == Some(name)
}

/// The name, if the expression is nothing but one.
pub(super) fn ident(expression: &IdedExpr) -> Option<&str> {
    match &expression.expr {
        Expr::Ident(name) => Some(name),
        _ => None,
    }
}
