//! The parts that kustomizations are made of.

use std::collections::BTreeMap;

use model::Value;

use super::fields;
use crate::id::{Gvk, ResId};

fields! {
    /// Metadata of a kustomization or a plugin.
    pub(crate) struct ObjectMeta in "ObjectMeta" {
        name: String = "name",
        namespace: String = "namespace",
        labels: Option<BTreeMap<String, String>> = "labels",
        annotations: Option<BTreeMap<String, String>> = "annotations",
    }
}

fields! {
    /// Labels, and where they go.
    pub(crate) struct Label in "Label" {
        pairs: BTreeMap<String, String> = "pairs",
        include_selectors: bool = "includeSelectors",
        include_templates: bool = "includeTemplates",
        field_specs: Vec<FieldSpec> = "fields",
    }
}

fields! {
    /// A field of the resources of some kinds.
    pub(crate) struct FieldSpec in "FieldSpec" {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        path: String = "path",
        create: bool = "create",
    }
}

impl From<FieldSpec> for crate::field::FieldSpec {
    fn from(spec: FieldSpec) -> Self {
        crate::field::FieldSpec {
            gvk: Gvk {
                group: spec.group.into(),
                version: spec.version.into(),
                kind: spec.kind.into(),
            },
            path: spec.path.into(),
            create: spec.create,
        }
    }
}

fields! {
    /// A patch and what it is for.
    pub(crate) struct Patch in "Patch" {
        path: String = "path",
        patch: String = "patch",
        target: Option<Selector> = "target",
        options: Option<PatchOptions> = "options",
    }
}

fields! {
    /// What a patch may change beside the content.
    pub(crate) struct PatchOptions in "PatchArgs" {
        allow_name_change: bool = "allowNameChange",
        allow_kind_change: bool = "allowKindChange",
    }
}

fields! {
    /// Which resources are meant.
    pub(crate) struct Selector in "Selector" {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
        annotation_selector: String = "annotationSelector",
        label_selector: String = "labelSelector",
    }
}

impl From<Selector> for crate::resmap::Selector {
    fn from(selector: Selector) -> Self {
        crate::resmap::Selector {
            id: ResId {
                gvk: Gvk {
                    group: selector.group.into(),
                    version: selector.version.into(),
                    kind: selector.kind.into(),
                },
                name: selector.name.into(),
                namespace: selector.namespace.into(),
                cluster_scoped: false,
            },
            annotation_selector: selector.annotation_selector,
            label_selector: selector.label_selector,
        }
    }
}

fields! {
    /// A new name, tag or digest for an image.
    pub(crate) struct Image in "Image" {
        name: String = "name",
        new_name: String = "newName",
        tag_suffix: String = "tagSuffix",
        new_tag: String = "newTag",
        digest: String = "digest",
    }
}

fields! {
    /// How many replicas a workload gets.
    pub(crate) struct Replica in "Replica" {
        name: String = "name",
        count: i64 = "count",
    }
}

fields! {
    /// A value that is copied from one resource to others, or the file that says so.
    pub(crate) struct Replacement in "ReplacementField" {
        source: Option<Source> = "source",
        targets: Option<Vec<Target>> = "targets",
        source_value: Option<String> = "sourceValue",
        path: String = "path",
    }
}

fields! {
    /// Where a replacement gets its value.
    pub(crate) struct Source in "SourceSelector" {
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
        field_path: String = "fieldPath",
        options: Option<FieldOptions> = "options",
    }
}

fields! {
    /// Where a replacement puts its value.
    pub(crate) struct Target in "TargetSelector" {
        select: Option<Selector> = "select",
        reject: Vec<Selector> = "reject",
        field_paths: Vec<String> = "fieldPaths",
        options: Option<FieldOptions> = "options",
    }
}

fields! {
    /// Which part of a field is meant.
    pub(crate) struct FieldOptions in "FieldOptions" {
        delimiter: String = "delimiter",
        index: i64 = "index",
        encoding: String = "encoding",
        create: bool = "create",
    }
}

fields! {
    /// A value that `$(NAME)` stands for.
    pub(crate) struct Var in "Var" {
        name: String = "name",
        objref: VarTarget = "objref",
        fieldref: VarField = "fieldref",
    }
}

