//! Values in expressions.

use std::rc::Rc;

use base64::Engine as _;
use kube_cel::cel;
use model::Value;

use super::escape::unescape;
use super::eval::{Error, Eval};
use crate::crd::schema::{Kind, Node};
use crate::crd::validate::Format;

/// A value of an expression. Objects stay where they are and are looked at through their schema.
#[derive(Clone, Debug)]
pub(super) enum Val<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    /// A list that an expression made.
    List(Rc<Vec<Val<'v>>>),
    /// A map that an expression made.
    Map(Rc<Vec<(Val<'v>, Val<'v>)>>),
    /// A list or map of the object, with its schema. The flag tells the root of a resource.
    Data(&'v Value, Option<&'v Node>, bool),
    /// An optional value.
    Optional(Option<Rc<Val<'v>>>),
    /// The name of a type.
    Type(&'static str),
    /// A time, a duration, a URL, a quantity, ...: what only `kube-cel` knows.
    Foreign(cel::Value),
}

impl<'v> Val<'v> {
    pub(super) fn str(text: &str) -> Self {
        Val::Str(text.into())
    }

    /// The value's type as expressions name it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null_type",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::Uint(_) => "uint",
            Val::Double(_) => "double",
            Val::Str(_) => "string",
            Val::Bytes(_) => "bytes",
            Val::List(_) | Val::Data(Value::Array(_), ..) => "list",
            Val::Map(_) | Val::Data(..) => "map",
            Val::Optional(_) => "optional_type",
            Val::Type(_) => "type",
            Val::Foreign(cel::Value::Timestamp(_)) => "google.protobuf.Timestamp",
            Val::Foreign(cel::Value::Duration(_)) => "google.protobuf.Duration",
            Val::Foreign(_) => "kubernetes",
        }
    }

    /// The number of elements, fields, characters or bytes.
    pub(super) fn size(&self) -> Option<usize> {
        Some(match self {
            Val::Str(text) => text.chars().count(),
            Val::Bytes(bytes) => bytes.len(),
            Val::List(items) => items.len(),
            Val::Map(pairs) => pairs.len(),
            Val::Data(Value::Array(items), ..) => items.len(),
            Val::Data(Value::Object(map), ..) => map.len(),
            _ => return None,
        })
    }
}

