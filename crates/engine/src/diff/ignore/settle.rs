//! What is applied in the place of fields that are ignored.
//!
//! To leave an ignored field out of what is applied would be wrong: who applied it before and leaves it out removes it.
//! So a field that somebody else applies as well is left out, and everything else is applied as the cluster has it.

use model::Value;

use super::super::owner::Owners;
use super::super::path::Step;
use super::super::pointer::Pointer;
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
        let mut dropped = Vec::new();
        let mut kept = Vec::new();
        for rule in self.matching(merged) {
            let mut pointers: Vec<Pointer> = rule.pointers.clone();
            for expression in &rule.expressions {
                let found = [live, merged].map(|object| expression.paths(object));
                pointers.extend(found.into_iter().flatten());
            }
            for owner in &rule.managers {
                pointers.extend(managed::differing(owner, live, merged));
            }
            for pointer in pointers {
                let value = pointer.get(live);
                if value == pointer.get(merged) {
                    continue;
                }
                if is_applied_by_another(&pointer, live, manager) {
                    dropped.push(pointer);
                } else {
                    kept.push((pointer, value.cloned()));
                }
            }
        }
        settle(applied, dropped, kept)
    }
}

fn settle(
    applied: &mut Value,
    dropped: Vec<Pointer>,
    kept: Vec<(Pointer, Option<Value>)>,
) -> Result<(), Missing> {
    for pointer in &dropped {
        pointer.remove(applied);
    }
    for (pointer, value) in kept {
        if !pointer.replace(applied, value.unwrap_or_default()) {
            return Err(Missing(pointer.text().to_owned()));
        }
    }
    Ok(())
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
