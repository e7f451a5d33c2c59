//! Merging maps, and the directives that stand in them.

use std::collections::HashSet;

use model::{Map, Value};

use super::{DELETE_FROM_LIST, PATCH, RETAIN_KEYS, SET_ORDER, failed, list_name, lookup};
use crate::patch::{Error, go_text};
use crate::{Schema, TypeId};

/// A merge against one schema.
pub(super) struct Merge<'s> {
    pub(super) schema: &'s Schema,
}

impl Merge<'_> {
    /// Merges `patch` into `original`, a map of the type `ty`.
    pub(super) fn merge(&self, original: &mut Map, patch: &Map, ty: TypeId) -> Result<(), Error> {
        if let Some(directive) = patch.get(PATCH) {
            return follow_directive(directive, original, patch);
        }
        retain_keys(original, patch)?;
        let ordered = self.merge_ordered_lists(original, patch, ty)?;
        for (key, value) in patch.iter() {
            if key == RETAIN_KEYS || key.starts_with(SET_ORDER) || ordered.contains(key) {
                continue;
            }
            let deletes = key.starts_with(DELETE_FROM_LIST);
            let name = if deletes {
                list_name(key, DELETE_FROM_LIST)?
            } else {
                key
            };
            self.merge_field(original, name, value, ty, deletes)?;
        }
        Ok(())
    }

    /// Merges one field. `deletes` says that `value` lists the elements to take out of it.
    fn merge_field(
        &self,
        original: &mut Map,
        name: &str,
        value: &Value,
        ty: TypeId,
        deletes: bool,
    ) -> Result<(), Error> {
        if value.is_null() {
            original.remove(name);
            return Ok(());
        }
        match (original.get_mut(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let field = lookup::field(self.schema, ty, name)?;
                if field.strategy.replace {
                    *old = new.clone();
                    return Ok(());
                }
                self.merge(old, new, field.ty)
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                let field = lookup::list(self.schema, ty, name)?;
                if field.strategy.merge || deletes {
                    *old = self.merge_lists(std::mem::take(old), new, &field, deletes)?;
                } else {
                    *old = new.clone();
                }
                Ok(())
            }
            _ if deletes => Ok(()),
            _ => {
                match without_directives(value, Nulls::Drop) {
                    Some(new) => original.insert(name, new),
                    None => original.remove(name),
                };
                Ok(())
            }
        }
    }

    /// Merges the lists for which the patch gives an order. Returns their names.
    fn merge_ordered_lists<'p>(
        &self,
        original: &mut Map,
        patch: &'p Map,
        ty: TypeId,
    ) -> Result<HashSet<&'p str>, Error> {
        let mut done = HashSet::new();
        for (key, order) in patch.iter().filter(|(key, _)| key.starts_with(SET_ORDER)) {
            let Value::Array(order) = order else {
                return Err(super::wrong_type("[]interface {}", order));
            };
            let name = list_name(key, SET_ORDER)?;
            let (old, new) = (original.get(name), patch.get(name));
            for list in [old, new].into_iter().flatten() {
                if !matches!(list, Value::Array(_)) {
                    return Err(super::wrong_type("[]interface {}", list));
                }
            }
            let field = lookup::list(self.schema, ty, name)?;
            let old = old.and_then(Value::as_array).cloned();
            let new = new.and_then(Value::as_array);
            if let Some(merged) = self.merge_in_order(old, new, order, &field)? {
                original.insert(name, Value::Array(merged));
                done.insert(name);
            }
        }
        Ok(done)
    }
}

/// `$patch` in a map: take the patch as it is, or empty the map.
fn follow_directive(directive: &Value, original: &mut Map, patch: &Map) -> Result<(), Error> {
    match directive.as_str() {
        Some("replace") => {
            *original = patch.clone();
            original.remove(PATCH);
            Ok(())
        }
        Some("delete") => {
            *original = Map::new();
            Ok(())
        }
        _ => Err(unknown_directive(directive, patch)),
    }
}

/// A `$patch` that is none of the known ones.
pub(super) fn unknown_directive(directive: &Value, patch: &Map) -> Error {
    let kind = match directive {
        Value::Str(text) => text.to_string(),
        Value::Null => "%!s(<nil>)".into(),
        // Go's `%s` of something that is no string.
        other => format!("%!s({}={})", go_text::type_name(other), go_text::plain(other)),
    };
    failed(format!(
        "unknown patch type: {kind} in map: {}",
        go_text::plain(&Value::Object(patch.clone()))
    ))
}

/// `$retainKeys`: drops the fields it does not list. All fields of the patch must be listed.
fn retain_keys(original: &mut Map, patch: &Map) -> Result<(), Error> {
    let malformed = || Error::BadRequest("invalid patch format of retainKeys".into());
    let Some(directive) = patch.get(RETAIN_KEYS) else {
        return Ok(());
    };
    let listed: HashSet<&str> = directive
        .as_array()
        .ok_or_else(malformed)?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let is_plain =
        |key: &str| key != RETAIN_KEYS && !key.starts_with(DELETE_FROM_LIST) && !key.starts_with(SET_ORDER);
    for (key, _) in patch
        .iter()
        .filter(|(key, value)| is_plain(key) && !value.is_null())
    {
        if !listed.contains(key) {
            return Err(malformed());
        }
    }
    original.retain(|key, _| listed.contains(key));
    Ok(())
}

/// What becomes of null fields in a value that is taken over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    Keep,
    Drop,
}

/// A copy without the maps that carry `$patch`; `None` where the value itself is one.
pub(super) fn without_directives(value: &Value, nulls: Nulls) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => None,
        Value::Object(map) => {
            let mut kept = Map::with_capacity(map.len());
            for (key, value) in map
                .iter()
                .filter(|(_, value)| nulls == Nulls::Keep || !value.is_null())
            {
                if let Some(value) = without_directives(value, nulls) {
                    kept.push(key.into(), value);
                }
            }
            Some(Value::Object(kept))
        }
        Value::Array(items) => Some(
            items
                .iter()
                .filter_map(|item| without_directives(item, nulls))
                .collect(),
        ),
        other => Some(other.clone()),
    }
}
