//! What can be told about a rule before it is used.
//!
//! This is not the real server's type checker, but it finds what people get wrong: syntax, names and fields that do not
//! exist, comparisons of different types, and rules that are not true or false.

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::escape::unescape;
use super::macros::ident;
use super::source::{located, word};
use super::types::{self, Type};
use super::{Rule, parse};
use crate::crd::schema::Node;

/// What is wrong with a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The member of the rule that is wrong: `rule` or `messageExpression`.
    pub(crate) member: &'static str,
    /// Why.
    pub(crate) detail: String,
}

/// All that is wrong with a rule on values of `schema`. `root` says that those are whole resources.
pub(crate) fn check(rule: &Rule, schema: &Node, root: bool) -> Vec<Problem> {
    let self_type = Type::of(schema, root || schema.embedded);
    let checker = Checker {
        old_is_optional: rule.optional_old_self,
        self_type,
    };
    let mut problems = Vec::new();
    let problem = |member, detail| Problem { member, detail };
    if rule.rule.trim().is_empty() {
        return problems;
    }
    match checker.expression(&rule.rule) {
        Err(text) => problems.push(problem("rule", format!("compilation failed: {text}"))),
        Ok(Type::Bool | Type::Dyn) => {}
        Ok(_) => problems.push(problem("rule", "cel expression must evaluate to a bool".into())),
    }
    if problems.is_empty() && !rule.message_expression.trim().is_empty() {
        match checker.expression(&rule.message_expression) {
            Err(text) => {
                let detail = format!("messageExpression compilation failed: {text}");
                problems.push(problem("messageExpression", detail));
            }
            Ok(Type::Str | Type::Dyn) => {}
            Ok(_) => {
                problems.push(problem(
                    "messageExpression",
                    "messageExpression must evaluate to a string".into(),
                ));
            }
        }
    }
    problems
}

struct Checker<'n> {
    self_type: Type<'n>,
    old_is_optional: bool,
}

/// Names that are bound where an expression stands.
struct Names<'s, 'n> {
    name: &'s str,
    ty: Type<'n>,
    outer: Option<&'s Names<'s, 'n>>,
}

impl<'n> Checker<'n> {
    fn expression(&self, source: &str) -> Result<Type<'n>, String> {
        let expression = parse(source)?;
        Source {
            text: source,
            checker: self,
        }
        .infer(&expression, None)
    }

    fn variable(&self, name: &str) -> Option<Type<'n>> {
        match name {
            "self" => Some(self.self_type.clone()),
            "oldSelf" if self.old_is_optional => Some(Type::Optional(Box::new(self.self_type.clone()))),
            "oldSelf" => Some(self.self_type.clone()),
            name => types::named(name).map(|_| Type::Dyn),
        }
    }
}

/// One expression that is being checked.
struct Source<'s, 'n> {
    text: &'s str,
    checker: &'s Checker<'n>,
}

