//! Fields of resources: where transformers look for them and how they are reached.

mod lookup;
mod path;
mod select;
mod shared;
mod walk;

pub(crate) use lookup::{lookup, lookup_create, lookup_mut};
pub(crate) use path::{split, split_bracketed};
pub(crate) use select::{Created, Growing, select};
pub(crate) use shared::{WRITTEN, Writes, unlink};
pub(crate) use walk::{Create, FieldPath, set_text, set_value, wrong_kind};

use std::collections::HashMap;

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

impl FieldSpec {
    /// Whether what a resource is known by stays as it is, whatever is written there.
    pub(crate) fn keeps_id(&self) -> bool {
        let mut parts = self.path.split('/');
        match (parts.next(), parts.next()) {
            (Some(first), second) if first.starts_with("metadata") => {
                matches!(second, Some("labels" | "annotations"))
            }
            (None | Some("" | "kind" | "apiVersion"), _) => false,
            _ => true,
        }
    }
}

/// So many fields one list may have: each is looked for in every resource.
const MAX_SPECS: usize = 10_000;

/// Adds what is not there yet. Two that differ only in whether they are made contradict each other.
pub(crate) fn merge_specs(specs: &mut Vec<FieldSpec>, more: &[FieldSpec]) -> Result<(), String> {
    let mut known = Known::of(specs, more.len());
    for new in more {
        match known.find(specs, new) {
            Some(old) if old.create != new.create => return Err("conflicting fieldspecs".to_owned()),
            Some(_) => {}
            None if specs.len() >= MAX_SPECS => return Err(format!("more than {MAX_SPECS} fieldspecs")),
            None => {
                known.add(new, specs.len());
                specs.push(new.clone());
            }
        }
    }
    Ok(())
}

/// Where the fields of a list are in it. Lists can be long, and are merged again for every base.
enum Known {
    /// So few are added that looking through the list is quicker.
    Few,
    /// By path and kind; without a kind, all of the path.
    Many(HashMap<(Str, Str), Vec<usize>>),
}

impl Known {
    fn of(specs: &[FieldSpec], more: usize) -> Known {
        if more < 16 {
            return Known::Few;
        }
        let mut known = Known::Many(HashMap::with_capacity(specs.len() + more));
        for (index, spec) in specs.iter().enumerate() {
            known.add(spec, index);
        }
        known
    }

    fn add(&mut self, spec: &FieldSpec, index: usize) {
        if let Known::Many(places) = self {
            let mut add = |kind| places.entry((spec.path.clone(), kind)).or_default().push(index);
            add(Str::default());
            if !spec.gvk.kind.is_empty() {
                add(spec.gvk.kind.clone());
            }
        }
    }

    /// The first that a new one means.
    fn find<'s>(&self, specs: &'s [FieldSpec], new: &FieldSpec) -> Option<&'s FieldSpec> {
        let is_meant = |old: &&FieldSpec| old.path == new.path && old.gvk.is_selected_by(&new.gvk);
        match self {
            Known::Few => specs.iter().find(is_meant),
            Known::Many(places) => {
                let places = places.get(&(new.path.clone(), new.gvk.kind.clone()))?;
                places.iter().map(|index| &specs[*index]).find(is_meant)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_specs_at_once_are_merged_as_one_after_another() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut spec = || {
            let mut part = |texts: [&str; 3]| Str::from(texts[random.usize(..3)]);
            FieldSpec {
                gvk: Gvk {
                    group: part(["", "apps", "batch"]),
                    version: part(["", "v1", "v2"]),
                    kind: part(["", "Job", "Pod"]),
                },
                path: part(["spec", "data", "metadata/name"]),
                create: false,
            }
        };
        for _ in 0..50 {
            let specs: Vec<_> = (0..40).map(|_| spec()).collect();
            let mut at_once = specs[..10].to_vec();
            let mut one_by_one = at_once.clone();
            merge_specs(&mut at_once, &specs[10..]).unwrap();
            for one in specs[10..].chunks(1) {
                merge_specs(&mut one_by_one, one).unwrap();
            }
            assert_eq!(at_once, one_by_one);
        }
    }
}
