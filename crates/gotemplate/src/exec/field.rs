//! Names after dots: methods, fields and keys.

use arcstr::ArcStr;

use super::eval::Target;
use super::{At, Exec, Slot};
use crate::error::Error;
use crate::parse::ast::Arg;
use crate::templates::MissingKey;
use crate::value::{IntType, Kind, List, Map, Object, Type, Value};

impl<'t> Exec<'t, '_, '_> {
    /// Follows names one after the other. Only the last may be a method with arguments.
    #[allow(
        clippy::too_many_arguments,
        reason = "they are what Go's rules for fields look at"
    )]
    pub(super) fn field_chain(
        &mut self,
        dot: &Slot,
        receiver: &Value,
        boxed: bool,
        node: &'t Arg,
        fields: &'t [ArcStr],
        args: &'t [Arg],
        last: Option<Value>,
    ) -> Result<Value, Error> {
        let Some((name, before)) = fields.split_last() else {
            return Ok(receiver.clone());
        };
        let mut passed: Option<Slot> = None;
        for name in before {
            let (value, boxed) = match &passed {
                Some(slot) => (&slot.value, slot.boxed),
                None => (receiver, boxed),
            };
            let value = self.field(dot, value, boxed, node, name, &[], None)?;
            let boxed = is_boxed(passed.as_ref().map_or(receiver, |slot| &slot.value));
            passed = Some(Slot { value, boxed });
        }
        let (receiver, boxed) = match &passed {
            Some(slot) => (&slot.value, slot.boxed),
            None => (receiver, boxed),
        };
        self.field(dot, receiver, boxed, node, name, args, last)
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "they are what Go's rules for fields look at"
    )]
    fn field(
        &mut self,
        dot: &Slot,
        receiver: &Value,
        boxed: bool,
        node: &'t Arg,
        name: &'t ArcStr,
        args: &'t [Arg],
        last: Option<Value>,
    ) -> Result<Value, Error> {
        let has_args = args.len() > 1 || last.is_some();
        match receiver {
            Value::Map(map) => {
                if let Some(method) = map.class().and_then(|class| class.method(name)) {
                    let target = Target::method(name, method, receiver, At::Arg(node));
                    return self.call(dot, &target, args.get(1..).unwrap_or_default(), last);
                }
                if has_args {
                    return Err(self.error(format_args!("{name} is not a method but has arguments")));
                }
                match map.get(name) {
                    Some(value) => Ok(value),
                    None => self.missing_key(name, map.element()),
                }
            }
            Value::None => {
                if self.missing == MissingKey::Error {
                    let name = model::quote::quote(name);
                    return Err(self.error(format_args!("nil data; no entry for key {name}")));
                }
                Ok(Value::None)
            }
            Value::Nil => Err(self.error(format_args!("nil pointer evaluating interface {{}}.{name}"))),
            Value::Object(object) => {
                if let Some(method) = object.method(name) {
                    let target = Target::method(name, method, receiver, At::Arg(node));
                    return self.call(dot, &target, args.get(1..).unwrap_or_default(), last);
                }
                self.object_field(object.as_ref(), boxed, name, has_args)
            }
            other => Err(self.no_field(&other.type_name(), boxed, name)),
        }
    }

    fn object_field(
        &mut self,
        object: &dyn Object,
        boxed: bool,
        name: &str,
        has_args: bool,
    ) -> Result<Value, Error> {
        let is_map = object.kind() == Kind::Map;
        let value = object.field(name);
        if has_args && is_map {
            return Err(self.error(format_args!("{name} is not a method but has arguments")));
        }
        match value {
            Some(_) if has_args => Err(self.error(format_args!(
                "{name} has arguments but cannot be invoked as function"
            ))),
            Some(value) => match self.session.charge(value.text_size()) {
                Ok(()) => Ok(value),
                Err(error) => Err(self.wrap(&error, &error)),
            },
            None if is_map => self.missing_key(name, object.element()),
            None => Err(self.no_field(object.type_name(), boxed, name)),
        }
    }

    fn no_field(&self, type_name: &str, boxed: bool, name: &str) -> Error {
        let type_name = if boxed { "interface {}" } else { type_name };
        self.error(format_args!("can't evaluate field {name} in type {type_name}"))
    }

    fn missing_key(&self, name: &str, element: Type) -> Result<Value, Error> {
        match self.missing {
            MissingKey::Invalid => Ok(Value::None),
            MissingKey::Zero => Ok(zero_element(element)),
            MissingKey::Error => {
                let name = model::quote::quote(name);
                Err(self.error(format_args!("map has no entry for key {name}")))
            }
        }
    }
}

/// What a map has for keys that it has not, in Go.
pub(crate) fn zero_element(element: Type) -> Value {
    match element {
        Type::Any | Type::Reflect | Type::Named(_) => Value::Nil,
        Type::Bool => Value::Bool(false),
        Type::Int(int) => Value::Int(int, 0),
        Type::Float => Value::Float(0.0),
        Type::String => Value::Str(ArcStr::new()),
        Type::List(Type::Int(IntType::Uint8)) => Value::Bytes([].into()),
        Type::List(element) => Value::List(List::nil(*element)),
        Type::Map(element) => Value::Map(Map::nil(*element)),
    }
}

/// Whether what a value holds is an `interface {}` to Go.
fn is_boxed(holder: &Value) -> bool {
    match holder {
        Value::Map(map) => map.element() == Type::Any,
        Value::Object(object) => object.kind() == Kind::Map && object.element() == Type::Any,
        _ => false,
    }
}
