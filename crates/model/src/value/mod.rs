//! The compact object tree.
//!
//! A [`Value`] is 24 bytes. Strings of up to 24 bytes, which nearly all keys and most values of Kubernetes objects
//! are, live inside it without a heap block; lists and maps are one block each. There is no interner and so no
//! shared state: a key costs its 24 bytes and nothing else.

mod map;
mod path;

pub use map::Map;
use thin_vec::ThinVec;

/// The string type of [`Value`] and of map keys: short strings are stored inline.
pub type Str = compact_str::CompactString;

/// The list type of [`Value`].
pub type List = ThinVec<Value>;

/// A JSON value as Kubernetes sees one: whole numbers that fit are `Int`, all others `Float`.
///
/// Equality is by meaning: `Int(1)` equals `Float(1.0)`, and maps are equal whatever the order of their keys.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number that fits 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(Str),
    /// A list.
    Array(List),
    /// A map; see [`Map`] about order.
    Object(Map),
}

const _: () = assert!(std::mem::size_of::<Value>() == 24);

impl Value {
    /// A string value.
    pub fn str(text: impl AsRef<str>) -> Self {
        Value::Str(Str::new(text))
    }

    /// An empty map.
    pub fn object() -> Self {
        Value::Object(Map::new())
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if this is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The number as a float, whichever kind it is.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The elements, if this is a list.
    pub fn as_array(&self) -> Option<&List> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The elements for change, if this is a list.
    pub fn as_array_mut(&mut self) -> Option<&mut List> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The map, if this is one.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The map for change, if this is one.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Takes the value out and leaves `null`.
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }

    /// The JSON name of this value's type: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "integer",
            Value::Float(_) => "number",
            Value::Str(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => a == b,
            _ => false,
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Bool(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::str(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Str(text.into())
    }
}

impl From<Str> for Value {
    fn from(text: Str) -> Self {
        Value::Str(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Value::Object(map)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::Array(items.into_iter().collect())
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Value::Array(items.into_iter().map(Into::into).collect())
    }
}

/// Builds a [`Value`] from JSON-like text: `value!({ "kind": "Pod", "spec": { "replicas": n } })`.
///
/// Keys are string literals or expressions in parentheses; values are literals, nested `{}` and `[]`, or expressions
/// that convert into a [`Value`].
#[macro_export]
macro_rules! value {
    (null) => { $crate::Value::Null };
    ([ $($item:tt),* $(,)? ]) => { $crate::Value::from(vec![ $( $crate::value!($item) ),* ]) };
    ({ $($key:tt : $value:tt),* $(,)? }) => {{
        #[allow(unused_mut)]
        let mut map = $crate::Map::new();
        $( map.insert($key, $crate::value!($value)); )*
        $crate::Value::Object(map)
    }};
    ($other:expr) => { $crate::Value::from($other) };
}
