//! Strategic merge as kustomize reads it, which is not quite as the server does:
//!
//! - lists are told apart by all keys that server-side apply knows, and an element may leave out all but one of them;
//! - elements of the patch come first, in its order, then those that only the object has. Where there are several keys,
//!   only new elements come first;
//! - `$patch` also stands alone in a list, for the whole list, and may be `merge`. `$patch: replace` in an element that
//!   the object has does nothing: kustomize puts the old one back;
//! - there is no `$setElementOrder`, `$retainKeys` or `$deleteFromPrimitiveList`: they are fields like any other;
//! - values of different kinds (a map for a text) are an error;
//! - objects without a schema are merged too: maps by field, lists replaced.
//!
//! **Deviation**: where one list has elements that differ only in leaving a key out (a port with and without a protocol),
//! kustomize loses some of them; here they stay.

use model::value::List;
use model::{Map, Str, Value};

use super::{PATCH, failed};
use crate::patch::{Error, go_text};
use crate::schema::{Relation, Shape};
use crate::{Schema, TypeId};

/// Merges `patch` into `object`. `ty` is the type of the object, if it is known. `None` where the patch deletes it.
///
/// # Errors
/// [`Error::Failed`] for an unknown `$patch`, and where a value of the patch is of another kind than the object's.
pub fn merge(
    object: Value,
    patch: &Value,
    schema: &Schema,
    ty: Option<TypeId>,
) -> Result<Option<Value>, Error> {
    Merge { schema }.value(Some(object), Some(patch), ty)
}

/// What `$patch` says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

impl Directive {
    fn read(value: Option<&Value>) -> Result<Directive, Error> {
        match value.map(|value| value.as_str().unwrap_or_default()) {
            None | Some("merge") => Ok(Directive::Merge),
            Some("replace") => Ok(Directive::Replace),
            Some("delete") => Ok(Directive::Delete),
            Some(other) => Err(failed(format!("unknown patch strategy '{other}'"))),
        }
    }
}

struct Merge<'s> {
    schema: &'s Schema,
}