impl<'v> Eval<'_, 'v> {
    /// A part of the object as a value.
    pub(super) fn open(
        &self,
        value: &'v Value,
        schema: Option<&'v Node>,
        root: bool,
    ) -> Result<Val<'v>, Error> {
        let kind = schema.map_or(Kind::Any, |schema| schema.kind);
        Ok(match value {
            Value::Null => Val::Null,
            Value::Bool(flag) => Val::Bool(*flag),
            // A number may be written without a fraction, and a whole number with one.
            Value::Int(number) if kind == Kind::Number => Val::Double(*number as f64),
            Value::Int(number) => Val::Int(*number),
            Value::Float(number) if kind == Kind::Integer && number.fract() == 0.0 => {
                Val::Int(*number as i64)
            }
            Value::Float(number) => Val::Double(*number),
            Value::Str(text) => self.open_text(text, schema)?,
            Value::Array(_) | Value::Object(_) => Val::Data(
                value,
                schema,
                root || schema.is_some_and(|schema| schema.embedded),
            ),
        })
    }

    /// A text, or what its format makes of it.
    fn open_text(&self, text: &str, schema: Option<&Node>) -> Result<Val<'v>, Error> {
        self.spend(1 + text.len() / 10)?;
        let format = schema
            .and_then(|schema| schema.checks.as_ref())
            .and_then(|checks| checks.format);
        match format {
            Some(Format::Byte) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                Ok(bytes.map_or_else(|_| Val::str(text), |bytes| Val::Bytes(bytes.into())))
            }
            Some(Format::DateTime) => self.call("timestamp", None, vec![Val::str(text)]),
            Some(Format::Date) => self.call("timestamp", None, vec![Val::str(&format!("{text}T00:00:00Z"))]),
            Some(Format::Duration) => self.call("duration", None, vec![Val::str(text)]),
            _ => Ok(Val::str(text)),
        }
    }

    /// The field that an expression calls `name`; `None` where it is missing.
    pub(super) fn field(&self, of: &Val<'v>, name: &str) -> Result<Option<Val<'v>>, Error> {
        match of {
            Val::Data(Value::Object(map), schema, root) => {
                let has_fields = schema.is_some_and(|schema| !schema.fields.is_empty()) || *root;
                let name = if has_fields { unescape(name) } else { name.into() };
                let Some(value) = map.get(&name) else {
                    return Ok(None);
                };
                let node = schema.and_then(|schema| schema.member(&name));
                // Fields that no schema describes are not to be seen, but for those every object has. Nor are nulls: to
                // rules, a field that is null is not there.
                let hidden = has_fields && value.is_null()
                    || has_fields && node.is_none() && !(*root && super::types::META.contains(&&*name));
                if hidden {
                    Ok(None)
                } else {
                    self.open(value, node, false).map(Some)
                }
            }
            Val::Map(pairs) => Ok(pairs
                .iter()
                .find(|(key, _)| is_text(key, name))
                .map(|(_, value)| value.clone())),
            _ => Err(Error::NoSuchOverload),
        }
    }

    /// The element or field that `index` names; `None` where it is missing.
    pub(super) fn element(&self, of: &Val<'v>, index: &Val<'v>) -> Result<Option<Val<'v>>, Error> {
        let place = |index: &Val<'v>| match index {
            Val::Int(at) => Ok(usize::try_from(*at).ok()),
            Val::Uint(at) => Ok(usize::try_from(*at).ok()),
            Val::Double(at) if at.fract() == 0.0 && *at >= 0.0 => Ok(Some(*at as usize)),
            _ => Err(Error::NoSuchOverload),
        };
        match of {
            Val::List(items) => Ok(place(index)?.and_then(|at| items.get(at)).cloned()),
            Val::Data(Value::Array(items), schema, _) => {
                let Some(item) = place(index)?.and_then(|at| items.get(at)) else {
                    return Ok(None);
                };
                self.open(item, schema.and_then(|schema| schema.items.as_deref()), false)
                    .map(Some)
            }
            Val::Data(Value::Object(map), schema, _) => match index {
                Val::Str(name) => match map.get(name) {
                    Some(value) => self
                        .open(value, schema.and_then(|schema| schema.member(name)), false)
                        .map(Some),
                    None => Ok(None),
                },
                _ => Ok(None),
            },
            Val::Map(pairs) => {
                for (key, value) in pairs.iter() {
                    if self.equal(key, index)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
            _ => Err(Error::NoSuchOverload),
        }
    }

    /// What a loop goes over: elements of a list with their places, or fields of a map with their names.
    pub(super) fn pairs(&self, of: &Val<'v>) -> Result<Vec<(Val<'v>, Val<'v>)>, Error> {
        let numbered = |at: usize| Val::Int(at as i64);
        self.spend(of.size().unwrap_or(1))?;
        match of {
            Val::List(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(at, item)| (numbered(at), item.clone()))
                .collect()),
            Val::Map(pairs) => Ok(pairs.as_ref().clone()),
            Val::Data(Value::Array(items), schema, _) => {
                let node = schema.and_then(|schema| schema.items.as_deref());
                items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| Ok((numbered(at), self.open(item, node, false)?)))
                    .collect()
            }
            Val::Data(Value::Object(map), schema, _) => {
                let node = |name: &str| schema.and_then(|schema| schema.member(name));
                map.iter()
                    .map(|(name, value)| Ok((Val::str(name), self.open(value, node(name), false)?)))
                    .collect()
            }
            _ => Err(Error::NoSuchOverload),
        }
    }

    /// The value as `kube-cel` knows it.
    pub(super) fn export(&self, value: &Val<'v>) -> Result<cel::Value, Error> {
        self.spend(1)?;
        Ok(match value {
            Val::Null => cel::Value::Null,
            Val::Bool(flag) => cel::Value::Bool(*flag),
            Val::Int(number) => cel::Value::Int(*number),
            Val::Uint(number) => cel::Value::UInt(*number),
            Val::Double(number) => cel::Value::Float(*number),
            Val::Str(text) => {
                self.spend(text.len() / 10)?;
                cel::Value::from(text.as_ref())
            }
            Val::Bytes(bytes) => cel::Value::Bytes(bytes.to_vec().into()),
            Val::Foreign(value) => value.clone(),
            Val::Optional(None) => {
                cel::Value::Opaque(std::sync::Arc::new(cel::objects::OptionalValue::none()))
            }
            Val::Optional(Some(inner)) => {
                let inner = cel::objects::OptionalValue::of(self.export(inner)?);
                cel::Value::Opaque(std::sync::Arc::new(inner))
            }
            Val::List(_) | Val::Data(Value::Array(_), ..) => {
                let items = self.pairs(value)?;
                let items: Result<Vec<_>, _> = items.iter().map(|(_, item)| self.export(item)).collect();
                cel::Value::List(items?.into())
            }
            Val::Map(_) | Val::Data(..) => {
                let mut map = std::collections::HashMap::new();
                for (key, value) in self.pairs(value)? {
                    let key = match key {
                        Val::Str(text) => cel::objects::Key::String(text.to_string().into()),
                        Val::Int(number) => cel::objects::Key::Int(number),
                        Val::Uint(number) => cel::objects::Key::Uint(number),
                        Val::Bool(flag) => cel::objects::Key::Bool(flag),
                        _ => return Err(Error::NoSuchOverload),
                    };
                    map.insert(key, self.export(&value)?);
                }
                cel::Value::from(map)
            }
            Val::Type(name) => cel::Value::from(*name),
        })
    }

    /// A value that `kube-cel` made.
    pub(super) fn import(&self, value: cel::Value) -> Result<Val<'v>, Error> {
        self.spend(1)?;
        Ok(match value {
            cel::Value::Null => Val::Null,
            cel::Value::Bool(flag) => Val::Bool(flag),
            cel::Value::Int(number) => Val::Int(number),
            cel::Value::UInt(number) => Val::Uint(number),
            cel::Value::Float(number) => Val::Double(number),
            cel::Value::String(text) => {
                self.spend(text.len() / 10)?;
                Val::str(&text)
            }
            cel::Value::Bytes(bytes) => Val::Bytes(bytes.as_slice().into()),
            cel::Value::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.import(item.clone())).collect();
                Val::List(Rc::new(items?))
            }
            cel::Value::Map(map) => {
                let mut pairs = Vec::with_capacity(map.map.len());
                for (key, value) in map.map.iter() {
                    pairs.push((self.import(cel::Value::from(key))?, self.import(value.clone())?));
                }
                Val::Map(Rc::new(pairs))
            }
            cel::Value::Opaque(opaque) => match opaque.downcast_ref::<cel::objects::OptionalValue>() {
                Some(optional) => match optional.value() {
                    Some(inner) => Val::Optional(Some(Rc::new(self.import(inner.clone())?))),
                    None => Val::Optional(None),
                },
                None => Val::Foreign(cel::Value::Opaque(opaque)),
            },
            other => Val::Foreign(other),
        })
    }
}

fn is_text(value: &Val<'_>, text: &str) -> bool {
    matches!(value, Val::Str(found) if found.as_ref() == text)
}
