//! Removing what an applier applied before and now left out.

use model::{Str, Value};

use super::Typing;
use super::entry::Entry;
use super::settle::{convert, other_versions};
use crate::fieldset::FieldSet;
use crate::typed::TypeRef;

/// Removes from `merged` the fields of `last` that are neither in `applied`, the set of the apply at hand, nor owned by
/// another manager.
///
/// First everything of `last` goes, then what others own comes back, then what was only removed because it was inside
/// of something else. The last two steps matter for list elements: an element goes with all that is in it unless
/// somebody owns the element itself, but not because a field in it was dropped.
///
/// Returns whether anything was removed.
///
/// # Errors
/// When the object is not valid in the version of a manager, in the words of the API server.
pub(super) fn prune(
    typing: &Typing<'_>,
    merged: &mut Value,
    last: &Entry<'_>,
    applied: &FieldSet,
    others: &[Entry<'_>],
) -> Result<bool, String> {
    let is_one_version = last.api_version == typing.api_version && other_versions(typing, others).is_empty();
    // All ancestors of an applied field that could be removed are applied themselves: nothing can go.
    if last.set.is_empty() || (is_one_version && last.set.is_subset(applied)) {
        return Ok(false);
    }
    let Some(ty) = typing.type_at(&last.api_version) else {
        return Ok(false);
    };
    if last.api_version != typing.api_version {
        convert(ty, merged)
            .map_err(|text| format!("failed to convert merged object to last applied version: {text}"))?;
    }
    let mut dropped = last.set.clone();
    ty.add_named_fields(&mut dropped);
    let mut pruned = merged.clone();
    ty.remove_items(&mut pruned, &dropped);

    let mut owned = owned_by_version(typing, applied, others);
    // The version of the last apply comes first, as in the API server.
    owned.sort_by_key(|(version, _)| *version != last.api_version);
    for (version, set) in owned {
        let Some(ty) = typing.type_at(&version) else {
            continue;
        };
        if !is_one_version {
            convert_both(ty, &version, merged, &pruned)?;
        }
        pruned = add_back(ty, merged, &pruned, set);
    }

    let mut gone = named_fields(ty, merged);
    gone.subtract(&named_fields(ty, &pruned));
    let gone = gone.intersection(&dropped);
    if !gone.is_empty() {
        ty.remove_items(merged, &gone);
    }
    Ok(!gone.is_empty())
}

fn convert_both(ty: TypeRef<'_>, version: &str, merged: &Value, pruned: &Value) -> Result<(), String> {
    for (name, object) in [("merged", merged), ("pruned", pruned)] {
        convert(ty, object).map_err(|problems| {
            format!("failed add back owned items: failed to convert {name} object at version {version}: {problems}")
        })?;
    }
    Ok(())
}

fn owned_by_version(typing: &Typing<'_>, applied: &FieldSet, others: &[Entry<'_>]) -> Vec<(Str, FieldSet)> {
    let mut owned = vec![(Str::new(typing.api_version), applied.clone())];
    for entry in others {
        match owned
            .iter_mut()
            .find(|(version, _)| *version == entry.api_version)
        {
            Some((_, set)) => set.extend(entry.set.clone()),
            None => owned.push((entry.api_version.clone(), entry.set.clone())),
        }
    }
    owned
}

/// `merged` without what is neither left in `pruned` nor owned.
fn add_back(ty: TypeRef<'_>, merged: &Value, pruned: &Value, mut owned: FieldSet) -> Value {
    ty.add_named_fields(&mut owned);
    let mut gone = named_fields(ty, merged);
    gone.subtract(&named_fields(ty, pruned));
    gone.subtract(&owned);
    let mut value = merged.clone();
    ty.remove_items(&mut value, &gone);
    value
}

fn named_fields(ty: TypeRef<'_>, value: &Value) -> FieldSet {
    let mut set = ty.field_set(value);
    ty.add_named_fields(&mut set);
    set
}
