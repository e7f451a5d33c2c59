//! Merging lists.

use std::collections::{HashMap, HashSet};

use model::Value;
use model::value::List;

use super::lookup::{self, ListField};
use super::map::{Merge, Nulls, unknown_directive, without_directives};
use super::order::{self, Key, Places, key_of};
use super::{PATCH, failed, wrong_type};
use crate::patch::{Error, go_text};

impl Merge<'_> {
    /// Merges two lists. With `deletes`, the elements of `patch` are taken out of `original` instead, where they are
    /// single values.
    pub(super) fn merge_lists(
        &self,
        original: List,
        patch: &[Value],
        field: &ListField<'_>,
        deletes: bool,
    ) -> Result<List, Error> {
        if original.is_empty() && patch.is_empty() {
            return Ok(original);
        }
        if !elements_are_maps(&original, patch)? {
            if deletes {
                let gone: HashSet<Key> = patch.iter().filter_map(Key::of).collect();
                return Ok(original
                    .into_iter()
                    .filter(|item| Key::of(item).is_none_or(|key| !gone.contains(&key)))
                    .collect());
            }
            return match original.iter().chain(patch).next() {
                Some(item) if !field.merge_key.is_empty() => Err(wrong_type("map[string]interface {}", item)),
                _ => Ok(merge_sets(original, patch)),
            };
        }
        if field.merge_key.is_empty() {
            let kind = lookup::kind_name(self.schema, field.item);
            return Err(failed(format!("cannot merge lists without merge key for {kind}")));
        }
        let (original, patch) = follow_directives(original, patch, field.merge_key)?;
        let server_order = order::keys(&original, field.merge_key)?;
        let merged = self.merge_elements(original, &patch, field)?;
        let patch_order = order::keys(patch.iter().copied(), field.merge_key)?;
        order::arrange(merged, &patch_order, &server_order, field.merge_key)
    }

    /// Merges each element of the patch into the one with its key, or appends it.
    fn merge_elements(
        &self,
        mut original: List,
        patch: &[&Value],
        field: &ListField<'_>,
    ) -> Result<List, Error> {
        let mut places: HashMap<Key, usize> = HashMap::new();
        for (at, item) in original.iter().enumerate() {
            if let Some(key) = item.get(field.merge_key).and_then(Key::of) {
                places.entry(key).or_insert(at);
            }
        }
        for item in patch {
            let found = key_of(item, field.merge_key)?.and_then(|key| places.get(&key).copied());
            match (found, item) {
                (Some(at), Value::Object(fields)) => {
                    self.merge(original[at].make_object(), fields, field.item)?;
                }
                _ => {
                    if let Some(key) = item.get(field.merge_key).and_then(Key::of) {
                        places.entry(key).or_insert(original.len());
                    }
                    original.push((*item).clone());
                }
            }
        }
        Ok(original)
    }

    /// Merges a list for which the patch gives the order of elements (`$setElementOrder`). `None` where there is
    /// nothing to order.
    pub(super) fn merge_in_order(
        &self,
        original: Option<List>,
        patch: Option<&List>,
        order: &[Value],
        field: &ListField<'_>,
    ) -> Result<Option<List>, Error> {
        if let Some(patch) = patch {
            order::check(patch, order, field.merge_key)?;
        }
        let server = original.clone().unwrap_or_default();
        let patch_items = patch.map(|list| list.as_slice()).unwrap_or_default();
        let merged = match (original, patch) {
            (None, None) => return Ok(None),
            (Some(original), None) => original,
            (None, Some(patch)) => patch
                .iter()
                .filter_map(|item| without_directives(item, Nulls::Keep))
                .collect(),
            (Some(original), Some(patch)) if field.strategy.merge => {
                self.merge_lists(original, patch, field, false)?
            }
            (Some(_), Some(patch)) => patch.clone(),
        };
        let maps = elements_are_maps(&server, patch_items)?;
        if server.is_empty() && patch_items.is_empty() {
            return Err(failed("no elements in any of the given slices"));
        }
        if maps && field.merge_key.is_empty() {
            let kind = lookup::kind_name(self.schema, field.item);
            return Err(failed(format!("cannot merge lists without merge key for {kind}")));
        }
        let wanted = order::keys_of_order(order, field.merge_key)?;
        let server_order = match maps && field.strategy.merge && !server.is_empty() {
            true => order_after_deletions(&server, patch_items, field.merge_key)?,
            false => order::keys(&server, field.merge_key)?,
        };
        order::arrange(merged, &wanted, &server_order, field.merge_key).map(Some)
    }
}

