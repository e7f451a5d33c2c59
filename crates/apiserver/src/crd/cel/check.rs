//! What can be told about a rule before it is used.
//!
//! This is not the real server's type checker, but it finds what people get wrong: syntax, names and fields that do not
//! exist, comparisons of different types, and rules that are not true or false.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::escape::unescape;
use super::macros::{appended, ident};
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
    let variables = Variables {
        self_type,
        old_is_optional: rule.optional_old_self,
    };
    let mut problems = Vec::new();
    let problem = |member, detail| Problem { member, detail };
    if rule.rule.trim().is_empty() {
        return problems;
    }
    match variables.check(&rule.rule) {
        Err(text) => problems.push(problem("rule", format!("compilation failed: {text}"))),
        Ok(Type::Bool | Type::Dyn) => {}
        Ok(_) => problems.push(problem("rule", "cel expression must evaluate to a bool".into())),
    }
    if problems.is_empty() && !rule.message_expression.trim().is_empty() {
        match variables.check(&rule.message_expression) {
            Err(text) => {
                let detail = format!("messageExpression compilation failed: {text}");
                problems.push(problem("messageExpression", detail));
            }
            Ok(Type::Str | Type::Dyn) => {}
            Ok(_) => {
                let detail = "messageExpression must evaluate to a string".into();
                problems.push(problem("messageExpression", detail));
            }
        }
    }
    problems
}

/// What `self` and `oldSelf` are.
struct Variables<'n> {
    self_type: Type<'n>,
    old_is_optional: bool,
}

impl<'n> Variables<'n> {
    fn check(&self, source: &str) -> Result<Type<'n>, String> {
        let expression = parse(source)?;
        let checker = Checker {
            source,
            variables: self,
            problems: RefCell::default(),
            seen: RefCell::default(),
        };
        let ty = checker.infer(&expression, None);
        let problems = checker.problems.into_inner();
        match problems.is_empty() {
            true => Ok(ty),
            // In the order of the source.
            false => Err(problems.into_values().collect::<Vec<_>>().join("\n")),
        }
    }

    fn get(&self, name: &str) -> Option<Type<'n>> {
        match name {
            "self" => Some(self.self_type.clone()),
            "oldSelf" if self.old_is_optional => Some(Type::Optional(Box::new(self.self_type.clone()))),
            "oldSelf" => Some(self.self_type.clone()),
            name => types::named(name).map(|_| Type::Dyn),
        }
    }
}

/// Names that are bound where an expression stands.
struct Names<'s, 'n> {
    name: &'s str,
    ty: Type<'n>,
    outer: Option<&'s Names<'s, 'n>>,
}

/// The check of one expression. What is wrong makes a value of unknown type, so that all of it is found.
struct Checker<'s, 'n> {
    source: &'s str,
    variables: &'s Variables<'n>,
    /// Messages by their place.
    problems: RefCell<BTreeMap<usize, String>>,
    /// Up to where each wrong name was found: the next time the one behind it is meant.
    seen: RefCell<HashMap<String, usize>>,
}

