//! Pipelines, commands, calls.

use super::check::Expected;
use super::{At, Exec, Slot};
use crate::error::Error;
use crate::function::{Call, Function, Special};
use crate::parse::Number;
use crate::parse::ast::{Arg, ArgKind, Command, Pipe};
use crate::value::{IntType, Type, Value};

/// How many arguments are kept without a heap block.
const FEW: usize = 6;

impl<'t> Exec<'t, '_, '_> {
    /// What the last command gives. A nil `interface {}` is no value from here on.
    pub(super) fn pipeline(&mut self, dot: &Slot, pipe: &'t Pipe) -> Result<Value, Error> {
        self.at = At::Pipe(pipe);
        let mut last = None;
        for command in &pipe.commands {
            let value = match self.command(dot, command, last)? {
                Value::Nil => Value::None,
                value => value,
            };
            last = Some(value);
        }
        let value = last.unwrap_or_default();
        for variable in &pipe.variables {
            let slot = Slot::plain(value.clone());
            if pipe.assigns {
                self.set_variable(variable.id, &variable.name, slot)?;
            } else {
                self.variables.push((variable.id, slot));
            }
        }
        Ok(value)
    }

    fn command(&mut self, dot: &Slot, command: &'t Command, last: Option<Value>) -> Result<Value, Error> {
        let first = &command.args[0];
        match &first.kind {
            ArgKind::Field(fields) => {
                self.at = At::Arg(first);
                return self.field_chain(dot, &dot.value, dot.boxed, first, fields, &command.args, last);
            }
            ArgKind::Chain { node, fields } => {
                return self.chain(dot, first, node, fields, &command.args, last);
            }
            ArgKind::Identifier { name, function } => {
                self.at = At::Arg(first);
                let call = Target::new(name, function, At::Command(command));
                return self.call(dot, &call, &command.args[1..], last);
            }
            ArgKind::Pipe(pipe) => {
                self.not_a_function(&command.args, last.as_ref())?;
                return self.parenthesized(dot, pipe);
            }
            ArgKind::Variable { id, name, fields } => {
                self.at = At::Arg(first);
                let slot = self.variable(*id, name)?.clone();
                if fields.is_empty() {
                    self.not_a_function(&command.args, last.as_ref())?;
                    return Ok(slot.value);
                }
                return self.field_chain(dot, &slot.value, slot.boxed, first, fields, &command.args, last);
            }
            _ => {}
        }
        self.at = At::Arg(first);
        self.not_a_function(&command.args, last.as_ref())?;
        match &first.kind {
            ArgKind::Bool(bool) => Ok(Value::Bool(*bool)),
            ArgKind::Dot => Ok(dot.value.clone()),
            ArgKind::Number(number) => self.ideal_constant(number),
            ArgKind::String { text, .. } => Ok(text.clone()),
            _ => Err(self.error("nil is not a command")),
        }
    }

    fn parenthesized(&mut self, dot: &Slot, pipe: &'t Pipe) -> Result<Value, Error> {
        self.step()?;
        self.nested(|exec| exec.pipeline(dot, pipe))
    }

    fn not_a_function(&self, args: &[Arg], last: Option<&Value>) -> Result<(), Error> {
        if args.len() > 1 || last.is_some() {
            let first = match &args[0].kind {
                // Where Go prints a pipeline by itself, it has no parentheses.
                ArgKind::Pipe(pipe) => pipe.to_string(),
                _ => args[0].to_string(),
            };
            return Err(self.error(format_args!("can't give argument to non-function {first}")));
        }
        Ok(())
    }

    /// A constant where nothing says what type it should have.
    pub(super) fn ideal_constant(&self, number: &Number) -> Result<Value, Error> {
        if let Some((real, imaginary)) = number.complex {
            return Ok(Value::Complex(real, imaginary));
        }
        match (number.float, number.int) {
            (Some(float), _) if number.looks_float() => Ok(Value::Float(float)),
            (_, Some(int)) => Ok(Value::int(int)),
            _ => Err(self.error(format_args!("{} overflows int", number.text))),
        }
    }

