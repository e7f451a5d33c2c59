//! Operators.

use std::cmp::Ordering;
use std::rc::Rc;

use kube_cel::cel::common::ast::operators;
use model::{Str, Value};

use super::eval::{Error, Eval, Result};
use super::value::Val;
use crate::crd::schema::ListKind;

impl<'v> Eval<'_, 'v> {
    /// The value of an operator; `None` where the name is that of a function.
    pub(super) fn operator(&self, name: &str, args: &[Val<'v>]) -> Option<Result<Val<'v>>> {
        let order = |wanted: fn(Ordering) -> bool| {
            let [left, right] = args else {
                return Err(Error::NoSuchOverload);
            };
            self.compare(left, right)
                .map(|order| Val::Bool(order.is_some_and(wanted)))
        };
        Some(match (name, args) {
            (operators::EQUALS, [left, right]) => self.equal(left, right).map(Val::Bool),
            (operators::NOT_EQUALS, [left, right]) => self.equal(left, right).map(|same| Val::Bool(!same)),
            (operators::LESS, _) => order(Ordering::is_lt),
            (operators::LESS_EQUALS, _) => order(Ordering::is_le),
            (operators::GREATER, _) => order(Ordering::is_gt),
            (operators::GREATER_EQUALS, _) => order(Ordering::is_ge),
            (operators::LOGICAL_NOT, [Val::Bool(flag)]) => Ok(Val::Bool(!flag)),
            (operators::NEGATE, [Val::Int(number)]) => {
                number.checked_neg().map(Val::Int).ok_or_else(overflow)
            }
            (operators::NEGATE, [Val::Double(number)]) => Ok(Val::Double(-number)),
            (operators::IN, [value, container]) => self.contains(container, value).map(Val::Bool),
            (operators::INDEX, [Val::Optional(inner), index]) => match inner {
                Some(inner) => self
                    .element(inner, index)
                    .map(|found| Val::Optional(found.map(Rc::new))),
                None => Ok(Val::Optional(None)),
            },
            (operators::INDEX, [container, index]) => match self.element(container, index) {
                Ok(Some(value)) => Ok(value),
                Ok(None) => Err(missing(container, index)),
                Err(error) => Err(error),
            },
            (
                operators::ADD
                | operators::SUBSTRACT
                | operators::MULTIPLY
                | operators::DIVIDE
                | operators::MODULO,
                [left, right],
            ) => self.arithmetic(name, left, right),
            (operators::LOGICAL_NOT | operators::NEGATE, _) => Err(Error::NoSuchOverload),
            _ => return None,
        })
    }

    fn arithmetic(&self, name: &str, left: &Val<'v>, right: &Val<'v>) -> Result<Val<'v>> {
        match (left, right) {
            (Val::Int(a), Val::Int(b)) => whole(name, *a, *b).map(Val::Int),
            (Val::Uint(a), Val::Uint(b)) => unsigned(name, *a, *b).map(Val::Uint),
            (Val::Double(a), Val::Double(b)) => match name {
                operators::ADD => Ok(Val::Double(a + b)),
                operators::SUBSTRACT => Ok(Val::Double(a - b)),
                operators::MULTIPLY => Ok(Val::Double(a * b)),
                operators::DIVIDE => Ok(Val::Double(a / b)),
                _ => Err(Error::NoSuchOverload),
            },
            (Val::Str(a), Val::Str(b)) if name == operators::ADD => {
                self.spend((a.len() + b.len()) / 10)?;
                Ok(Val::Str([a.as_ref(), b.as_ref()].concat().into()))
            }
            (Val::Bytes(a), Val::Bytes(b)) if name == operators::ADD => {
                self.spend((a.len() + b.len()) / 10)?;
                Ok(Val::Bytes([a.as_ref(), b.as_ref()].concat().into()))
            }
            (Val::Foreign(_), _) | (_, Val::Foreign(_)) => {
                self.delegate(name, vec![left.clone(), right.clone()])
            }
            _ if name == operators::ADD && is_list(left) && is_list(right) => self.joined(left, right),
            _ => Err(Error::NoSuchOverload),
        }
    }

    /// Equality of any two values: numbers by their value, lists and maps by what is in them.
    pub(super) fn equal(&self, left: &Val<'v>, right: &Val<'v>) -> Result<bool> {
        self.spend(1)?;
        Ok(match (left, right) {
            (Val::Null, Val::Null) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Type(a), Val::Type(b)) => a == b,
            (Val::Str(a), Val::Str(b)) => {
                self.spend(a.len().min(b.len()) / 10)?;
                a == b
            }
            (Val::Bytes(a), Val::Bytes(b)) => a == b,
            (Val::Optional(a), Val::Optional(b)) => match (a, b) {
                (Some(a), Some(b)) => self.equal(a, b)?,
                (a, b) => a.is_none() && b.is_none(),
            },
            (Val::Foreign(_), Val::Foreign(_)) => {
                let same = self.delegate(operators::EQUALS, vec![left.clone(), right.clone()])?;
                matches!(same, Val::Bool(true))
            }
            _ if is_number(left) && is_number(right) => numbers(left, right) == Some(Ordering::Equal),
            _ if is_list(left) && is_list(right) => self.lists_equal(left, right)?,
            _ if is_map(left) && is_map(right) => self.maps_equal(left, right)?,
            _ => false,
        })
    }

    /// Lists are equal element by element; where one is a set or a map, in any order.
    fn lists_equal(&self, left: &Val<'v>, right: &Val<'v>) -> Result<bool> {
        let in_any_order = identity(left).or(identity(right)).is_some();
        let (left, right) = (self.pairs(left)?, self.pairs(right)?);
        if left.len() != right.len() {
            return Ok(false);
        }
        for (at, (_, item)) in left.iter().enumerate() {
            let same = match in_any_order {
                true => self.is_among(item, &right, None)?.is_some(),
                false => self.equal(item, &right[at].1)?,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Two lists one after the other. What the second has of a set is not put in again, of a map takes its place.
    fn joined(&self, left: &Val<'v>, right: &Val<'v>) -> Result<Val<'v>> {
        let identity = identity(left);
        let mut items = self.pairs(left)?;
        for pair in self.pairs(right)? {
            let known = match identity {
                Some(keys) => self.is_among(&pair.1, &items, Some(keys))?,
                None => None,
            };
            match known {
                Some(at) => items[at] = pair,
                None => items.push(pair),
            }
        }
        Ok(Val::List(Rc::new(
            items.into_iter().map(|(_, item)| item).collect(),
        )))
    }

    /// Where an element equal to `item` stands, or one with the same values of `keys`.
    fn is_among(
        &self,
        item: &Val<'v>,
        items: &[(Val<'v>, Val<'v>)],
        keys: Option<&[Str]>,
    ) -> Result<Option<usize>> {
        for (at, (_, other)) in items.iter().enumerate() {
            let mut same = true;
            for key in keys.unwrap_or_default() {
                same &= match (self.field(item, key)?, self.field(other, key)?) {
                    (Some(a), Some(b)) => self.equal(&a, &b)?,
                    (a, b) => a.is_none() && b.is_none(),
                };
            }
            if keys.is_none_or(<[Str]>::is_empty) {
                same = self.equal(item, other)?;
            }
            if same {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn maps_equal(&self, left: &Val<'v>, right: &Val<'v>) -> Result<bool> {
        if left.size() != right.size() {
            return Ok(false);
        }
        for (key, value) in self.pairs(left)? {
            match self.element(right, &key)? {
                Some(other) if self.equal(&value, &other)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The order of two values of one type, or of two numbers; `None` where a number is none.
    pub(super) fn compare(&self, left: &Val<'v>, right: &Val<'v>) -> Result<Option<Ordering>> {
        match (left, right) {
            (Val::Str(a), Val::Str(b)) => {
                self.spend(a.len().min(b.len()) / 10)?;
                Ok(Some(a.cmp(b)))
            }
            (Val::Bytes(a), Val::Bytes(b)) => Ok(Some(a.cmp(b))),
            (Val::Bool(a), Val::Bool(b)) => Ok(Some(a.cmp(b))),
            (Val::Foreign(_), Val::Foreign(_)) => {
                let is = |name| self.delegate(name, vec![left.clone(), right.clone()]);
                Ok(Some(match (is(operators::LESS)?, is(operators::GREATER)?) {
                    (Val::Bool(true), _) => Ordering::Less,
                    (_, Val::Bool(true)) => Ordering::Greater,
                    _ => Ordering::Equal,
                }))
            }
            _ if is_number(left) && is_number(right) => Ok(numbers(left, right)),
            _ => Err(Error::NoSuchOverload),
        }
    }

    fn contains(&self, container: &Val<'v>, value: &Val<'v>) -> Result<bool> {
        if is_map(container) {
            return Ok(match (container, value) {
                (Val::Data(Value::Object(map), ..), Val::Str(name)) => map.contains_key(name),
                (container, value) => self.element(container, value)?.is_some(),
            });
        }
        for (_, item) in self.pairs(container)? {
            if self.equal(&item, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn whole(name: &str, a: i64, b: i64) -> Result<i64> {
    match name {
        operators::ADD => a.checked_add(b).ok_or_else(overflow),
        operators::SUBSTRACT => a.checked_sub(b).ok_or_else(overflow),
        operators::MULTIPLY => a.checked_mul(b).ok_or_else(overflow),
        operators::DIVIDE if b == 0 => Err(Error::Other("division by zero".into())),
        operators::DIVIDE => a.checked_div(b).ok_or_else(overflow),
        _ if b == 0 => Err(Error::Other("modulus by zero".into())),
        _ => a.checked_rem(b).ok_or_else(overflow),
    }
}

fn unsigned(name: &str, a: u64, b: u64) -> Result<u64> {
    let overflow = || Error::Other("unsigned integer overflow".into());
    match name {
        operators::ADD => a.checked_add(b).ok_or_else(overflow),
        operators::SUBSTRACT => a.checked_sub(b).ok_or_else(overflow),
        operators::MULTIPLY => a.checked_mul(b).ok_or_else(overflow),
        operators::DIVIDE => a
            .checked_div(b)
            .ok_or_else(|| Error::Other("division by zero".into())),
        _ => a
            .checked_rem(b)
            .ok_or_else(|| Error::Other("modulus by zero".into())),
    }
}

fn overflow() -> Error {
    Error::Other("integer overflow".into())
}

fn missing(container: &Val<'_>, index: &Val<'_>) -> Error {
    let shown = match index {
        Val::Int(number) => number.to_string(),
        Val::Uint(number) => number.to_string(),
        Val::Str(text) => text.to_string(),
        other => format!("{other:?}"),
    };
    Error::Other(match is_list(container) {
        true => format!("index out of bounds: {shown}"),
        false => format!("no such key: {shown}"),
    })
}

/// The order of two numbers of any types.
fn numbers(left: &Val<'_>, right: &Val<'_>) -> Option<Ordering> {
    match (left, right) {
        (Val::Int(a), Val::Int(b)) => Some(a.cmp(b)),
        (Val::Uint(a), Val::Uint(b)) => Some(a.cmp(b)),
        (Val::Int(a), Val::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Val::Uint(a), Val::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (a, b) => float(a)?.partial_cmp(&float(b)?),
    }
}

fn float(value: &Val<'_>) -> Option<f64> {
    match value {
        Val::Int(number) => Some(*number as f64),
        Val::Uint(number) => Some(*number as f64),
        Val::Double(number) => Some(*number),
        _ => None,
    }
}

fn is_number(value: &Val<'_>) -> bool {
    matches!(value, Val::Int(_) | Val::Uint(_) | Val::Double(_))
}

/// What tells the elements of a list of the object apart: nothing for a set, keys for a map. `None` for other lists.
fn identity<'v>(value: &Val<'v>) -> Option<&'v [Str]> {
    match value {
        Val::Data(Value::Array(_), Some(schema), _) if schema.list != ListKind::Atomic => {
            Some(&schema.map_keys)
        }
        _ => None,
    }
}

fn is_list(value: &Val<'_>) -> bool {
    value.type_name() == "list"
}

fn is_map(value: &Val<'_>) -> bool {
    value.type_name() == "map"
}
