//! Who owns a field, by the managed fields of an object.

use model::{Value, json};

use super::path::Step;

/// A manager and how it came to own a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner<'o> {
    pub(crate) manager: &'o str,
    pub(crate) operation: &'o str,
}

/// The managed fields of one object.
pub(crate) struct Owners<'o> {
    entries: &'o [Value],
}

impl<'o> Owners<'o> {
    pub(crate) fn of(object: &'o Value) -> Self {
        Owners {
            entries: object.list_at(&["metadata", "managedFields"]),
        }
    }

    /// Who owns what is at the end of `path`, or something in it, or the whole that it is part of; of several the one that
    /// wrote last.
    pub(crate) fn owner(&self, path: &[Step<'_>]) -> Option<Owner<'o>> {
        let mut found: Option<(&str, Owner<'o>)> = None;
        for entry in self.entries {
            let Some(fields) = entry.get("fieldsV1") else {
                continue;
            };
            let time = entry.str_at(&["time"]);
            if owns(fields, path) && found.as_ref().is_none_or(|(last, _)| *last <= time) {
                let owner = Owner {
                    manager: entry.str_at(&["manager"]),
                    operation: entry.str_at(&["operation"]),
                };
                found = Some((time, owner));
            }
        }
        found.map(|(_, owner)| owner)
    }

    /// Whether a manager other than `manager` applies exactly what is at the end of `path`, be it a whole with more in it.
    pub(crate) fn is_applied_by_another(&self, path: &[Step<'_>], manager: &str) -> bool {
        self.entries.iter().any(|entry| {
            entry.str_at(&["operation"]) == "Apply"
                && entry.str_at(&["subresource"]).is_empty()
                && entry.str_at(&["manager"]) != manager
                && entry.get("fieldsV1").is_some_and(|fields| {
                    path.iter()
                        .try_fold(fields, |fields, step| below(fields, step))
                        .is_some()
                })
        })
    }

    /// The fields by which the elements of the list at the end of `path` are told apart; none where that is not known.
    pub(crate) fn keys(&self, path: &[Step<'_>]) -> Option<Vec<String>> {
        self.entries.iter().find_map(|entry| {
            let list = path
                .iter()
                .try_fold(entry.get("fieldsV1")?, |fields, step| below(fields, step))?;
            let key = list
                .as_object()?
                .keys()
                .find_map(|name| name.strip_prefix("k:"))?;
            let key = json::parse(key.as_bytes()).ok()?;
            Some(key.as_object()?.keys().map(str::to_owned).collect())
        })
    }
}

/// Whether a set of fields has something at the end of `path`, or ends before it: then it owns the whole.
fn owns(fields: &Value, path: &[Step<'_>]) -> bool {
    let mut place = fields;
    for (depth, step) in path.iter().enumerate() {
        match below(place, step) {
            Some(child) => place = child,
            None => return depth > 0 && is_leaf(place),
        }
    }
    true
}

fn is_leaf(fields: &Value) -> bool {
    fields
        .as_object()
        .is_none_or(|fields| fields.keys().all(|name| name == "."))
}

/// What a set of fields says of one child.
fn below<'f>(fields: &'f Value, step: &Step<'_>) -> Option<&'f Value> {
    let fields = fields.as_object()?;
    match step {
        Step::Field(name) => fields.get(&format!("f:{name}")),
        Step::Item { index, item } => fields
            .iter()
            .find(|(name, _)| is_item(name, *index, item))
            .map(|(_, below)| below),
    }
}

/// Whether an element of a set of fields (`k:{"name":"a"}`, `v:"a"`, `i:0`) means this element of a list.
pub(super) fn is_item(name: &str, index: usize, item: &Value) -> bool {
    let Some((kind, text)) = name.split_once(':') else {
        return false;
    };
    match kind {
        "i" => text.parse() == Ok(index),
        "v" => json::parse(text.as_bytes()).is_ok_and(|value| value == *item),
        "k" => json::parse(text.as_bytes()).is_ok_and(|key| {
            key.as_object()
                .is_some_and(|key| key.iter().all(|(name, value)| item.get(name) == Some(value)))
        }),
        _ => false,
    }
}