impl Merge<'_> {
    /// Merges two values, each of which may be missing. `None` where nothing is left.
    fn value(
        &self,
        old: Option<Value>,
        patch: Option<&Value>,
        ty: Option<TypeId>,
    ) -> Result<Option<Value>, Error> {
        let Some(patch) = patch else { return Ok(old) };
        let present = old.as_ref().filter(|old| !old.is_null());
        if let Some(old) = present
            && !patch.is_null()
            && kind(old) != kind(patch)
        {
            let (wanted, found) = (kind(old), kind(patch));
            let content = go_text::plain(patch);
            return Err(failed(format!(
                "wrong node kind: expected {wanted} but got {found}: node contents:\n{content}"
            )));
        }
        match (old, patch) {
            (_, Value::Null) => Ok(None),
            (Some(Value::Object(old)), Value::Object(patch)) => self.maps(Some(old), patch, ty),
            (_, Value::Object(patch)) => self.maps(None, patch, ty),
            (old, Value::Array(patch)) => {
                let old = match old {
                    Some(Value::Array(old)) => Some(old),
                    _ => None,
                };
                match self.list_keys(ty) {
                    Some((keys, item)) => self.lists(old, patch, &keys, item),
                    None => Ok(Some(Value::Array(patch.clone()))),
                }
            }
            (_, scalar) => Ok(Some(scalar.clone())),
        }
    }

    fn maps(&self, old: Option<Map>, patch: &Map, ty: Option<TypeId>) -> Result<Option<Value>, Error> {
        let mut result = match (old, Directive::read(patch.get(PATCH))) {
            (_, Ok(Directive::Delete)) => return Ok(None),
            (Some(old), Ok(Directive::Merge)) => old,
            (Some(_), Err(error)) => return Err(error),
            // What is new or replaces all is merged into nothing, so that directives inside of it are followed too.
            _ => Map::new(),
        };
        for (key, value) in patch.iter().filter(|(key, _)| *key != PATCH) {
            let old = result.get_mut(key).map(Value::take);
            match self.value(old, Some(value), self.member(ty, key))? {
                Some(value) => result.insert(key, value),
                None => result.remove(key),
            };
        }
        Ok(Some(Value::Object(result)))
    }

    /// Merges lists whose elements are told apart by `keys`, or by themselves where there are none.
    fn lists(
        &self,
        old: Option<List>,
        patch: &List,
        keys: &[Str],
        item: TypeId,
    ) -> Result<Option<Value>, Error> {
        // Only the first element with a directive is looked at.
        let alone = patch.iter().position(|item| item.get(PATCH).is_some());
        let alone = alone.filter(|at| is_directive_alone(&patch[*at]));
        let old = match (old, Directive::read(alone.and_then(|at| patch[at].get(PATCH)))?) {
            (_, Directive::Delete) => return Ok(None),
            (Some(old), Directive::Merge) => old,
            _ => List::new(),
        };
        let patch: Vec<&Value> = patch
            .iter()
            .enumerate()
            .filter(|(at, _)| Some(*at) != alone)
            .map(|(_, item)| item)
            .collect();
        if keys.is_empty() {
            let mut merged: List = patch.into_iter().cloned().collect();
            merged.extend(old);
            return Ok(Some(Value::Array(unique(merged))));
        }
        let mut old: Vec<Option<Value>> = old.into_iter().map(Some).collect();
        let mut first = List::new();
        for element in patch {
            let at = old
                .iter()
                .position(|old| old.as_ref().is_some_and(|old| is_same(old, element, keys)));
            let found = at.and_then(|at| old[at].take());
            let merged = match found {
                Some(found) if Directive::read(element.get(PATCH))? == Directive::Replace => Some(found),
                found => self.value(found, Some(element), Some(item))?,
            };
            let merged = merged.filter(|value| value.as_object().is_none_or(|map| !map.is_empty()));
            match at.filter(|_| keys.len() > 1) {
                Some(at) => old[at] = merged,
                None => first.extend(merged),
            }
        }
        first.extend(old.into_iter().flatten());
        Ok(Some(Value::Array(first)))
    }

    fn member(&self, ty: Option<TypeId>, key: &str) -> Option<TypeId> {
        match &self.schema.get(ty?).shape {
            Shape::Struct(fields) => fields.field(key).map(|field| field.ty),
            Shape::Map { item, .. } => Some(*item),
            _ => None,
        }
    }

    /// The keys of a list that is merged, with the type of its elements; `None` for lists that are replaced.
    fn list_keys(&self, ty: Option<TypeId>) -> Option<(Vec<Str>, TypeId)> {
        let Shape::List(list) = &self.schema.get(ty?).shape else {
            return None;
        };
        match &list.relation {
            Relation::Keys(keys) if !list.merge_key.is_empty() => Some((keys.clone(), list.item)),
            _ if !list.merge_key.is_empty() => Some((vec![list.merge_key.clone()], list.item)),
            Relation::Set => Some((Vec::new(), list.item)),
            _ => None,
        }
    }
}

/// Whether two elements are one: some key says so, and none that both have says otherwise.
fn is_same(old: &Value, patch: &Value, keys: &[Str]) -> bool {
    let mut found = false;
    for key in keys {
        match (old.get(key), patch.get(key)) {
            (Some(old), Some(patch)) if go_text::plain(old) == go_text::plain(patch) => found = true,
            (Some(_), Some(_)) => return false,
            _ => {}
        }
    }
    found
}

fn is_directive_alone(item: &Value) -> bool {
    item.as_object()
        .is_some_and(|map| map.len() == 1 && map.contains_key(PATCH))
}

fn unique(items: List) -> List {
    let mut seen = std::collections::HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert(go_text::plain(item)))
        .collect()
}

/// The name YAML gives the kind of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "MappingNode",
        Value::Array(_) => "SequenceNode",
        _ => "ScalarNode",
    }
}
