//! Reads the files that `configurations` names.

use model::Value;

use super::{BackReferences, Specs};
use crate::config::{self, Mistake, Strictness};

config::fields! {
    /// A file of field specs.
    struct File in "TransformerConfig" {
        name_prefix: Vec<config::FieldSpec> = "namePrefix",
        name_suffix: Vec<config::FieldSpec> = "nameSuffix",
        namespace: Vec<config::FieldSpec> = "namespace",
        common_labels: Vec<config::FieldSpec> = "commonLabels",
        labels: Vec<config::FieldSpec> = "labels",
        template_labels: Vec<config::FieldSpec> = "templateLabels",
        common_annotations: Vec<config::FieldSpec> = "commonAnnotations",
        name_reference: Vec<Reference> = "nameReference",
        var_reference: Vec<config::FieldSpec> = "varReference",
        images: Vec<config::FieldSpec> = "images",
        replicas: Vec<config::FieldSpec> = "replicas",
    }
}

config::fields! {
    /// The fields that hold the name of a resource of some kind.
    struct Reference in "NameBackReferences" {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        field_specs: Vec<config::FieldSpec> = "fieldSpecs",
    }
}

/// The field specs of a file.
pub(crate) fn from_value(value: &Value) -> Result<Specs, Vec<Mistake>> {
    let (file, mistakes) = config::decode_all::<File>(value, Strictness::Strict);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let specs = |list: Vec<config::FieldSpec>| list.into_iter().map(Into::into).collect();
    let references = file.name_reference.into_iter().map(|reference| BackReferences {
        target: crate::id::Gvk {
            group: reference.group.into(),
            version: reference.version.into(),
            kind: reference.kind.into(),
        },
        referrers: specs(reference.field_specs),
    });
    Ok(Specs {
        name_reference: references.collect(),
        name_prefix: specs(file.name_prefix),
        name_suffix: specs(file.name_suffix),
        namespace: specs(file.namespace),
        common_labels: specs(file.common_labels),
        labels: specs(file.labels),
        template_labels: specs(file.template_labels),
        common_annotations: specs(file.common_annotations),
        var_reference: specs(file.var_reference),
        images: specs(file.images),
        replicas: specs(file.replicas),
        ..Specs::default()
    })
}
