//! Values of any type, made from random bytes.

use model::{Map, Str, Value};
use smd::schema::{Relation, Scalar, Shape, StructType};
use smd::{FieldSet, Path, PathElement, Schema, TypeId};

/// Random bytes that decisions are taken from. When they are used up, every choice is the first one.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes: bytes.iter() }
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or_default()) % count
    }

    fn text(&mut self) -> Value {
        Value::str(["a", "b", "c", "a long text that does not fit into a value"][self.below(4)])
    }
}

/// A value of a type, with `odds` of a hundred for each field to be there. List elements have distinct keys.
pub(crate) fn value_of(
    schema: &Schema,
    id: TypeId,
    choices: &mut Choices<'_>,
    odds: usize,
    depth: usize,
) -> Value {
    let ty = schema.get(id);
    match &ty.shape {
        Shape::Scalar(Scalar::Integer) => Value::Int(choices.below(4) as i64),
        Shape::Scalar(Scalar::Number) => Value::Float(choices.below(4) as f64 / 2.0),
        Shape::Scalar(Scalar::Boolean) => Value::Bool(choices.below(2) == 1),
        Shape::Scalar(Scalar::IntOrString) if choices.below(2) == 0 => Value::Int(choices.below(3) as i64),
        Shape::Scalar(_) => choices.text(),
        Shape::Deduced | Shape::Atomic => any(choices, depth.min(3)),
        Shape::Map { item, .. } => {
            let count = if depth == 0 { 0 } else { choices.below(4) };
            let pair = |_| {
                (
                    ["x", "y", "z"][choices.below(3)],
                    value_of(schema, *item, choices, odds, depth - 1),
                )
            };
            Value::Object((0..count).map(pair).collect())
        }
        Shape::List(list) => {
            let count = if depth == 0 { 0 } else { choices.below(4) };
            let mut items: Vec<Value> = Vec::new();
            for _ in 0..count {
                let mut item = value_of(schema, list.item, choices, odds, depth - 1);
                if let Relation::Keys(keys) = &list.relation {
                    let Shape::Struct(fields) = &schema.get(list.item).shape else {
                        continue;
                    };
                    add_keys(schema, fields, keys, &mut item, choices);
                }
                items.push(item);
            }
            distinct(&list.relation, schema, list.item, &mut items);
            Value::from(items)
        }
        Shape::Struct(fields) => {
            let mut map = Map::new();
            for field in &fields.fields {
                if depth > 0 && choices.below(100) < odds && field.name != "managedFields" {
                    map.insert(&field.name, value_of(schema, field.ty, choices, odds, depth - 1));
                }
            }
            Value::Object(map)
        }
    }
}

fn add_keys(schema: &Schema, fields: &StructType, keys: &[Str], item: &mut Value, choices: &mut Choices<'_>) {
    for key in keys {
        let field = fields.field(key).unwrap();
        if field
            .default
            .as_ref()
            .is_none_or(|default| *default == Value::str(""))
            || choices.below(2) == 0
        {
            item.set_at(&[key], value_of(schema, field.ty, choices, 0, 1));
        }
    }
}

/// Leaves out list elements that cannot be told from an earlier one.
fn distinct(relation: &Relation, schema: &Schema, item: TypeId, items: &mut Vec<Value>) {
    let key = |value: &Value| match relation {
        Relation::Keys(keys) => {
            let Shape::Struct(fields) = &schema.get(item).shape else {
                return Value::Null;
            };
            let default = |key: &str| fields.field(key).and_then(|field| field.default.clone());
            let part = |key: &Str| {
                value
                    .get(key)
                    .cloned()
                    .or_else(|| default(key))
                    .unwrap_or_default()
            };
            keys.iter().map(part).collect()
        }
        _ => value.clone(),
    };
    if *relation != Relation::Atomic {
        let mut seen: Vec<Value> = Vec::new();
        items.retain(|item| {
            let key = key(item);
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
    }
}

/// Any value at all.
pub(crate) fn any(choices: &mut Choices<'_>, depth: usize) -> Value {
    const NAMES: &[&str] = &[
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "labels",
        "managedFields",
        "spec",
        "ports",
        "containers",
        "env",
        "template",
        "manager",
        "operation",
        "fieldsType",
        "fieldsV1",
        "f:spec",
        "k:{\"name\":\"a\"}",
        ".",
        "uid",
    ];
    match choices.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(choices.below(2) == 0),
        2 => Value::Int(choices.below(5) as i64 - 1),
        3 => Value::Float(0.5),
        4 => Value::str(["Apply", "Update", "FieldsV1", "v1", "Pod", "apps/v1"][choices.below(6)]),
        5 => choices.text(),
        6 => (0..choices.below(4))
            .map(|_| any(choices, depth - 1))
            .collect::<Vec<_>>()
            .into(),
        _ => {
            let count = choices.below(5);
            let pair = |_| (NAMES[choices.below(NAMES.len())], any(choices, depth - 1));
            Value::Object((0..count).map(pair).collect())
        }
    }
}

/// Any set of fields.
pub(crate) fn set(choices: &mut Choices<'_>) -> FieldSet {
    let element = |choices: &mut Choices<'_>| match choices.below(7) {
        0 => PathElement::Value(Value::Int(choices.below(3) as i64 * 7)),
        1 => PathElement::Value(choices.text()),
        2 => PathElement::key([("name", choices.text())]),
        3 => PathElement::key([
            ("port", Value::Int(choices.below(3) as i64 * 40)),
            ("protocol", choices.text()),
        ]),
        4 => PathElement::Index(choices.below(3) as i64),
        _ => PathElement::field(["a", "b", "c", "spec"][choices.below(4)]),
    };
    let count = choices.below(8);
    let path = |_| Path((0..=choices.below(3)).map(|_| element(choices)).collect());
    (0..count).map(path).collect()
}
