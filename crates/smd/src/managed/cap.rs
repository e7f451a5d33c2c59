//! Keeping the number of updaters small.

use model::Str;

use super::entry::{Entry, Operation};
use super::time;
use crate::fieldset::FieldSet;

/// More updaters than this are not kept apart.
const MAX_UPDATERS: usize = 10;

/// The manager that the oldest updaters are merged into, one for each version.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest updaters of each version until there are few enough.
pub(super) fn limit_updaters(entries: &mut Vec<Entry<'_>>) {
    let is_updater = |entry: &Entry<'_>| entry.operation == Operation::Update;
    let mut count = entries.iter().filter(|entry| is_updater(entry)).count();
    if count <= MAX_UPDATERS {
        return;
    }
    let (mut updaters, appliers): (Vec<_>, Vec<_>) = entries.drain(..).partition(is_updater);
    updaters.sort_by_cached_key(|entry| {
        let seconds = entry.time.as_deref().and_then(time::seconds).unwrap_or_default();
        (seconds, entry.identifier())
    });
    *entries = appliers;

    let mut kept: Vec<Entry<'_>> = Vec::new();
    for entry in updaters {
        let same_version = kept
            .iter()
            .position(|other| other.api_version == entry.api_version);
        match same_version {
            Some(at) if count > MAX_UPDATERS => {
                let set = std::mem::take(&mut kept[at].set);
                kept[at] = bucket(entry, set);
                count -= 1;
            }
            _ => kept.push(entry),
        }
    }
    // A bucket of former writes may have been among those that were young enough to stay.
    let mut merged: Vec<Entry<'_>> = Vec::with_capacity(kept.len());
    for entry in kept {
        match merged.iter_mut().find(|other| other.is_same_manager(&entry)) {
            Some(same) => {
                same.set.extend(entry.set);
                same.time = entry.time;
                same.read = None;
            }
            None => merged.push(entry),
        }
    }
    entries.extend(merged);
}

/// The bucket that takes `entry` in besides what it already holds. Its time is that of the latest write in it.
fn bucket<'a>(entry: Entry<'a>, held: FieldSet) -> Entry<'a> {
    let mut set = entry.set;
    set.extend(held);
    Entry {
        manager: Str::const_new(ANCIENT),
        subresource: Str::const_new(""),
        set,
        read: None,
        ..entry
    }
}