/// The order that elements have on the server once the patch's deletions are done.
///
/// The server deletes in place, and then appends new elements into the room that came free: to the ordering, those look
/// as if they had been in the list already. Only as many as were deleted, hence the count.
fn order_after_deletions(server: &[Value], patch: &[Value], merge_key: &str) -> Result<Places, Error> {
    let is_deletion = |item: &&Value| {
        item.get(PATCH)
            .is_some_and(|directive| directive.as_str() == Some("delete"))
    };
    let mut gone = HashSet::new();
    for item in patch.iter().filter(is_deletion) {
        gone.extend(key_of(item, merge_key)?);
    }
    let key = |item: &Value| item.get(merge_key).and_then(Key::of);
    let kept: Vec<&Value> = server
        .iter()
        .filter(|item| key(item).is_none_or(|key| !gone.contains(&key)))
        .collect();
    let free = server.len() - kept.len();
    let mut order = order::keys(kept.iter().copied(), merge_key)?;
    let start = kept.len();
    let new = patch
        .iter()
        .filter(|item| item.get(PATCH).is_none())
        .filter_map(key);
    let mut added = 0;
    for key in new {
        if added == free {
            break;
        }
        if let std::collections::hash_map::Entry::Vacant(place) = order.entry(key) {
            place.insert(start + added);
            added += 1;
        }
    }
    Ok(order)
}

/// The patch's values in the patch's order, the others where they were.
fn merge_sets(original: List, patch: &[Value]) -> List {
    let server_order = order::places(original.iter().filter_map(Key::of));
    let patch_order = order::places(patch.iter().filter_map(Key::of));
    let mut seen = HashSet::new();
    let merged = original
        .into_iter()
        .chain(patch.iter().cloned())
        .filter(|item| Key::of(item).is_none_or(|key| seen.insert(key)))
        .collect();
    order::arrange_by(merged, &patch_order, &server_order, Key::of)
}

/// Does what the elements with `$patch` say. Returns the original list without what they delete and the elements
/// of the patch that are left to merge.
fn follow_directives<'p>(
    mut original: List,
    patch: &'p [Value],
    merge_key: &str,
) -> Result<(List, Vec<&'p Value>), Error> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut gone = HashSet::new();
    let mut replace = false;
    for item in patch {
        let Some(directive) = item.get(PATCH) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => gone.extend(key_of(item, merge_key)?),
            Some("replace") => replace = true,
            Some("merge") => return Err(failed("merging lists cannot yet be specified in the patch")),
            _ => {
                return Err(unknown_directive(
                    directive,
                    item.as_object().unwrap_or(&model::Map::new()),
                ));
            }
        }
    }
    if replace {
        return Ok((plain.into_iter().cloned().collect(), Vec::new()));
    }
    if !gone.is_empty() {
        original.retain(|item| {
            item.get(merge_key)
                .and_then(Key::of)
                .is_none_or(|key| !gone.contains(&key))
        });
    }
    Ok((original, plain))
}

/// Whether the elements of both lists are maps. All must have one type, and that may not be a list.
fn elements_are_maps(original: &[Value], patch: &[Value]) -> Result<bool, Error> {
    let mut items = original.iter().chain(patch);
    let Some(first) = items.next() else {
        return Ok(false);
    };
    match first {
        Value::Array(_) => return Err(Error::Unprocessable("lists of lists are not supported".into())),
        Value::Null => return Err(wrong_type("map[string]interface {}", first)),
        _ => {}
    }
    let kind = std::mem::discriminant(first);
    if items.any(|item| std::mem::discriminant(item) != kind) {
        let lists = go_text::lists(&[original, patch]);
        return Err(failed(format!("list element types are not identical: {lists}")));
    }
    Ok(matches!(first, Value::Object(_)))
}
