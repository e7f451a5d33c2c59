//! The data that templates work on: Go's values, shared and never cloned deep.

mod circle;
mod compare;
mod convert;
mod drop;
mod list;
mod map;
mod object;
mod types;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use arcstr::ArcStr;
pub(crate) use circle::break_circles;
pub use list::List;
pub(crate) use map::WeakMap;
pub use map::{Class, Map};
pub use object::Object;
pub use types::{IntType, Kind, Type};

/// A value as templates have it. Clones share: they cost one counter at most.
#[derive(Clone, Default)]
pub enum Value {
    /// No value at all, Go's zero `reflect.Value`: what a pipeline gives that ends in nil. Printed `<no value>`.
    #[default]
    None,
    /// A nil `interface {}`: what `null` in a map or list is. Functions are given it, and print it `<nil>`.
    Nil,
    /// `bool`
    Bool(bool),
    /// An integer. Those of unsigned types above the largest `i64` are kept by their bits.
    Int(IntType, i64),
    /// `float64`, as all numbers are that come out of JSON.
    Float(f64),
    /// `complex128`, which only constants in templates are.
    Complex(f64, f64),
    /// `string`
    Str(ArcStr),
    /// A `string` that is not UTF-8, which Go allows: text that was cut, or that was decoded.
    Raw(Arc<[u8]>),
    /// `[]uint8`
    Bytes(Arc<[u8]>),
    /// A slice.
    List(List),
    /// A map from strings.
    Map(Map),
    /// Anything else.
    Object(Arc<dyn Object>),
}

impl Value {
    /// The value `int(number)`.
    pub fn int(number: i64) -> Value {
        Value::Int(IntType::Int, number)
    }

    /// The value `int64(number)`.
    pub fn int64(number: i64) -> Value {
        Value::Int(IntType::Int64, number)
    }

    /// A string.
    pub fn str(text: impl Into<ArcStr>) -> Value {
        Value::Str(text.into())
    }

    /// A string of any bytes.
    pub fn string_of_bytes(bytes: impl AsRef<[u8]>) -> Value {
        match std::str::from_utf8(bytes.as_ref()) {
            Ok(text) => Value::Str(text.into()),
            Err(_) => Value::Raw(bytes.as_ref().into()),
        }
    }

    /// A string of any bytes, of which none is copied twice.
    pub fn string_of_vec(bytes: Vec<u8>) -> Value {
        match String::from_utf8(bytes) {
            Ok(text) => Value::Str(text.into()),
            Err(error) => Value::Raw(error.into_bytes().into()),
        }
    }

    /// A `[]interface {}`.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(List::new(items))
    }

    /// A `[]string`.
    pub fn strings<T: Into<ArcStr>>(items: impl IntoIterator<Item = T>) -> Value {
        Value::List(List::of(
            Type::String,
            items.into_iter().map(Value::str).collect(),
        ))
    }

    /// An object.
    pub fn object(object: impl Object) -> Value {
        Value::Object(Arc::new(object))
    }

    /// The kind, as Go's `reflect` has it.
    pub fn kind(&self) -> Kind {
        match self {
            Value::None => Kind::Invalid,
            Value::Nil => Kind::Interface,
            Value::Bool(_) => Kind::Bool,
            Value::Int(int, _) => int.kind(),
            Value::Float(_) => Kind::Float64,
            Value::Complex(..) => Kind::Complex128,
            Value::Str(_) | Value::Raw(_) => Kind::String,
            Value::Bytes(_) | Value::List(_) => Kind::Slice,
            Value::Map(_) => Kind::Map,
            Value::Object(object) => object.kind(),
        }
    }

    /// The type as `%T` prints it, of a value that is none `<nil>`.
    pub fn type_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Value::None => "<nil>",
            Value::Nil => "interface {}",
            Value::Bool(_) => "bool",
            Value::Int(int, _) => int.name(),
            Value::Float(_) => "float64",
            Value::Complex(..) => "complex128",
            Value::Str(_) | Value::Raw(_) => "string",
            Value::Bytes(_) => "[]uint8",
            Value::List(list) if list.element() == Type::Any => "[]interface {}",
            Value::List(list) => return format!("[]{}", list.element()).into(),
            Value::Map(map) => match map.class() {
                Some(class) => class.type_name(),
                None if map.element() == Type::Any => "map[string]interface {}",
                None => return format!("map[string]{}", map.element()).into(),
            },
            Value::Object(object) => object.type_name(),
        })
    }

    /// Whether there is nothing: no value, or a nil interface.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Value::None | Value::Nil)
    }

    /// Whether `if` takes it for true.
    pub fn truth(&self) -> bool {
        match self {
            Value::None | Value::Nil => false,
            Value::Bool(bool) => *bool,
            Value::Int(_, number) => *number != 0,
            Value::Float(number) => *number != 0.0,
            Value::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::Raw(bytes) | Value::Bytes(bytes) => !bytes.is_empty(),
            Value::List(list) => !list.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Object(object) => match object.kind() {
                Kind::Struct | Kind::Pointer => true,
                Kind::Map | Kind::Slice => object.count() > 0,
                Kind::Invalid | Kind::Interface => false,
                _ => object.scalar().is_some_and(|scalar| scalar.truth()),
            },
        }
    }

    /// The length, of what has one to Go.
    #[allow(
        clippy::len_without_is_empty,
        reason = "what has no length is neither empty nor not"
    )]
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::Str(text) => Some(text.len()),
            Value::Raw(bytes) | Value::Bytes(bytes) => Some(bytes.len()),
            Value::List(list) => Some(list.len()),
            Value::Map(map) => Some(map.len()),
            Value::Object(object) => match object.kind() {
                Kind::Map | Kind::Slice => Some(object.count()),
                Kind::String => object.scalar().and_then(|scalar| scalar.len()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The bytes that a function goes through which reads this as text: nothing of what is in lists and maps.
    #[inline]
    pub(crate) fn text_size(&self) -> usize {
        match self {
            Value::Str(text) => text.len(),
            Value::Raw(bytes) | Value::Bytes(bytes) => bytes.len(),
            Value::Object(object) => object.weight(),
            _ => 0,
        }
    }

    /// The text of a string that is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes of a string or of a `[]uint8`.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Str(text) => Some(text.as_bytes()),
            Value::Raw(bytes) | Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The items of anything that Go has as a slice; bytes become numbers.
    pub fn items(&self) -> Option<Cow<'_, [Value]>> {
        match self {
            Value::List(list) => Some(Cow::Borrowed(list.items())),
            Value::Bytes(bytes) => Some(Cow::Owned(
                bytes
                    .iter()
                    .map(|byte| Value::Int(IntType::Uint8, i64::from(*byte)))
                    .collect(),
            )),
            Value::Object(object) if object.kind() == Kind::Slice => Some(Cow::Owned(object.items())),
            _ => None,
        }
    }

    /// The object as the type it is, if it is that.
    pub fn downcast<T: Object>(&self) -> Option<&T> {
        match self {
            Value::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.type_name(), crate::print::sprint_value(self))
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::Map(self.clone()).fmt(f)
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::List(self.clone()).fmt(f)
    }
}
