//! Server-side apply.

use model::{Str, Value};

use super::conflict::Conflicts;
use super::entry::{self, Entry, Operation};
use super::settle::{Touched, Unsettled, reconcile, settle};
use super::strip::strip;
use super::time::is_same_but;
use super::update::take_over;
use super::{OnConflict, Origin, Typing, Write, cap, gvk, last_applied, prune, without_managed_fields};
use crate::fieldset::FieldSet;
use crate::typed::Duplicates;

/// Why an apply is refused. The text is the message of the API server's status.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The request cannot be meant: reason `BadRequest`, code 400.
    #[error("{0}")]
    BadRequest(String),
    /// Others own what would change: reason `Conflict`, code 409.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The configuration or the live object is not of its type, or managed fields are of no known version: reason
    /// `InternalError`, code 500, as in the real one.
    #[error("{0}")]
    Untyped(String),
}

/// Who owned fields that nobody is known to have written, when an object is applied for the first time.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Applies the configuration `applied` to `live`, which is `None` when the object is created. Returns the merged
/// object with its managed fields; defaults are not filled in yet.
///
/// # Errors
/// See [`ApplyError`].
pub fn apply(
    typing: &Typing<'_>,
    live: Option<&Value>,
    applied: &Value,
    write: &Write<'_>,
    on_conflict: OnConflict,
) -> Result<Value, ApplyError> {
    let empty;
    let live = match live {
        Some(live) => live,
        None => {
            empty = typing.empty();
            &empty
        }
    };
    check(typing, live, applied)?;
    let attempt = Attempt {
        typing,
        live,
        applied,
        write,
    };
    let mut merged = match attempt.run(on_conflict) {
        Err(Refusal::Conflicts(conflicts)) if write.manager == last_applied::KUBECTL => {
            let own = last_applied::own_fields(typing, live).unwrap_or_default();
            let conflicts = conflicts.without(&own);
            if !conflicts.is_empty() {
                return Err(ApplyError::Conflicts(conflicts));
            }
            attempt.run(OnConflict::Force)?
        }
        result => result?,
    };
    if write.manager == last_applied::KUBECTL {
        last_applied::follow(&mut merged, applied);
    }
    Ok(merged)
}

fn check(typing: &Typing<'_>, live: &Value, applied: &Value) -> Result<(), ApplyError> {
    let (version, kind) = (applied.str_at(&["apiVersion"]), applied.str_at(&["kind"]));
    if version != typing.api_version || kind != typing.kind {
        return Err(ApplyError::BadRequest(format!(
            "invalid object type: {}",
            gvk(version, kind)
        )));
    }
    if applied
        .at(&["metadata", "managedFields"])
        .is_some_and(|managed| !managed.is_null())
    {
        return Err(ApplyError::BadRequest(
            "metadata.managedFields must be nil".to_owned(),
        ));
    }
    let untyped = |what: &str, object: &Value, problems| {
        let (namespace, name) = (
            object.str_at(&["metadata", "namespace"]),
            object.str_at(&["metadata", "name"]),
        );
        let gvk = gvk(typing.api_version, typing.kind);
        ApplyError::Untyped(format!(
            "failed to create typed {what} object ({namespace}/{name}; {gvk}): {problems}"
        ))
    };
    let validate = |object, duplicates| typing.ty.validate(object, duplicates);
    validate(applied, Duplicates::Forbidden).map_err(|problems| untyped("patch", applied, problems))?;
    // Built-in objects are valid when they are stored, but a definition may change under its objects.
    if typing.origin == Origin::BuiltIn {
        return Ok(());
    }
    validate(live, Duplicates::Allowed).map_err(|problems| untyped("live", live, problems))
}

enum Refusal {
    Conflicts(Conflicts),
    Entries(entry::EntryError),
    Version(String),
}

impl From<Unsettled> for Refusal {
    fn from(unsettled: Unsettled) -> Self {
        match unsettled {
            Unsettled::Conflicts(conflicts) => Refusal::Conflicts(conflicts),
            Unsettled::Version(text) => Refusal::Version(text),
        }
    }
}

impl From<Refusal> for ApplyError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Conflicts(conflicts) => ApplyError::Conflicts(conflicts),
            Refusal::Version(text) => ApplyError::Untyped(text),
            Refusal::Entries(error) => {
                ApplyError::Untyped(format!("failed to decode managed fields: {error}"))
            }
        }
    }
}

struct Attempt<'a, 't> {
    typing: &'a Typing<'t>,
    live: &'a Value,
    applied: &'a Value,
    write: &'a Write<'a>,
}

impl<'a> Attempt<'a, '_> {
    fn run(&self, on_conflict: OnConflict) -> Result<Value, Refusal> {
        let Attempt {
            typing,
            live,
            applied,
            write,
        } = *self;
        let mut entries = self.entries()?;
        reconcile(typing, live, &mut entries)?;

        let mut set = typing.ty.field_set(applied);
        write.reset.filter(&mut set);
        let mut own = self.own_entry(set);
        let last = entries
            .iter()
            .position(|entry| entry.is_same_manager(&own))
            .map(|at| entries.swap_remove(at));

        let mut merged = without_managed_fields(live);
        let mut comparison = typing.ty.merge(&mut merged, applied);
        if let Some(last) = &last {
            let pruned = prune::prune(typing, &mut merged, last, &own.set, &entries);
            if pruned.map_err(|text| Refusal::Version(format!("failed to prune fields: {text}")))? {
                comparison = typing.ty.compare(live, &merged);
            }
        }
        let touched = Touched::new(comparison, write.reset);
        settle(
            typing,
            write,
            &touched,
            (live, &merged),
            &mut entries,
            on_conflict,
        )?;

        strip(&mut own.set);
        let is_changed = !is_same_object(live, &merged);
        own.time = match (&last, is_changed) {
            (_, true) => Some(Str::new(write.now)),
            (Some(last), false) => last.time.clone(),
            (None, false) => None,
        };
        if let Some(last) = last.filter(|last| last.set == own.set) {
            own.read = last.read;
        }
        if !own.set.is_empty() {
            entries.push(own);
        }
        if let Some(managed) = entry::encode(entries) {
            merged.set_at(&["metadata", "managedFields"], managed);
        }
        Ok(merged)
    }

    fn own_entry(&self, set: FieldSet) -> Entry<'a> {
        let manager = if self.write.manager.is_empty() {
            "unknown"
        } else {
            self.write.manager
        };
        Entry {
            manager: Str::new(manager),
            operation: Operation::Apply,
            api_version: Str::new(self.typing.api_version),
            subresource: Str::new(self.write.subresource),
            time: None,
            set,
            read: None,
        }
    }

    /// Who owns what. Where nobody is known to, all that is there belongs to a manager of its own, so that it is not
    /// lost.
    fn entries(&self) -> Result<Vec<Entry<'a>>, Refusal> {
        let Attempt {
            typing, live, write, ..
        } = *self;
        let list = live.list_at(&["metadata", "managedFields"]);
        let mut entries = entry::decode(list).map_err(Refusal::Entries)?;
        if entries.is_empty() {
            let touched = Touched::between(typing.ty, write.reset, &typing.empty(), live);
            take_over(typing, touched, BEFORE_FIRST_APPLY, write, &mut entries);
            cap::limit_updaters(&mut entries);
        }
        Ok(entries)
    }
}

/// Whether two objects are equal but for managed fields.
fn is_same_object(a: &Value, b: &Value) -> bool {
    is_same_but(a, b, "metadata", |a, b| {
        is_same_but(a, b, "managedFields", |_, _| true)
    })
}
