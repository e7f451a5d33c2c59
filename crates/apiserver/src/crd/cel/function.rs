//! Functions: the common ones done here, all others by `kube-cel`.

use std::rc::Rc;

use kube_cel::cel;
use kube_cel::cel::common::ast::{CallExpr, Expr, IdedExpr};

use super::eval::{Error, Eval, Result, Scope};
use super::value::Val;
use model::regexp::Regexp;

/// Where the arguments of functions are put for `kube-cel` to find them.
const ARGUMENTS: [&str; 6] = ["@0", "@1", "@2", "@3", "@4", "@5"];

/// The longest list that `lists.range` makes.
const MAX_RANGE: i64 = 100_000;

impl<'v> Eval<'_, 'v> {
    /// An operator, or a function with or without a target.
    pub(super) fn apply(&self, call: &CallExpr, scope: &Scope<'_, 'v>) -> Result<Val<'v>> {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.eval(arg, scope)?);
        }
        let Some(target) = &call.target else {
            return match self.operator(&call.func_name, &args) {
                Some(result) => result,
                None => self.call(&call.func_name, None, args),
            };
        };
        // `math.greatest(...)`: what stands before the dot is part of the name, not a value.
        if let Expr::Ident(space) = &target.expr
            && super::types::is_namespace(space)
            && scope.find(space).is_none()
        {
            return self.call(&format!("{space}.{}", call.func_name), None, args);
        }
        let target = self.eval(target, scope)?;
        self.call(&call.func_name, Some(target), args)
    }

    /// Calls a function by its name.
    pub(super) fn call(&self, name: &str, target: Option<Val<'v>>, args: Vec<Val<'v>>) -> Result<Val<'v>> {
        let all: Vec<Val<'v>> = target.iter().cloned().chain(args).collect();
        if let Some(result) = self.native(name, &all) {
            return result;
        }
        self.guard(name, &all)?;
        self.foreign(name, target.is_some(), all)
    }

    /// Functions that are done here, because they are common or because values of ours need them.
    fn native(&self, name: &str, args: &[Val<'v>]) -> Option<Result<Val<'v>>> {
        let text = |flag: bool, cost: usize| self.spend(cost / 10).map(|()| Val::Bool(flag));
        Some(match (name, args) {
            ("size", [value]) => match value.size() {
                Some(size) => Ok(Val::Int(size as i64)),
                None => Err(Error::NoSuchOverload),
            },
            ("startsWith", [Val::Str(a), Val::Str(b)]) => text(a.starts_with(b.as_ref()), b.len()),
            ("endsWith", [Val::Str(a), Val::Str(b)]) => text(a.ends_with(b.as_ref()), b.len()),
            ("contains", [Val::Str(a), Val::Str(b)]) => text(a.contains(b.as_ref()), a.len() + b.len()),
            ("matches", [Val::Str(text), Val::Str(pattern)]) => self.matches(text, pattern),
            ("type", [value]) => Ok(Val::Type(value.type_name())),
            ("dyn", [value]) => Ok(value.clone()),
            ("bool", [Val::Bool(flag)]) => Ok(Val::Bool(*flag)),
            ("bool", [Val::Str(text)]) => match text.as_ref() {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
                other => Err(Error::Other(format!(
                    "type conversion error from string to bool: {other}"
                ))),
            },
            ("string", [Val::Str(text)]) => Ok(Val::Str(text.clone())),
            ("string", [Val::Bool(flag)]) => Ok(Val::str(if *flag { "true" } else { "false" })),
            ("string", [Val::Foreign(cel::Value::Duration(length))]) => {
                let seconds = length.num_nanoseconds().unwrap_or(i64::MAX) as f64 / 1e9;
                Ok(Val::str(&format!("{seconds}s")))
            }
            ("string", [Val::Int(number)]) => Ok(Val::str(&number.to_string())),
            ("optional.of", [value]) => Ok(Val::Optional(Some(Rc::new(value.clone())))),
            ("optional.none", []) => Ok(Val::Optional(None)),
            ("hasValue", [Val::Optional(inner)]) => Ok(Val::Bool(inner.is_some())),
            ("value", [Val::Optional(inner)]) => match inner {
                Some(inner) => Ok(inner.as_ref().clone()),
                None => Err(Error::Other("optional.none() dereference".into())),
            },
            ("orValue", [Val::Optional(inner), other]) => Ok(inner
                .as_ref()
                .map_or_else(|| other.clone(), |inner| inner.as_ref().clone())),
            ("or", [Val::Optional(inner), other @ Val::Optional(_)]) => Ok(match inner {
                Some(_) => Val::Optional(inner.clone()),
                None => other.clone(),
            }),
            _ => return None,
        })
    }

    fn matches(&self, text: &str, pattern: &str) -> Result<Val<'v>> {
        // Compiling takes far longer than matching.
        self.spend(100 + pattern.len() + text.len() * (1 + pattern.len() / 20) / 10)?;
        match Regexp::new(pattern) {
            Ok(pattern) => Ok(Val::Bool(pattern.is_match(text))),
            Err(error) => Err(Error::Other(error.to_string())),
        }
    }

    /// Refuses calls whose result would be out of all proportion to what goes in.
    fn guard(&self, name: &str, args: &[Val<'v>]) -> Result<()> {
        match (name, args) {
            ("lists.range", [Val::Int(count)]) if *count > MAX_RANGE => Err(Error::OutOfBudget),
            ("lists.range", [Val::Int(count)]) => self.spend(usize::try_from(*count).unwrap_or(0)),
            ("replace", [Val::Str(text), Val::Str(_), Val::Str(new), ..]) => {
                self.spend(text.len().saturating_mul(new.len() + 1) / 10)
            }
            _ => Ok(()),
        }
    }

    /// An operator on values that only `kube-cel` knows.
    pub(super) fn delegate(&self, name: &str, args: Vec<Val<'v>>) -> Result<Val<'v>> {
        self.foreign(name, false, args)
    }

    fn foreign(&self, name: &str, has_target: bool, args: Vec<Val<'v>>) -> Result<Val<'v>> {
        self.spend(5)?;
        if args.len() > ARGUMENTS.len() {
            return Err(Error::NoSuchOverload);
        }
        let mut context = self.functions.new_inner_scope();
        let mut idents = Vec::with_capacity(args.len());
        for (arg, name) in args.iter().zip(ARGUMENTS) {
            context.add_variable_from_value(name, self.export(arg)?);
            idents.push(IdedExpr {
                id: 0,
                expr: Expr::Ident(name.to_owned()),
            });
        }
        let target = has_target.then(|| Box::new(idents.remove(0)));
        let call = CallExpr {
            func_name: name.to_owned(),
            target,
            args: idents,
        };
        let expression = IdedExpr {
            id: 0,
            expr: Expr::Call(call),
        };
        let result = cel::Value::resolve(&expression, &context).map_err(|error| translate(name, error))?;
        self.import(result)
    }
}

/// A failure of `kube-cel` in the words of the real server.
fn translate(function: &str, error: cel::ExecutionError) -> Error {
    use cel::ExecutionError as E;
    let converted = match function {
        "duration" => Some("google.protobuf.Duration"),
        "timestamp" => Some("google.protobuf.Timestamp"),
        "int" | "uint" | "double" => Some(function),
        _ => None,
    };
    if let (Some(wanted), E::FunctionError { .. }) = (converted, &error) {
        return Error::Other(format!("type conversion error from 'string' to '{wanted}'"));
    }
    match error {
        E::NoSuchOverload
        | E::UnsupportedBinaryOperator(..)
        | E::UnsupportedUnaryOperator(..)
        | E::ValuesNotComparable(..)
        | E::UndeclaredReference(_)
        | E::UnexpectedType { .. }
        | E::UnsupportedTargetType { .. }
        | E::NotSupportedAsMethod { .. }
        | E::InvalidArgumentCount { .. }
        | E::MissingArgumentOrTarget => Error::NoSuchOverload,
        E::NoSuchKey(key) => Error::Other(format!("no such key: {key}")),
        E::DivisionByZero(_) => Error::Other("division by zero".into()),
        E::RemainderByZero(_) => Error::Other("modulus by zero".into()),
        E::Overflow(..) => Error::Other("integer overflow".into()),
        E::FunctionError { message, .. } => Error::Other(message),
        other => Error::Other(other.to_string()),
    }
}