    pub(super) fn chain(
        &mut self,
        dot: &Slot,
        chain: &'t Arg,
        node: &'t Arg,
        fields: &'t [arcstr::ArcStr],
        args: &'t [Arg],
        last: Option<Value>,
    ) -> Result<Value, Error> {
        self.at = At::Arg(chain);
        if matches!(node.kind, ArgKind::Nil) {
            return Err(self.error(format_args!("indirection through explicit nil in {chain}")));
        }
        let receiver = self.arg(dot, Expected::Nothing, node)?;
        self.field_chain(dot, &receiver, false, chain, fields, args, last)
    }

    /// The value of an argument, checked to be of the expected type.
    pub(super) fn arg(&mut self, dot: &Slot, expected: Expected, arg: &'t Arg) -> Result<Value, Error> {
        self.at = At::Arg(arg);
        let value = match &arg.kind {
            ArgKind::Dot => dot.value.clone(),
            ArgKind::Nil => return self.nil_arg(expected),
            ArgKind::Field(fields) => self.field_chain(dot, &dot.value, dot.boxed, arg, fields, &[], None)?,
            ArgKind::Variable { id, name, fields } => {
                if fields.is_empty() {
                    self.variable(*id, name)?.value.clone()
                } else {
                    let slot = self.variable(*id, name)?.clone();
                    self.field_chain(dot, &slot.value, slot.boxed, arg, fields, &[], None)?
                }
            }
            ArgKind::Pipe(pipe) => self.parenthesized(dot, pipe)?,
            ArgKind::Identifier { name, function } => {
                let call = Target::new(name, function, At::Arg(arg));
                self.call(dot, &call, &[], None)?
            }
            ArgKind::Chain { node, fields } => self.chain(dot, arg, node, fields, &[], None)?,
            _ => return self.literal(expected, arg),
        };
        self.validate(value, expected)
    }

    fn nil_arg(&self, expected: Expected) -> Result<Value, Error> {
        match expected {
            Expected::Type(expected) if expected.can_be_nil() => Ok(super::check::zero(expected)),
            Expected::Type(expected) => Err(self.error(format_args!("cannot assign nil to {expected}"))),
            Expected::Nothing => Err(self.error("cannot assign nil to <nil>")),
        }
    }

    /// A bool, number or string as the expected type.
    fn literal(&self, expected: Expected, arg: &Arg) -> Result<Value, Error> {
        let wanted = match expected {
            Expected::Nothing => Type::Any,
            Expected::Type(expected) => expected,
        };
        let mismatch = match (wanted, &arg.kind) {
            (Type::Any | Type::Reflect, ArgKind::Number(number)) => return self.ideal_constant(number),
            (Type::Any | Type::Reflect | Type::Bool, ArgKind::Bool(bool)) => return Ok(Value::Bool(*bool)),
            (Type::Any | Type::Reflect | Type::String, ArgKind::String { text, .. }) => {
                return Ok(text.clone());
            }
            (Type::Bool, _) => "bool",
            (Type::String, _) => "string",
            (Type::Float, ArgKind::Number(number)) if number.float.is_some() => {
                return Ok(Value::Float(number.float.unwrap_or_default()));
            }
            (Type::Float, _) => "float",
            (Type::Int(int), ArgKind::Number(number)) => match (int.is_signed(), number.int, number.uint) {
                (true, Some(number), _) => return Ok(Value::Int(int, truncate(int, number))),
                (false, _, Some(number)) => return Ok(Value::Int(int, number.cast_signed())),
                (true, ..) => "integer",
                (false, ..) => "unsigned integer",
            },
            (Type::Int(int), _) if int.is_signed() => "integer",
            (Type::Int(_), _) => "unsigned integer",
            _ => return Err(self.error(format_args!("can't handle {arg} for arg of type {wanted}"))),
        };
        Err(self.error(format_args!("expected {mismatch}; found {arg}")))
    }

