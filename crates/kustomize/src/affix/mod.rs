//! `namePrefix` and `nameSuffix`: text before and after names.
//!
//! The names of definitions, API services and namespaces stay, for others refer to them from outside.

use yaml::node::{Kind, Node, Text};

use crate::field::{Create, FieldPath, FieldSpec, set_text};
use crate::id::Gvk;
use crate::resource::LastChain;
use crate::schema::Schema;
use crate::transform::{Each, Transform};

/// Adds a prefix or suffix.
pub(crate) struct Affix {
    side: Side,
    text: Text,
    paths: Vec<FieldPath>,
}

/// Where the text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Prefix,
    Suffix,
}

impl Affix {
    pub(crate) fn new(side: Side, text: &str, specs: &[FieldSpec]) -> Affix {
        Affix {
            side,
            text: text.into(),
            paths: FieldPath::all(specs),
        }
    }

    fn set(&self, node: &mut Node) -> Result<(), String> {
        let old = node.raw_text();
        let new = match self.side {
            Side::Prefix => format!("{}{old}", self.text),
            Side::Suffix => format!("{old}{}", self.text),
        };
        set_text(node, new)
    }
}

fn keeps_its_name(gvk: &Gvk) -> bool {
    matches!(gvk.kind.as_str(), "CustomResourceDefinition" | "Namespace")
        || (gvk.kind == "APIService" && gvk.group == "apiregistration.k8s.io")
}

impl Transform for Affix {
    fn each<'t>(&'t self, schema: &'t Schema) -> Option<Each<'t>> {
        let mut last = LastChain::default();
        Some(Box::new(move |resource| {
            let original = resource.original_id(schema).gvk;
            if keeps_its_name(&original) {
                return Ok(());
            }
            for path in &self.paths {
                if !original.is_selected_by(&path.spec.gvk) {
                    continue;
                }
                if path.spec.path == "metadata/name" && !self.text.is_empty() {
                    match self.side {
                        Side::Prefix => resource.affixes.add_prefix(&self.text, &mut last),
                        Side::Suffix => resource.affixes.add_suffix(&self.text, &mut last),
                    }
                    resource.remember_id(schema);
                }
                path.apply(resource, Create::Scalar(Kind::Quoted), &mut |node| self.set(node))?;
            }
            Ok(())
        }))
    }
}
