//! Entries of `metadata.managedFields`.

use std::cmp::Ordering;

use model::{Map, Str, Value, json};

use super::time;
use crate::fieldset::{self, FieldSet};
use crate::go_text::Quoted;

/// Why entries of managed fields cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The operation is neither of the two.
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    /// There is no version.
    #[error("apiVersion must not be empty")]
    NoVersion,
    /// There is no type of fields.
    #[error("missing fieldsType in managed fields entry {0}")]
    NoFieldsType(usize),
    /// The type of fields is not `FieldsV1`.
    #[error("invalid fieldsType {} in managed fields entry {at}", Quoted(.fields_type))]
    FieldsType {
        /// What it is instead.
        fields_type: String,
        /// The place of the entry.
        at: usize,
    },
    /// The fields cannot be read.
    #[error("error decoding set")]
    Fields(#[source] fieldset::Error),
}

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// What one manager owns.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) manager: Str,
    pub(super) operation: Operation,
    pub(super) api_version: Str,
    pub(super) subresource: Str,
    pub(super) time: Option<Str>,
    pub(super) set: FieldSet,
    /// The set as it was read, as long as it is the same.
    pub(super) read: Option<&'a Value>,
}

/// Checks that managed fields can be read.
///
/// # Errors
/// The first thing that is wrong.
pub fn validate_entries(entries: &[Value]) -> Result<(), EntryError> {
    decode(entries).map(drop)
}

/// Reads entries, in the order of their identity. Of entries with the same identity the last one counts.
pub(super) fn decode(list: &[Value]) -> Result<Vec<Entry<'_>>, EntryError> {
    let entries = list.iter().enumerate().map(|(at, entry)| Entry::read(at, entry));
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(Entry::compare_identity);
    entries.dedup_by(|later, kept| {
        let is_same = later.compare_identity(kept).is_eq();
        if is_same {
            std::mem::swap(later, kept);
        }
        is_same
    });
    Ok(entries)
}

/// Writes entries in the order of the API server; `None` for none.
pub(super) fn encode(mut entries: Vec<Entry<'_>>) -> Option<Value> {
    entries.sort_by(|a, b| {
        let seconds = |entry: &Entry<'_>| entry.time.as_deref().and_then(time::seconds).unwrap_or_default();
        let operation = a.operation.cmp(&b.operation);
        let names = || {
            let versions = || a.api_version.cmp(&b.api_version);
            a.manager
                .cmp(&b.manager)
                .then_with(versions)
                .then_with(|| a.subresource.cmp(&b.subresource))
        };
        operation
            .then_with(|| seconds(a).cmp(&seconds(b)))
            .then_with(names)
    });
    if entries.is_empty() {
        None
    } else {
        Some(entries.iter().map(Entry::write).collect())
    }
}

impl<'a> Entry<'a> {
    fn read(at: usize, entry: &'a Value) -> Result<Self, EntryError> {
        let operation = match entry.str_at(&["operation"]) {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err(EntryError::Operation),
        };
        let api_version = entry.str_at(&["apiVersion"]);
        if api_version.is_empty() {
            return Err(EntryError::NoVersion);
        }
        match entry.str_at(&["fieldsType"]) {
            "FieldsV1" => {}
            "" => return Err(EntryError::NoFieldsType(at)),
            other => {
                return Err(EntryError::FieldsType {
                    fields_type: other.to_owned(),
                    at,
                });
            }
        }
        let read = entry.get("fieldsV1").filter(|fields| !fields.is_null());
        let set = read
            .map(FieldSet::from_value)
            .transpose()
            .map_err(EntryError::Fields)?
            .unwrap_or_default();
        Ok(Entry {
            manager: Str::new(entry.str_at(&["manager"])),
            operation,
            api_version: Str::new(api_version),
            subresource: Str::new(entry.str_at(&["subresource"])),
            time: entry.get("time").and_then(Value::as_str).map(Str::new),
            set,
            read,
        })
    }

    fn write(&self) -> Value {
        let fields = self.read.cloned().unwrap_or_else(|| self.set.to_value());
        let operation = match self.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        let mut entry = Map::with_capacity(7);
        entry.push(Str::const_new("apiVersion"), Value::Str(self.api_version.clone()));
        entry.push(
            Str::const_new("fieldsType"),
            Value::Str(Str::const_new("FieldsV1")),
        );
        entry.push(Str::const_new("fieldsV1"), fields);
        if !self.manager.is_empty() {
            entry.push(Str::const_new("manager"), Value::Str(self.manager.clone()));
        }
        entry.push(Str::const_new("operation"), Value::str(operation));
        if !self.subresource.is_empty() {
            entry.push(
                Str::const_new("subresource"),
                Value::Str(self.subresource.clone()),
            );
        }
        if let Some(time) = &self.time {
            entry.push(Str::const_new("time"), Value::Str(time.clone()));
        }
        Value::Object(entry)
    }

    /// The same entry, to be written anew.
    pub(super) fn detached(self) -> Entry<'static> {
        Entry { read: None, ..self }
    }

    /// Appliers are the same in every version, updaters are not.
    pub(super) fn compare_identity(&self, other: &Entry<'_>) -> Ordering {
        let version = |entry: &'_ Entry<'_>| match entry.operation {
            Operation::Apply => Str::const_new(""),
            Operation::Update => entry.api_version.clone(),
        };
        let names = self
            .manager
            .cmp(&other.manager)
            .then_with(|| self.operation.cmp(&other.operation));
        names
            .then_with(|| version(self).cmp(&version(other)))
            .then_with(|| self.subresource.cmp(&other.subresource))
    }

    pub(super) fn is_same_manager(&self, other: &Entry<'_>) -> bool {
        self.compare_identity(other).is_eq()
    }

    /// The text that the API server knows the manager by and sorts managers by.
    pub(super) fn identifier(&self) -> String {
        let mut text = String::from("{");
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                let comma = if text.len() > 1 { "," } else { "" };
                text.push_str(&format!(
                    "{comma}\"{name}\":{}",
                    json::to_string(&Value::str(value))
                ));
            }
        };
        add("manager", &self.manager);
        match self.operation {
            Operation::Apply => add("operation", "Apply"),
            Operation::Update => {
                add("operation", "Update");
                add("apiVersion", &self.api_version);
            }
        }
        add("subresource", &self.subresource);
        text.push('}');
        text
    }
}
