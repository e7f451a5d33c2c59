//! `commonAnnotations`: annotations on everything and on pod templates.

use std::collections::BTreeMap;

use crate::field::FieldSpec;
use crate::labels::Labels;
use crate::schema::Schema;
use crate::transform::{Each, Transform};

/// Adds annotations. That is done as labels are added, to other fields.
pub(crate) struct Annotations(Labels);

impl Annotations {
    pub(crate) fn new(pairs: &BTreeMap<String, String>, specs: &[FieldSpec]) -> Annotations {
        Annotations(Labels::new(pairs, specs))
    }
}

impl Transform for Annotations {
    fn each<'t>(&'t self, schema: &'t Schema) -> Option<Each<'t>> {
        self.0.each(schema)
    }

    fn keeps_ids(&self) -> bool {
        self.0.keeps_ids()
    }
}
