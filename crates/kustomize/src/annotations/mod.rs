//! `commonAnnotations`: annotations on everything and on pod templates.

use std::collections::BTreeMap;

use crate::field::FieldSpec;
use crate::labels::Labels;
use crate::resmap::ResMap;
use crate::schema::Schema;
use crate::transform::Transform;

/// Adds annotations. That is done as labels are added, to other fields.
pub(crate) struct Annotations(Labels);

impl Annotations {
    pub(crate) fn new(pairs: &BTreeMap<String, String>, specs: &[FieldSpec]) -> Annotations {
        Annotations(Labels::new(pairs, specs))
    }
}

impl Transform for Annotations {
    fn transform(&self, resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
        self.0.transform(resources, schema)
    }
}
