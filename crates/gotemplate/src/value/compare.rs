//! Equality as Go's `reflect.DeepEqual` has it.

use super::Value;

/// How deep values are compared; deeper ones are taken for different.
const DEPTH: usize = 1_000;

impl Value {
    /// What `reflect.DeepEqual` says of two values that functions were given: of one type, and alike in every part.
    pub fn deep_equals(&self, other: &Value) -> bool {
        deep_equals(self, other, DEPTH)
    }
}

fn deep_equals(one: &Value, other: &Value, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    match (one, other) {
        (Value::None | Value::Nil, Value::None | Value::Nil) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Int(one_type, one), Value::Int(other_type, other)) => one_type == other_type && one == other,
        (Value::Float(one), Value::Float(other)) => one == other,
        (Value::Complex(a, b), Value::Complex(c, d)) => a == c && b == d,
        (Value::Str(one), Value::Str(other)) => one == other,
        (Value::Raw(one), Value::Raw(other)) | (Value::Bytes(one), Value::Bytes(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            one.element() == other.element()
                && one.is_nil() == other.is_nil()
                && (one.same(other)
                    || one.len() == other.len()
                        && (one.items().iter().zip(other.items())).all(|(a, b)| deep_equals(a, b, depth - 1)))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.same(other)
                || one.element() == other.element()
                    && one.is_nil() == other.is_nil()
                    && one.class().map(super::Class::type_name) == other.class().map(super::Class::type_name)
                    && one.len() == other.len()
                    && (one.entries().iter())
                        .all(|(key, a)| other.get(key).is_some_and(|b| deep_equals(a, &b, depth - 1)))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.type_name() == other.type_name() && one.equals(other.as_ref())
        }
        _ => false,
    }
}
