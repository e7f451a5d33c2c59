//! Writes that bring the whole object.

use model::{Str, Value};

use super::entry::{self, Entry, Operation};
use super::settle::{Touched, reconcile, settle};
use super::strip::strip;
use super::{OnConflict, Origin, Typing, Write, cap};
use crate::typed::Duplicates;

/// Sets the managed fields of `new`, which replaces `live`: the writer becomes the owner of all that changed, and of
/// nothing else. `live` is `None` when the object is created.
///
/// Managed fields in `new` are taken for what the user wants them to be: none keeps those of the live object, a list
/// with one empty entry starts anew, an empty list too but for custom resources, and what cannot be read is ignored. A
/// write to a subresource never sets them. This cannot fail: an object that is not of its type, or whose managed fields
/// are of a version that its kind does not have, ends up without managed fields.
pub fn update(typing: &Typing<'_>, live: Option<&Value>, mut new: Value, write: &Write<'_>) -> Value {
    let supplied = new.remove_at(&["metadata", "managedFields"]);
    let empty;
    let old = match live {
        Some(live) => live,
        None => {
            empty = typing.empty();
            &empty
        }
    };
    let supplied = supplied.as_ref().filter(|_| write.subresource.is_empty());
    let mut entries = current_entries(typing, old, supplied);
    // Objects that were there before anyone was tracked stay untracked until the first apply.
    if entries.is_empty() && !old.str_at(&["metadata", "uid"]).is_empty() {
        return new;
    }
    let is_valid = |object| match typing.origin {
        Origin::BuiltIn => true,
        Origin::Custom => typing.ty.validate(object, Duplicates::Allowed).is_ok(),
    };
    if !is_valid(&new) || !is_valid(old) {
        return new;
    }
    let touched = Touched::between(typing.ty, write.reset, old, &new);
    let settled = reconcile(typing, old, &mut entries).and_then(|()| {
        settle(
            typing,
            write,
            &touched,
            (old, &new),
            &mut entries,
            OnConflict::Force,
        )
    });
    if settled.is_err() {
        return new;
    }
    take_over(typing, touched, write.manager, write, &mut entries);
    cap::limit_updaters(&mut entries);
    if let Some(managed) = entry::encode(entries) {
        new.set_at(&["metadata", "managedFields"], managed);
    }
    new
}

/// Makes `manager` the owner of what was touched.
pub(super) fn take_over(
    typing: &Typing<'_>,
    touched: Touched,
    manager: &str,
    write: &Write<'_>,
    entries: &mut Vec<Entry<'_>>,
) {
    let mut set = touched.set;
    strip(&mut set);
    if set.is_empty() {
        return;
    }
    let mut own = Entry {
        manager: Str::new(if manager.is_empty() { "unknown" } else { manager }),
        operation: Operation::Update,
        api_version: Str::new(typing.api_version),
        subresource: Str::new(write.subresource),
        time: Some(Str::new(write.now)),
        set,
        read: None,
    };
    match entries.iter_mut().find(|entry| entry.is_same_manager(&own)) {
        Some(known) => {
            own.set.extend(std::mem::take(&mut known.set));
            *known = own;
        }
        None => entries.push(own),
    }
}

fn current_entries<'a>(typing: &Typing<'_>, live: &'a Value, supplied: Option<&Value>) -> Vec<Entry<'a>> {
    let of_live = || entry::decode(live.list_at(&["metadata", "managedFields"])).unwrap_or_default();
    let Some(list) = supplied.and_then(Value::as_array) else {
        return of_live();
    };
    let is_reset = match list.as_slice() {
        // Reading the metadata of a custom resource drops empty lists before anyone sees them.
        [] if typing.origin == Origin::Custom => return of_live(),
        [] => true,
        [one] => is_empty_entry(one),
        _ => false,
    };
    if is_reset {
        return Vec::new();
    }
    match entry::decode(list) {
        Ok(entries) => entries.into_iter().map(Entry::detached).collect(),
        Err(_) => of_live(),
    }
}

fn is_empty_entry(entry: &Value) -> bool {
    let names = [
        "manager",
        "operation",
        "apiVersion",
        "time",
        "fieldsType",
        "fieldsV1",
        "subresource",
    ];
    names.iter().all(|name| match entry.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::Str(text)) => text.is_empty(),
        Some(_) => false,
    })
}
