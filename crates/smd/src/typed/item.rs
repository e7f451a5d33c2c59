//! How the elements of a list are told apart.

use model::{Map, Str, Value};

use super::{Atom, ListAtom};
use crate::fieldset::PathElement;
use crate::go_text::Quoted;
use crate::schema::Relation;

/// Up to this many elements, comparing each with each is cheaper than sorting them.
const FEW: usize = 8;

impl<'s> ListAtom<'s> {
    pub(crate) fn is_atomic(&self) -> bool {
        *self.relation == Relation::Atomic
    }

    /// The path element of `item`, or what keeps it from having one.
    pub(crate) fn element(&self, item: &Value) -> Result<PathElement, String> {
        match self.relation {
            Relation::Keys(keys) => self.key_element(keys, item),
            Relation::Set => set_element(item),
            Relation::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        }
    }

    /// The path element of an item that was found to have one.
    pub(crate) fn known_element(&self, item: &Value) -> PathElement {
        self.element(item).unwrap_or(PathElement::Index(0))
    }

    fn key_element(&self, keys: &[Str], item: &Value) -> Result<PathElement, String> {
        let map = match item {
            Value::Object(map) => map,
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        };
        let mut fields = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(value) = self.key_value(map, key) {
                fields.push((key.clone(), value.clone()));
            }
        }
        if fields.is_empty() {
            let keys: Vec<_> = keys.iter().map(|key| Quoted(key).to_string()).collect();
            let keys = keys.join(" ");
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{keys}] (and doesn't have default \
                 values for any key fields)"
            ));
        }
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(PathElement::Key(fields.into()))
    }

    /// Whether `item` has a path element.
    pub(crate) fn has_element(&self, item: &Value) -> bool {
        match (self.relation, item) {
            (Relation::Keys(keys), Value::Object(map)) => {
                keys.iter().any(|key| self.key_value(map, key).is_some())
            }
            (Relation::Set, item) => !matches!(item, Value::Object(_) | Value::Array(_) | Value::Null),
            _ => false,
        }
    }

    /// What a key field of an element holds, or the default of that field.
    fn key_value<'v>(&self, item: &'v Map, key: &str) -> Option<&'v Value>
    where
        's: 'v,
    {
        item.get(key).or_else(|| match self.item.atom(None) {
            Atom::Map(map) => map.field(key)?.default.as_ref(),
            _ => None,
        })
    }

    /// Whether two elements have the same path element, found without building either.
    pub(crate) fn is_same_item(&self, a: &Value, b: &Value) -> bool {
        match (self.relation, a, b) {
            (Relation::Keys(keys), Value::Object(a), Value::Object(b)) => keys
                .iter()
                .all(|key| self.key_value(a, key) == self.key_value(b, key)),
            (Relation::Set, a, b) => a == b,
            _ => false,
        }
    }

    /// Whether two short lists hold the same elements at the same places, none of them twice: the common case, in
    /// which no path element needs to be built.
    pub(crate) fn is_aligned(&self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len()
            && a.len() <= FEW
            && a.iter().zip(b).all(|(a, b)| self.is_same_item(a, b))
            && self.is_unique(a)
    }

    fn is_unique(&self, items: &[Value]) -> bool {
        items
            .iter()
            .enumerate()
            .all(|(at, a)| items[..at].iter().all(|b| !self.is_same_item(a, b)))
    }

    /// The path elements of all `items` with their places, ascending; equal ones keep the order of the list. What has
    /// no path element is left out.
    pub(crate) fn sorted(&self, items: &[Value]) -> Vec<(PathElement, usize)> {
        let elements = items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| Some((self.element(item).ok()?, at)));
        let mut elements: Vec<_> = elements.collect();
        if !elements.is_sorted_by(|a, b| a.0 <= b.0) {
            elements.sort_by(|a, b| a.0.cmp(&b.0));
        }
        elements
    }
}

fn set_element(item: &Value) -> Result<PathElement, String> {
    match item {
        Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
        Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
        Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
        scalar => Ok(PathElement::Value(scalar.clone())),
    }
}
