//! What a new object of a built-in type holds before anything is set.

use model::{Map, Value};

use super::TypeRef;
use crate::schema::{Schema, Shape, TypeId};

impl TypeRef<'_> {
    /// The object that the API server compares a new one of this type with.
    ///
    /// It is what Go writes of an empty struct: nested structs are there, and so are the fields that are always
    /// written. This decides who owns a struct itself when its first field is set.
    pub fn zero(self) -> Value {
        let mut zero = self.zero_struct().unwrap_or_else(Value::object);
        // A time that stands directly in an object, as in events, is a struct that is always written. OpenAPI does not
        // tell it from the times that may be missing, all of which stand deeper.
        if let (Shape::Struct(fields), Value::Object(zero)) = (&self.ty.shape, &mut zero) {
            let is_time = |id: TypeId| self.schema.get(id).name.ends_with("Time");
            fields
                .fields
                .iter()
                .filter(|field| is_time(field.ty))
                .for_each(|field| {
                    zero.insert(&field.name, Value::Null);
                });
        }
        zero
    }

    fn zero_struct(self) -> Option<Value> {
        let Shape::Struct(fields) = &self.ty.shape else {
            return None;
        };
        let mut zero = Map::new();
        for field in &fields.fields {
            let value = match &field.default {
                Some(Value::Object(empty)) if empty.is_empty() => zero_of(self.schema, field.ty),
                Some(default) if is_zero(default) => Some(default.clone()),
                None if field.required => Some(Value::Null),
                _ => None,
            };
            if let Some(value) = value {
                zero.insert(&field.name, value);
            }
        }
        Some(Value::Object(zero))
    }
}

fn zero_of(schema: &Schema, id: TypeId) -> Option<Value> {
    TypeRef::new(schema, id).zero_struct()
}

fn is_zero(default: &Value) -> bool {
    match default {
        Value::Str(text) => text.is_empty(),
        Value::Int(number) => *number == 0,
        Value::Bool(flag) => !flag,
        _ => false,
    }
}