impl<'n> Source<'_, 'n> {
    fn infer(&self, expression: &IdedExpr, names: Option<&Names<'_, 'n>>) -> Result<Type<'n>, String> {
        match &expression.expr {
            Expr::Literal(literal) => Ok(literal_type(literal)),
            Expr::Ident(name) => self.name(name, names),
            Expr::Select(select) => {
                let operand = self.infer(&select.operand, names)?;
                let field = self.select(&operand, &select.field)?;
                Ok(if select.test { Type::Bool } else { field })
            }
            Expr::List(list) => {
                let mut item = None;
                for element in &list.elements {
                    item.get_or_insert(self.infer(element, names)?);
                }
                // Elements of several types make a list of anything.
                Ok(Type::List(Box::new(if list.elements.len() == 1 {
                    item.unwrap_or(Type::Dyn)
                } else {
                    Type::Dyn
                })))
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.infer(&entry.key, names)?;
                        self.infer(&entry.value, names)?;
                    }
                }
                Ok(Type::Map(Box::new(Type::Dyn)))
            }
            Expr::Comprehension(loop_) => {
                let range = self.infer(&loop_.iter_range, names)?;
                let result = self.infer(&loop_.accu_init, names)?;
                let item = match range {
                    Type::List(item) => *item,
                    Type::Map(_) | Type::Object(..) => Type::Str,
                    _ => Type::Dyn,
                };
                let is_list = matches!(result, Type::List(_));
                let accu = if is_list { Type::Dyn } else { result };
                let outer = Names {
                    name: &loop_.accu_var,
                    ty: accu.clone(),
                    outer: names,
                };
                let inner = Names {
                    name: &loop_.iter_var,
                    ty: item,
                    outer: Some(&outer),
                };
                self.infer(&loop_.loop_step, Some(&inner))?;
                self.infer(&loop_.result, Some(&outer))?;
                // `exists_one` counts, and is true or false in the end.
                Ok(match accu {
                    Type::Int => Type::Bool,
                    other => other,
                })
            }
            Expr::Call(call) => self.call(call, names),
            Expr::Struct(_) | Expr::Unspecified => Ok(Type::Dyn),
        }
    }

    fn name(&self, name: &str, mut names: Option<&Names<'_, 'n>>) -> Result<Type<'n>, String> {
        while let Some(this) = names {
            if this.name == name {
                return Ok(this.ty.clone());
            }
            names = this.outer;
        }
        self.checker.variable(name).ok_or_else(|| {
            let at = word(self.text, name, "").unwrap_or(0);
            self.problem(at, &format!("undeclared reference to '{name}' (in container '')"))
        })
    }

    fn select(&self, operand: &Type<'n>, field: &str) -> Result<Type<'n>, String> {
        operand.field(&unescape(field)).ok_or_else(|| {
            let at = word(self.text, field, ".").map_or(0, |at| at.saturating_sub(1));
            match operand {
                Type::Object(..) | Type::Meta | Type::Optional(_) => {
                    self.problem(at, &format!("undefined field '{field}'"))
                }
                other => {
                    let name = other.scalar_name().unwrap_or("list");
                    self.problem(at, &format!("type '{name}' does not support field selection"))
                }
            }
        })
    }

    fn call(&self, call: &CallExpr, names: Option<&Names<'_, 'n>>) -> Result<Type<'n>, String> {
        if let Some(result) = self.binding(call, names) {
            return result;
        }
        let name = match call.target.as_deref().and_then(ident) {
            Some(space) if types::is_namespace(space) && !is_bound(space, names) => {
                format!("{space}.{}", call.func_name)
            }
            _ => {
                if let Some(target) = &call.target {
                    self.infer(target, names)?;
                }
                call.func_name.clone()
            }
        };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.infer(arg, names)?);
        }
        match (name.as_str(), args.as_slice()) {
            (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
                self.same_type(&name, left, right)?;
                Ok(Type::Bool)
            }
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS
                | operators::LOGICAL_AND
                | operators::LOGICAL_OR
                | operators::LOGICAL_NOT
                | operators::IN
                | operators::NOT_STRICTLY_FALSE,
                _,
            ) => Ok(Type::Bool),
            (operators::CONDITIONAL, [_, yes, _]) => Ok(yes.clone()),
            (operators::ADD, [Type::Str, _]) => Ok(Type::Str),
            (operators::ADD | operators::SUBSTRACT | operators::MULTIPLY, [Type::Int, Type::Int]) => {
                Ok(Type::Int)
            }
            (operators::INDEX, [Type::List(item) | Type::Map(item), _]) => Ok(item.as_ref().clone()),
            (operators::OPT_SELECT, [operand, _]) => match call.args.get(1).map(|field| &field.expr) {
                Some(Expr::Literal(LiteralValue::String(field))) => {
                    let field = self.select(operand, field.inner())?;
                    Ok(match field {
                        optional @ Type::Optional(_) => optional,
                        other => Type::Optional(Box::new(other)),
                    })
                }
                _ => Ok(Type::Dyn),
            },
            ("orValue", [_, ..]) | ("value", _) => Ok(Type::Dyn),
            (name, _) => types::result(name).ok_or_else(|| {
                let at = word(self.text, &call.func_name, "").map_or(0, |at| at + call.func_name.len());
                self.problem(at, &format!("undeclared reference to '{name}' (in container '')"))
            }),
        }
    }

    /// Forms that bind names but look like calls.
    fn binding(&self, call: &CallExpr, names: Option<&Names<'_, 'n>>) -> Option<Result<Type<'n>, String>> {
        let target = call.target.as_deref()?;
        match (call.func_name.as_str(), call.args.as_slice()) {
            ("bind", [name, init, body]) if ident(target) == Some("cel") => {
                let name = ident(name)?;
                Some(self.infer(init, names).and_then(|ty| {
                    self.infer(
                        body,
                        Some(&Names {
                            name,
                            ty,
                            outer: names,
                        }),
                    )
                }))
            }
            ("optMap" | "optFlatMap", [name, body]) => {
                let name = ident(name)?;
                Some(self.infer(target, names).and_then(|ty| {
                    let ty = if let Type::Optional(inner) = ty {
                        *inner
                    } else {
                        Type::Dyn
                    };
                    self.infer(
                        body,
                        Some(&Names {
                            name,
                            ty,
                            outer: names,
                        }),
                    )
                    .map(|_| Type::Dyn)
                }))
            }
            ("all" | "exists" | "existsOne" | "exists_one", [first, second, body]) => {
                let (first, second) = (ident(first)?, ident(second)?);
                Some(self.infer(target, names).and_then(|range| {
                    let item = if let Type::List(item) | Type::Map(item) = range {
                        *item
                    } else {
                        Type::Dyn
                    };
                    let outer = Names {
                        name: first,
                        ty: Type::Dyn,
                        outer: names,
                    };
                    let inner = Names {
                        name: second,
                        ty: item,
                        outer: Some(&outer),
                    };
                    self.infer(body, Some(&inner)).map(|_| Type::Bool)
                }))
            }
            _ => None,
        }
    }

    fn same_type(&self, operator: &str, left: &Type<'n>, right: &Type<'n>) -> Result<(), String> {
        match (left.scalar_name(), right.scalar_name()) {
            (Some(left), Some(right)) if left != right => {
                let symbol = operator.trim_matches('_');
                let at = self.text.find(symbol).unwrap_or(0);
                let text =
                    format!("found no matching overload for '{operator}' applied to '({left}, {right})'");
                Err(self.problem(at, &text))
            }
            _ => Ok(()),
        }
    }

    /// The message for what is wrong at a byte of the source.
    fn problem(&self, at: usize, message: &str) -> String {
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        located(self.text, line, column, message)
    }
}

fn is_bound(name: &str, mut names: Option<&Names<'_, '_>>) -> bool {
    while let Some(this) = names {
        if this.name == name {
            return true;
        }
        names = this.outer;
    }
    false
}

fn literal_type<'n>(literal: &LiteralValue) -> Type<'n> {
    match literal {
        LiteralValue::Null => Type::Null,
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::UInt(_) => Type::Uint,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::String(_) => Type::Str,
        LiteralValue::Bytes(_) => Type::Bytes,
    }
}
