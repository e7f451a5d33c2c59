//! Fields of resources: where transformers look for them and how they are reached.

mod lookup;
mod path;
mod select;
mod shared;
mod walk;

pub(crate) use lookup::{lookup, lookup_mut};
pub(crate) use path::{split, split_bracketed};
pub(crate) use select::{Created, select};
pub(crate) use shared::{WRITTEN, Writes, spread_written, unlink};
pub(crate) use walk::{Create, FieldPath, set_text, set_value, wrong_kind};

use model::Str;

use crate::id::Gvk;

/// A field of the resources of some kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    /// The kinds it is about; empty parts mean any.
    pub(crate) gvk: Gvk,
    /// The names of the fields, with `/` between them.
    pub(crate) path: Str,
    /// Whether it is made where it is missing.
    pub(crate) create: bool,
}

/// So many fields one list may have: each is looked for in every resource.
const MAX_SPECS: usize = 10_000;

/// Adds what is not there yet. Two that differ only in whether they are made contradict each other.
pub(crate) fn merge_specs(specs: &mut Vec<FieldSpec>, more: &[FieldSpec]) -> Result<(), String> {
    for new in more {
        let known = specs
            .iter()
            .find(|old| old.path == new.path && old.gvk.is_selected_by(&new.gvk));
        match known {
            Some(old) if old.create != new.create => return Err("conflicting fieldspecs".to_owned()),
            Some(_) => {}
            None if specs.len() >= MAX_SPECS => return Err(format!("more than {MAX_SPECS} fieldspecs")),
            None => specs.push(new.clone()),
        }
    }
    Ok(())
}
