//! What is applied in the place of fields that are ignored.
//!
//! To leave an ignored field out of what is applied would be wrong: who applied it before and leaves it out removes it.
//! So a field that somebody else applies as well is left out, and everything else is applied as the cluster has it.

use model::Value;

use super::super::owner::Owners;
use super::super::path::Step;
use super::super::pointer::Pointer;
use super::counterpart::counterpart;
use super::{IgnoreRules, managed};

/// A field whose ignored value cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error(
    "the ignored field {0} is not among what is applied, so that the cluster's value cannot be kept in it"
)]
pub struct Missing(pub String);

impl IgnoreRules {
    /// Changes `applied` so that applying it leaves ignored fields as they are in `live`: those in which `merged`, the answer
    /// to the dry run, differs. `manager` is who applies.
    ///
    /// # Errors
    /// The desired object has no such field although an apply would change it.
    pub fn settle(
        &self,
        applied: &mut Value,
        live: &Value,
        merged: &Value,
        manager: &str,
    ) -> Result<(), Missing> {
        for rule in self.matching(merged) {
            let mut change = Change::default();
            for pointer in &rule.pointers {
                let value = pointer.get(live);
                if value == pointer.get(merged) {
                    continue;
                }
                if is_applied_by_another(pointer, live, manager) {
                    change.dropped.push(pointer.clone());
                } else {
                    change
                        .kept
                        .push((pointer.clone(), value.cloned().unwrap_or_default()));
                }
            }
            change.make_as_flux(applied)?;
            let settling = Settling {
                live,
                merged,
                manager,
            };
            for expression in &rule.expressions {
                settling.settle(applied, &expression.paths(applied), &applied.clone());
            }
            for owner in &rule.managers {
                settling.settle(applied, &managed::owned(owner, live), live);
            }
        }
        Ok(())
    }
}

/// What is done to the object that is applied.
#[derive(Default)]
struct Change {
    dropped: Vec<Pointer>,
    kept: Vec<(Pointer, Value)>,
}

impl Change {
    /// One after the other, by place, as Flux does.
    fn make_as_flux(self, applied: &mut Value) -> Result<(), Missing> {
        for pointer in &self.dropped {
            pointer.remove(applied);
        }
        for (pointer, value) in self.kept {
            if !pointer.replace(applied, value) {
                return Err(Missing(pointer.text().to_owned()));
            }
        }
        Ok(())
    }
}

/// Rules that Flux has not. Elements of lists are found in each object by their keys: their places differ.
struct Settling<'o> {
    live: &'o Value,
    merged: &'o Value,
    manager: &'o str,
}

impl Settling<'_> {
    /// Settles what is at `pointers`, which lead into `from`.
    fn settle(&self, applied: &mut Value, pointers: &[Pointer], from: &Value) {
        let owners = Owners::of(self.live);
        let mut change = Change::default();
        for pointer in pointers {
            let place = |object: &Value| counterpart(pointer, from, object, &owners);
            let Some(own) = place(applied) else {
                continue;
            };
            let (in_live, in_merged) = (place(self.live), place(self.merged));
            let value = in_live.as_ref().and_then(|pointer| pointer.get(self.live));
            if value == in_merged.as_ref().and_then(|pointer| pointer.get(self.merged)) {
                continue;
            }
            let is_applied = in_live
                .as_ref()
                .is_some_and(|pointer| is_applied_by_another(pointer, self.live, self.manager));
            match value {
                Some(value) if !is_applied => change.kept.push((own, value.clone())),
                _ => change.dropped.push(own),
            }
        }
        for (pointer, value) in change.kept {
            pointer.replace(applied, value);
        }
        // From the end: elements after a removed one move up.
        for pointer in change.dropped.iter().rev() {
            pointer.remove(applied);
        }
    }
}

/// Whether a manager other than `manager` applies what is at `pointer`.
fn is_applied_by_another(pointer: &Pointer, live: &Value, manager: &str) -> bool {
    let mut steps = Vec::new();
    let mut place = Some(live);
    for name in pointer.steps() {
        match place {
            Some(Value::Array(items)) => {
                let Some((index, item)) = name.parse().ok().and_then(|at| Some((at, items.get(at)?))) else {
                    return false;
                };
                steps.push(Step::Item { index, item });
                place = Some(item);
            }
            _ => {
                steps.push(Step::Field(name));
                place = place.and_then(|value| value.get(name));
            }
        }
    }
    Owners::of(live).is_applied_by_another(&steps, manager)
}
