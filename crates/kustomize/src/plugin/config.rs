//! The arguments of all built-in plugins: each looks at its own.

use std::collections::BTreeMap;

use crate::config::{self, FieldSpec, Image, ObjectMeta, PatchOptions, Replacement, Replica, Selector};
use crate::value_add;

config::fields! {
    /// What a plugin is told.
    pub(super) struct Args in "Plugin" {
        metadata: ObjectMeta = "metadata",
        field_specs: Vec<FieldSpec> = "fieldSpecs",
        annotations: BTreeMap<String, String> = "annotations",
        labels: BTreeMap<String, String> = "labels",
        unset_only: bool = "unsetOnly",
        set_role_binding_subjects: String = "setRoleBindingSubjects",
        prefix: String = "prefix",
        suffix: String = "suffix",
        image_tag: Image = "imageTag",
        replica: Replica = "replica",
        path: String = "path",
        patch: String = "patch",
        target: Option<Selector> = "target",
        options: Option<PatchOptions> = "options",
        json_op: String = "jsonOp",
        paths: Vec<String> = "paths",
        patches: String = "patches",
        replacements: Vec<Replacement> = "replacements",
        value: String = "value",
        targets: Vec<value_add::Target> = "targets",
        target_file_path: String = "targetFilePath",
    }
}

impl Args {
    pub(super) fn has_field_specs(&self) -> bool {
        !self.field_specs.is_empty()
    }
}
