//! The order of merged lists.
//!
//! Elements of the patch (or of `$setElementOrder`) keep its order, all others keep the order they had. The two rows
//! are then zipped: an element that only the object has goes before the next of the patch's elements that stood behind it.

use std::collections::HashMap;

use model::value::List;
use model::{Str, Value};

use super::{PATCH, SET_ORDER, failed, wrong_type};
use crate::patch::{Error, go_text};

/// What tells elements apart: a single value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    Str(Str),
}

impl Key {
    /// The value as a key; `None` for maps and lists, which equal nothing.
    pub(super) fn of(value: &Value) -> Option<Key> {
        match value {
            Value::Null => Some(Key::Null),
            Value::Bool(flag) => Some(Key::Bool(*flag)),
            Value::Int(number) => Some(Key::Int(*number)),
            // Adding zero makes the two zeros one.
            Value::Float(number) => Some(Key::Float((number + 0.0).to_bits())),
            Value::Str(text) => Some(Key::Str(text.clone())),
            Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Where each key stands first.
pub(super) type Places = HashMap<Key, usize>;

/// The key of an element that is a map; of the element itself where `merge_key` is empty.
pub(super) fn key_of(item: &Value, merge_key: &str) -> Result<Option<Key>, Error> {
    if merge_key.is_empty() {
        return Ok(Key::of(item));
    }
    let Value::Object(map) = item else {
        return Err(wrong_type("map[string]interface {}", item));
    };
    match map.get(merge_key) {
        Some(value) => Ok(Key::of(value)),
        None => Err(failed(format!(
            "map: {} does not contain declared merge key: {merge_key}",
            go_text::plain(item)
        ))),
    }
}

/// The places of keys that come in order.
pub(super) fn places(keys: impl Iterator<Item = Key>) -> Places {
    let mut places = Places::new();
    for (at, key) in keys.enumerate() {
        places.entry(key).or_insert(at);
    }
    places
}

/// The places of the keys of `items`, each of which must have one.
pub(super) fn keys<'v>(items: impl IntoIterator<Item = &'v Value>, merge_key: &str) -> Result<Places, Error> {
    let mut found = Places::new();
    for (at, item) in items.into_iter().enumerate() {
        if let Some(key) = key_of(item, merge_key)? {
            found.entry(key).or_insert(at);
        }
    }
    Ok(found)
}

/// The places of the keys that `$setElementOrder` lists.
pub(super) fn keys_of_order(order: &[Value], merge_key: &str) -> Result<Places, Error> {
    let no_map = order
        .iter()
        .position(|item| !merge_key.is_empty() && !matches!(item, Value::Object(_)));
    match no_map {
        Some(at) => Err(failed(format!("value for key {at} is not a map"))),
        None => keys(order, merge_key),
    }
}

/// Puts merged elements that are maps in order. All must have their key.
pub(super) fn arrange(merged: List, first: &Places, server: &Places, merge_key: &str) -> Result<List, Error> {
    for item in &merged {
        key_of(item, merge_key)?;
    }
    Ok(arrange_by(merged, first, server, |item| {
        key_of(item, merge_key).ok().flatten()
    }))
}

/// Puts merged elements in order: those of `first` in its order, the others as they stand in `server`.
pub(super) fn arrange_by(
    merged: List,
    first: &Places,
    server: &Places,
    key: impl Fn(&Value) -> Option<Key>,
) -> List {
    let mut wanted: Vec<(usize, Option<usize>, Value)> = Vec::new();
    let mut others: Vec<(usize, Value)> = Vec::new();
    for item in merged {
        let key = key(&item);
        let place_in = |places: &Places| key.as_ref().and_then(|key| places.get(key).copied());
        match place_in(first) {
            Some(at) => wanted.push((at, place_in(server), item)),
            None => others.push((place_in(server).unwrap_or(usize::MAX), item)),
        }
    }
    wanted.sort_by_key(|(at, _, _)| *at);
    others.sort_by_key(|(at, _)| *at);
    let mut result = List::with_capacity(wanted.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, place, item) in wanted {
        while let Some((_, other)) = others.next_if(|(at, _)| place.is_some_and(|place| *at < place)) {
            result.push(other);
        }
        result.push(item);
    }
    result.extend(others.map(|(_, other)| other));
    result
}

/// Checks that `$setElementOrder` lists every element of the patch, in the same order. Deletions are not looked at.
pub(super) fn check(patch: &[Value], order: &[Value], merge_key: &str) -> Result<(), Error> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    if let Some(item) = patch
        .iter()
        .find(|item| !merge_key.is_empty() && !matches!(item, Value::Object(_)))
    {
        return Err(wrong_type("map[string]interface {}", item));
    }
    let deletes =
        |item: &Value| !merge_key.is_empty() && item.get(PATCH).and_then(Value::as_str) == Some("delete");
    let mut items = patch.iter().filter(|item| !deletes(item)).peekable();
    let mut rest = order.iter().peekable();
    while let (Some(item), Some(listed)) = (items.peek(), rest.peek()) {
        if item.get(PATCH).is_some() {
            items.next();
            continue;
        }
        let key = key_of(item, merge_key)?;
        if key_of(listed, merge_key)? == key && key.is_some() {
            items.next();
        }
        rest.next();
    }
    match items.next() {
        None => Ok(()),
        Some(_) => Err(failed(format!(
            "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
            go_text::list_text(patch),
            go_text::list_text(order)
        ))),
    }
}
