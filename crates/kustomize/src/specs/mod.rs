//! Where transformers look for the fields they change: kustomize's own list, and what `configurations` and `crds` add.

mod crds;
mod read;
mod table;

pub(crate) use crds::from_crds;
pub(crate) use read::from_value;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use crate::field::{FieldSpec, merge_specs};
use crate::id::Gvk;
use crate::name_reference::Rules;
use crate::problem::{InText, Problem, key};
use crate::sort::DEFAULT_ORDER;

/// The fields that each transformer changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Specs {
    pub(crate) name_prefix: Vec<FieldSpec>,
    pub(crate) name_suffix: Vec<FieldSpec>,
    pub(crate) namespace: Vec<FieldSpec>,
    pub(crate) common_labels: Vec<FieldSpec>,
    pub(crate) labels: Vec<FieldSpec>,
    pub(crate) template_labels: Vec<FieldSpec>,
    pub(crate) common_annotations: Vec<FieldSpec>,
    pub(crate) name_reference: Vec<BackReferences>,
    pub(crate) var_reference: Vec<FieldSpec>,
    pub(crate) images: Vec<FieldSpec>,
    pub(crate) replicas: Vec<FieldSpec>,
    rules: Made,
}

/// The rules for references, made when they are first needed. They follow from the rest and so do not count for
/// equality, and a copy that may be changed makes its own.
#[derive(Debug, Default)]
struct Made(OnceLock<Rules>);

impl Clone for Made {
    fn clone(&self) -> Self {
        Made::default()
    }
}

impl PartialEq for Made {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The fields that hold the name of a resource of some kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BackReferences {
    pub(crate) target: Gvk,
    pub(crate) referrers: Vec<FieldSpec>,
}

/// Why two lists cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to merge {list} fieldSpec: {problem}")]
pub(crate) struct Conflict {
    /// The field of the list, as Go calls it.
    list: &'static str,
    problem: String,
}

impl Conflict {
    /// The same about a file of field specs.
    pub(crate) fn into_problem(self) -> Problem {
        Problem::in_text(InText::Field(vec![key(self.list)]), self.to_string())
    }
}

impl Specs {
    /// kustomize's own.
    pub fn builtin() -> Specs {
        let mut specs = Specs::default();
        specs
            .merge(&table::read(include_str!("../../data/field-specs.txt")))
            .expect("our own table does not contradict itself");
        specs
    }

    /// The rules by which references are fixed.
    pub(crate) fn rules(&self) -> &Rules {
        self.rules.0.get_or_init(|| Rules::new(&self.name_reference))
    }

    /// Adds what another list has and this one has not.
    pub(crate) fn merge(&mut self, other: &Specs) -> Result<(), Conflict> {
        self.rules = Made::default();
        let lists = [
            ("NamePrefix", &mut self.name_prefix, &other.name_prefix),
            ("NameSuffix", &mut self.name_suffix, &other.name_suffix),
            ("NameSpace", &mut self.namespace, &other.namespace),
            (
                "CommonAnnotations",
                &mut self.common_annotations,
                &other.common_annotations,
            ),
            ("CommonLabels", &mut self.common_labels, &other.common_labels),
            ("Labels", &mut self.labels, &other.labels),
            (
                "TemplateLabels",
                &mut self.template_labels,
                &other.template_labels,
            ),
            ("VarReference", &mut self.var_reference, &other.var_reference),
            ("Images", &mut self.images, &other.images),
            ("Replicas", &mut self.replicas, &other.replicas),
        ];
        for (name, specs, more) in lists {
            merge_specs(specs, more).map_err(|problem| Conflict { list: name, problem })?;
            specs.sort_by_cached_key(|spec| position(&spec.gvk));
        }
        self.add_references(&other.name_reference)
            .map_err(|problem| Conflict {
                list: "NameReference",
                problem,
            })?;
        self.name_reference
            .sort_by_cached_key(|references| position(&references.target));
        Ok(())
    }

    /// Adds referrers to the targets that are there, and targets that are not.
    fn add_references(&mut self, more: &[BackReferences]) -> Result<(), String> {
        let mut places: HashMap<Gvk, usize> = HashMap::new();
        for (index, known) in self.name_reference.iter().enumerate() {
            places.entry(known.target.clone()).or_insert(index);
        }
        for new in more {
            match places.entry(new.target.clone()) {
                Entry::Occupied(place) => {
                    merge_specs(&mut self.name_reference[*place.get()].referrers, &new.referrers)?;
                }
                Entry::Vacant(place) => {
                    place.insert(self.name_reference.len());
                    self.name_reference.push(new.clone());
                }
            }
        }
        Ok(())
    }
}

/// Where a kind stands: the legacy order first, then by group, version and kind.
fn position(gvk: &Gvk) -> (i64, String) {
    (DEFAULT_ORDER.rank(&gvk.kind), sort_text(gvk))
}

fn sort_text(gvk: &Gvk) -> String {
    let or = |text: &str, missing: &'static str| -> String {
        if text.is_empty() {
            missing.to_owned()
        } else {
            text.to_owned()
        }
    };
    format!(
        "{}_{}_{}",
        or(&gvk.group, "~G"),
        or(&gvk.version, "~V"),
        or(&gvk.kind, "~K")
    )
}
