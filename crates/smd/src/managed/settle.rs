//! What a change means for those who own the changed fields.

use model::{Str, Value};

use super::conflict::Conflicts;
use super::entry::Entry;
use super::{OnConflict, Origin, Reset, Typing, Write, gvk};
use crate::fieldset::FieldSet;
use crate::go_text::Quoted;
use crate::typed::{Comparison, Duplicates, TypeRef};

/// The fields that a write changed, in one version.
pub(super) struct Touched {
    /// Added or modified.
    pub(super) set: FieldSet,
    pub(super) removed: FieldSet,
}

impl Touched {
    /// What differs between two objects.
    pub(super) fn between(ty: TypeRef<'_>, reset: &Reset, old: &Value, new: &Value) -> Self {
        Touched::new(ty.compare(old, new), reset)
    }

    pub(super) fn new(comparison: Comparison, reset: &Reset) -> Self {
        let Comparison {
            mut removed,
            modified: mut set,
            added,
        } = comparison;
        set.extend(added);
        reset.filter(&mut set);
        reset.filter(&mut removed);
        Touched { set, removed }
    }

    fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }
}

/// Why a write cannot be settled.
pub(super) enum Unsettled {
    /// Others own what would change.
    Conflicts(Conflicts),
    /// The object is no valid one in a version that one of its managers uses. The text is the API server's.
    Version(String),
}

/// Brings the sets of `entries` in line with types that changed since. Entries of built-in versions that are gone are
/// dropped; of a custom resource they are an error.
pub(super) fn reconcile(
    typing: &Typing<'_>,
    live: &Value,
    entries: &mut Vec<Entry<'_>>,
) -> Result<(), Unsettled> {
    for version in other_versions(typing, entries) {
        match typing.type_at(&version) {
            Some(ty) => convert(ty, live).map_err(Unsettled::Version)?,
            None if typing.origin == Origin::Custom => {
                return Err(Unsettled::Version(refusal(typing, &version)));
            }
            None => {}
        }
    }
    entries.retain_mut(|entry| match typing.type_at(&entry.api_version) {
        None => false,
        // Built-in types do not change while objects of them are there.
        Some(_) if typing.origin == Origin::BuiltIn => true,
        Some(ty) => {
            if ty.reconcile(&mut entry.set) {
                entry.read = None;
            }
            true
        }
    });
    Ok(())
}

/// The versions that `entries` use besides that of the request, each once.
pub(super) fn other_versions(typing: &Typing<'_>, entries: &[Entry<'_>]) -> Vec<Str> {
    let mut versions: Vec<Str> = Vec::new();
    for entry in entries
        .iter()
        .filter(|entry| entry.api_version != typing.api_version)
    {
        if !versions.contains(&entry.api_version) {
            versions.push(entry.api_version.clone());
        }
    }
    versions
}

/// Converts an object to another version: its content stays the same, but must be of that version's type.
pub(super) fn convert(ty: TypeRef<'_>, object: &Value) -> Result<(), String> {
    ty.validate(object, Duplicates::Forbidden)
        .map_err(|problems| problems.to_string())
}

fn refusal(typing: &Typing<'_>, api_version: &str) -> String {
    let group = |version: &str| {
        version
            .split_once('/')
            .map_or(String::new(), |(group, _)| group.to_owned())
    };
    if group(api_version) == group(typing.api_version) {
        return format!("request to convert CR to an invalid group/version: {api_version}");
    }
    let kind = gvk(typing.api_version, typing.kind);
    format!(
        "{kind} is unstructured and is not suitable for converting to {}",
        Quoted(api_version)
    )
}

/// Takes changed and removed fields away from those who own them; none of `entries` is the writer's own. `touched` is
/// what changed from `old` to `new` in the version of the request.
pub(super) fn settle(
    typing: &Typing<'_>,
    write: &Write<'_>,
    touched: &Touched,
    (old, new): (&Value, &Value),
    entries: &mut Vec<Entry<'_>>,
    on_conflict: OnConflict,
) -> Result<(), Unsettled> {
    // The real server knows what is reset in another version of a custom resource only for its subresources.
    let is_known = typing.origin == Origin::BuiltIn || !write.subresource.is_empty();
    let reset = if is_known { write.reset } else { &Reset::Nothing };
    let mut others: Vec<(Str, Touched)> = Vec::new();
    for version in other_versions(typing, entries) {
        let Some(ty) = typing.type_at(&version) else {
            continue;
        };
        for (name, object) in [("old", old), ("new", new)] {
            let failed =
                |problems| Unsettled::Version(format!("failed to convert {name} object: {problems}"));
            convert(ty, object).map_err(failed)?;
        }
        others.push((version, Touched::between(ty, reset, old, new)));
    }
    let touched_at = |version: &Str| match version == typing.api_version {
        true => touched,
        false => others
            .iter()
            .find(|(known, _)| known == version)
            .map_or(touched, |(_, touched)| touched),
    };

    if on_conflict == OnConflict::Fail {
        let mut conflicts = Conflicts::new();
        for entry in entries.iter() {
            let changed = entry.set.intersection(&touched_at(&entry.api_version).set);
            if !changed.is_empty() {
                conflicts.add(entry, &changed);
            }
        }
        if !conflicts.is_empty() {
            return Err(Unsettled::Conflicts(conflicts.sorted()));
        }
    }
    entries.retain_mut(|entry| {
        let touched = touched_at(&entry.api_version);
        if !touched.is_empty() {
            let (taken, gone) = (
                entry.set.subtract(&touched.set),
                entry.set.subtract(&touched.removed),
            );
            if taken || gone {
                entry.read = None;
            }
        }
        !entry.set.is_empty()
    });
    Ok(())
}