impl<'n> Checker<'_, 'n> {
    fn infer(&self, expression: &IdedExpr, names: Option<&Names<'_, 'n>>) -> Type<'n> {
        match &expression.expr {
            Expr::Literal(literal) => literal_type(literal),
            Expr::Ident(name) => self.name(name, names),
            Expr::Select(select) => {
                let operand = self.infer(&select.operand, names);
                let field = self.select(&operand, &select.field, select.test);
                if select.test { Type::Bool } else { field }
            }
            Expr::List(list) => {
                let items: Vec<_> = list
                    .elements
                    .iter()
                    .map(|element| self.infer(element, names))
                    .collect();
                // Elements of several types make a list of anything.
                let same = items.windows(2).all(|pair| pair[0].name() == pair[1].name());
                Type::List(Box::new(
                    items.into_iter().next().filter(|_| same).unwrap_or(Type::Dyn),
                ))
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        self.infer(&entry.key, names);
                        self.infer(&entry.value, names);
                    }
                }
                Type::Map(Box::new(Type::Dyn))
            }
            Expr::Comprehension(loop_) => {
                let item = match self.infer(&loop_.iter_range, names) {
                    Type::List(item) => *item,
                    Type::Map(_) | Type::Object(..) => Type::Str,
                    _ => Type::Dyn,
                };
                let result = self.infer(&loop_.accu_init, names);
                let outer = Names {
                    name: &loop_.accu_var,
                    ty: result.clone(),
                    outer: names,
                };
                let inner = Names {
                    name: &loop_.iter_var,
                    ty: item,
                    outer: Some(&outer),
                };
                match (appended(&loop_.loop_step, &loop_.accu_var), result) {
                    (Some(element), Type::List(_)) => Type::List(Box::new(self.infer(element, Some(&inner)))),
                    (_, result) => {
                        self.infer(&loop_.loop_step, Some(&inner));
                        match result {
                            // `exists_one` counts, and is true or false in the end.
                            Type::Int => Type::Bool,
                            Type::List(_) => Type::Dyn,
                            other => other,
                        }
                    }
                }
            }
            Expr::Call(call) => self.call(call, names),
            Expr::Struct(_) | Expr::Unspecified => Type::Dyn,
        }
    }

    fn name(&self, name: &str, names: Option<&Names<'_, 'n>>) -> Type<'n> {
        match bound(name, names)
            .map(|found| found.ty.clone())
            .or_else(|| self.variables.get(name))
        {
            Some(ty) => ty,
            None => {
                let at = self.find(name, false);
                self.problem(at, &format!("undeclared reference to '{name}' (in container '')"))
            }
        }
    }

    fn select(&self, operand: &Type<'n>, field: &str, test: bool) -> Type<'n> {
        if let Some(ty) = operand.field(&unescape(field)) {
            return ty;
        }
        let at = match test.then(|| self.source.find("has(")).flatten() {
            Some(at) => at + "has".len(),
            None => self.find(field, true).saturating_sub(1),
        };
        match operand.name() {
            None => self.problem(at, &format!("undefined field '{field}'")),
            Some(name) => self.problem(at, &format!("type '{name}' does not support field selection")),
        }
    }

    fn call(&self, call: &CallExpr, names: Option<&Names<'_, 'n>>) -> Type<'n> {
        if let Some(result) = self.binding(call, names) {
            return result;
        }
        let name = match call.target.as_deref().and_then(ident) {
            Some(space) if types::is_namespace(space) && bound(space, names).is_none() => {
                format!("{space}.{}", call.func_name)
            }
            _ => {
                if let Some(target) = &call.target {
                    self.infer(target, names);
                }
                call.func_name.clone()
            }
        };
        let args: Vec<Type<'n>> = call.args.iter().map(|arg| self.infer(arg, names)).collect();
        match (name.as_str(), args.as_slice()) {
            (operators::EQUALS | operators::NOT_EQUALS, [left, right]) => {
                self.same_type(&name, left, right);
                Type::Bool
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, args) => {
                for (arg, expression) in args.iter().zip(&call.args) {
                    self.truth(arg, expression);
                }
                Type::Bool
            }
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS
                | operators::IN
                | operators::NOT_STRICTLY_FALSE,
                _,
            ) => Type::Bool,
            (operators::CONDITIONAL, [_, yes, _]) => yes.clone(),
            (operators::ADD, [Type::Str, _]) => Type::Str,
            (operators::ADD | operators::SUBSTRACT | operators::MULTIPLY, [Type::Int, Type::Int]) => {
                Type::Int
            }
            (operators::INDEX, [Type::List(item) | Type::Map(item), _]) => item.as_ref().clone(),
            (operators::OPT_SELECT, [operand, _]) => match call.args.get(1).map(|field| &field.expr) {
                Some(Expr::Literal(LiteralValue::String(field))) => {
                    match self.select(operand, field.inner(), false) {
                        optional @ Type::Optional(_) => optional,
                        other => Type::Optional(Box::new(other)),
                    }
                }
                _ => Type::Dyn,
            },
            (name, _) => types::result(name).unwrap_or_else(|| {
                let at = self.find(&call.func_name, call.target.is_some()) + call.func_name.len();
                self.problem(
                    at,
                    &format!("undeclared reference to '{}' (in container '')", call.func_name),
                )
            }),
        }
    }

    /// Forms that bind names but look like calls.
    fn binding(&self, call: &CallExpr, names: Option<&Names<'_, 'n>>) -> Option<Type<'n>> {
        let target = call.target.as_deref()?;
        match (call.func_name.as_str(), call.args.as_slice()) {
            ("optMap" | "optFlatMap", [name, body]) => {
                let name = ident(name)?;
                let ty = if let Type::Optional(inner) = self.infer(target, names) {
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
                );
                Some(Type::Dyn)
            }
            ("all" | "exists" | "existsOne" | "exists_one", [first, second, body]) => {
                let (first, second) = (ident(first)?, ident(second)?);
                let range = self.infer(target, names);
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
                self.infer(
                    body,
                    Some(&Names {
                        name: second,
                        ty: item,
                        outer: Some(&outer),
                    }),
                );
                Some(Type::Bool)
            }
            _ => None,
        }
    }

    fn same_type(&self, operator: &str, left: &Type<'n>, right: &Type<'n>) {
        if let (Some(left), Some(right)) = (left.name(), right.name())
            && left != right
        {
            let at = self.source.find(operator.trim_matches('_')).unwrap_or(0);
            let text = format!("found no matching overload for '{operator}' applied to '({left}, {right})'");
            self.problem(at, &text);
        }
    }

    fn truth(&self, ty: &Type<'n>, expression: &IdedExpr) {
        if let Some(found) = ty.name().filter(|name| name != "bool") {
            let at = match &expression.expr {
                Expr::Select(select) => self.find(&select.field, true).saturating_sub(1),
                Expr::Ident(name) => self.find(name, false),
                _ => 0,
            };
            self.problem(at, &format!("expected type 'bool' but found '{found}'"));
        }
    }

    /// Where a wrong name stands in the source.
    fn find(&self, name: &str, after_dot: bool) -> usize {
        let mut seen = self.seen.borrow_mut();
        let start = seen.get(name).copied().unwrap_or(0);
        let at = word(self.source, name, start, after_dot).unwrap_or(0);
        seen.insert(name.to_owned(), at + name.len());
        at
    }

    /// Notes what is wrong at a byte of the source; the type of what stands there is not known.
    fn problem(&self, at: usize, message: &str) -> Type<'n> {
        let before = &self.source[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let text = located(self.source, line, column, message);
        self.problems.borrow_mut().entry(at).or_insert(text);
        Type::Dyn
    }
}

fn bound<'s, 'n>(name: &str, mut names: Option<&'s Names<'s, 'n>>) -> Option<&'s Names<'s, 'n>> {
    while let Some(this) = names {
        if this.name == name {
            return names;
        }
        names = this.outer;
    }
    None
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