fields! {
    /// The resource of a var.
    pub(crate) struct VarTarget in "Target" {
        api_version: String = "apiVersion",
        group: String = "group",
        version: String = "version",
        kind: String = "kind",
        name: String = "name",
        namespace: String = "namespace",
    }
}

fields! {
    /// The field of a var.
    pub(crate) struct VarField in "FieldSelector" {
        field_path: String = "fieldPath",
    }
}

fields! {
    /// The order of what is printed.
    pub(crate) struct SortOptions in "SortOptions" {
        order: String = "order",
        legacy: Option<LegacySortOptions> = "legacySortOptions",
    }
}

fields! {
    /// The kinds that come first and last.
    pub(crate) struct LegacySortOptions in "LegacySortOptions" {
        first: Vec<String> = "orderFirst",
        last: Vec<String> = "orderLast",
    }
}

fields! {
    /// What is done to everything that is generated.
    pub(crate) struct GeneratorOptions in "GeneratorOptions" {
        labels: BTreeMap<String, String> = "labels",
        annotations: BTreeMap<String, String> = "annotations",
        disable_name_suffix_hash: bool = "disableNameSuffixHash",
        immutable: bool = "immutable",
    }
}

fields! {
    /// A ConfigMap or Secret to be made.
    pub(crate) struct GeneratorArgs in "GeneratorArgs" {
        namespace: String = "namespace",
        name: String = "name",
        behavior: String = "behavior",
        literals: Vec<String> = "literals",
        files: Vec<String> = "files",
        envs: Vec<String> = "envs",
        env: String = "env",
        options: Option<GeneratorOptions> = "options",
        /// Of Secrets alone.
        secret_type: String = "type",
    }
}

fields! {
    /// What charts have in common.
    pub struct HelmGlobals in "HelmGlobals" {
        /// The directory that holds charts, from the kustomization.
        chart_home: String = "chartHome",
        /// The directory of Helm's own configuration.
        config_home: String = "configHome",
    }
}

fields! {
    /// A chart to be rendered.
    pub struct HelmChart in "HelmChart" {
        /// The chart.
        name: String = "name",
        /// Its version.
        version: String = "version",
        /// The repository it is pulled from.
        repo: String = "repo",
        /// The name of the release.
        release_name: String = "releaseName",
        /// The namespace of the release.
        namespace: String = "namespace",
        /// More files of values.
        additional_values_files: Vec<String> = "additionalValuesFiles",
        /// The file of values; empty for that of the chart.
        values_file: String = "valuesFile",
        /// Values in the kustomization itself.
        values_inline: Option<Value> = "valuesInline",
        /// How the two are merged: `override`, `merge` or `replace`.
        values_merge: String = "valuesMerge",
        /// Whether definitions are rendered too.
        include_crds: bool = "includeCRDs",
        /// Whether hooks are left out.
        skip_hooks: bool = "skipHooks",
        /// What the cluster is told to have.
        api_versions: Vec<String> = "apiVersions",
        /// The version the cluster is told to have.
        kube_version: String = "kubeVersion",
        /// A template for the name of the release.
        name_template: String = "nameTemplate",
        /// Whether tests are left out.
        skip_tests: bool = "skipTests",
        /// Whether helm tells more.
        debug: bool = "debug",
        /// Whether versions in development are taken.
        devel: bool = "devel",
    }
}

fields! {
    /// A chart in the notation of old.
    pub(crate) struct HelmChartArgs in "HelmChartArgs" {
        chart_name: String = "chartName",
        chart_version: String = "chartVersion",
        chart_repo_url: String = "chartRepoUrl",
        chart_home: String = "chartHome",
        chart_repo_name: String = "chartRepoName",
        helm_bin: String = "helmBin",
        helm_home: String = "helmHome",
        values: String = "values",
        values_local: Option<Value> = "valuesLocal",
        values_merge: String = "valuesMerge",
        release_name: String = "releaseName",
        release_namespace: String = "releaseNamespace",
        extra_args: Vec<String> = "extraArgs",
    }
}
