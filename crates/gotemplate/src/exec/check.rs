//! Whether a value can be given where a type is expected.

use super::Exec;
use crate::error::Error;
use crate::value::{Kind, List, Map, Type, Value};

/// What an argument has to be.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    /// Anything: it is not given to a function.
    Nothing,
    Type(Type),
}

/// Go's zero value of a type that can be nil.
pub(super) fn zero(of: Type) -> Value {
    match of {
        Type::Reflect => Value::None,
        Type::List(element) => Value::List(List::nil(*element)),
        Type::Map(element) => Value::Map(Map::nil(*element)),
        _ => Value::Nil,
    }
}

impl Exec<'_, '_, '_> {
    pub(super) fn validate(&self, value: Value, expected: Expected) -> Result<Value, Error> {
        let Expected::Type(expected) = expected else {
            return Ok(value);
        };
        match (&value, expected) {
            (Value::None, expected) => {
                if expected.can_be_nil() {
                    return Ok(zero(expected));
                }
                Err(self.error(format_args!("invalid value; expected {expected}")))
            }
            (_, Type::Any | Type::Reflect) => Ok(value),
            (Value::Str(_) | Value::Raw(_), Type::String) | (Value::Bool(_), Type::Bool) => Ok(value),
            (Value::Float(_), Type::Float) => Ok(value),
            (Value::Int(one, _), Type::Int(other)) if *one == other => Ok(value),
            (Value::Map(map), Type::Map(element)) if map.element() == *element => Ok(value),
            (Value::List(list), Type::List(element)) if list.element() == *element => Ok(value),
            (Value::Bytes(_), Type::BYTES) => Ok(value),
            (Value::Object(object), Type::Named(name))
                if object.type_name().trim_start_matches('*') == name.trim_start_matches('*') =>
            {
                Ok(value)
            }
            (Value::Object(object), Type::Map(_) | Type::List(_))
                if matches!(object.kind(), Kind::Map | Kind::Slice) && object.is_assignable_to(expected) =>
            {
                Ok(value)
            }
            _ => Err(self.error(format_args!(
                "wrong type for value; expected {expected}; got {}",
                value.type_name()
            ))),
        }
    }
}