    pub(super) fn call(
        &mut self,
        dot: &Slot,
        target: &Target<'_, 't>,
        args: &'t [Arg],
        last: Option<Value>,
    ) -> Result<Value, Error> {
        let function = target.function;
        let count = args.len() + usize::from(last.is_some());
        self.check_count(target, args.len(), count)?;
        match function.special {
            Special::And | Special::Or => return self.and_or(dot, function.special, args, last),
            Special::No | Special::Call => {}
        }
        let mut few: [Value; FEW] = [const { Value::None }; FEW];
        let mut many = Vec::new();
        let values = match count <= FEW {
            true => &mut few[..count],
            false => {
                many.resize(count, Value::None);
                &mut many[..]
            }
        };
        for (index, arg) in args.iter().enumerate() {
            let expected = Expected::Type(function.param(index));
            values[index] = self.arg(dot, expected, arg)?;
        }
        if let Some(last) = last {
            values[count - 1] = self.validate(last, Expected::Type(function.param(count - 1)))?;
        }
        let texts = values.iter().map(Value::text_size).sum();
        let called = match (self.session.given(texts), function.special) {
            (Err(error), _) => Err(error),
            (_, Special::Call) => Err(call_of_value(args.first(), values)),
            _ => function.call(&mut Call {
                args: values,
                receiver: target.receiver,
                templates: self.templates,
                session: self.session,
            }),
        };
        called.map_err(|error| {
            self.at = target.at;
            self.wrap(&error, format_args!("error calling {}: {error}", target.name))
        })
    }

    fn check_count(&self, target: &Target<'_, '_>, given: usize, count: usize) -> Result<(), Error> {
        let wanted = target.function.params.len();
        let name = target.name;
        match target.function.rest {
            // Go counts only what is written behind the name here, not what the pipeline brings.
            Some(_) if count < wanted => Err(self.error(format_args!(
                "wrong number of args for {name}: want at least {wanted} got {given}"
            ))),
            None if count != wanted => Err(self.error(format_args!(
                "wrong number of args for {name}: want {wanted} got {count}"
            ))),
            _ => Ok(()),
        }
    }

    /// `and` and `or` look at no more arguments than they need.
    fn and_or(
        &mut self,
        dot: &Slot,
        special: Special,
        args: &'t [Arg],
        last: Option<Value>,
    ) -> Result<Value, Error> {
        let mut value = Value::None;
        for arg in args {
            value = self.arg(dot, Expected::Type(Type::Reflect), arg)?;
            if value.truth() == (special == Special::Or) {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }
}

/// What is called, and where messages say it was.
pub(super) struct Target<'f, 't> {
    name: &'f str,
    function: &'f Function,
    receiver: Option<&'f Value>,
    at: At<'t>,
}

impl<'f, 't> Target<'f, 't> {
    pub(super) fn new(name: &'f str, function: &'f Function, at: At<'t>) -> Target<'f, 't> {
        Target {
            name,
            function,
            receiver: None,
            at,
        }
    }

    pub(super) fn method(
        name: &'f str,
        function: &'f Function,
        receiver: &'f Value,
        at: At<'t>,
    ) -> Target<'f, 't> {
        Target {
            receiver: Some(receiver),
            ..Target::new(name, function, at)
        }
    }
}

impl Function {
    fn param(&self, index: usize) -> Type {
        self.params.get(index).copied().or(self.rest).unwrap_or(Type::Any)
    }
}

/// `call`: no value that templates can have is a function.
fn call_of_value(name: Option<&Arg>, values: &[Value]) -> Error {
    match values.first() {
        None | Some(Value::None | Value::Nil) => Error::new("call of nil"),
        Some(value) => {
            let of = value.type_name();
            let name = match name {
                Some(Arg {
                    kind: ArgKind::Pipe(pipe),
                    ..
                }) => pipe.to_string(),
                Some(arg) => arg.to_string(),
                None if matches!(value, Value::Str(_) | Value::Raw(_)) => crate::print::sprint_value(value),
                None => format!("<{of} Value>"),
            };
            Error::new(format!("non-function {name} of type {of}"))
        }
    }
}

/// What is left of a constant in a type that is too small for it.
fn truncate(int: IntType, number: i64) -> i64 {
    match int {
        IntType::Int8 => i64::from(number as i8),
        IntType::Int16 => i64::from(number as i16),
        IntType::Int32 => i64::from(number as i32),
        _ => number,
    }
}
