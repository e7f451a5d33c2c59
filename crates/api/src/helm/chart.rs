//! Which chart a HelmRelease installs.

use std::collections::BTreeMap;

use crate::source::{ChartSourceKind, ReconcileStrategy, VerificationProvider};
use crate::{Duration, LocalObjectReference};

record! {
    /// The HelmChart that is made for a release.
    ChartTemplate {
        /// Labels and annotations of the HelmChart.
        optional metadata: Option<ChartTemplateMetadata> {}
        /// What the HelmChart wants.
        required spec: ChartTemplateSpec {}
    }
}

record! {
    /// Labels and annotations of the HelmChart.
    ChartTemplateMetadata {
        /// The labels.
        optional labels: BTreeMap<String, String> {}
        /// The annotations.
        optional annotations: BTreeMap<String, String> {}
    }
}

record! {
    /// What the HelmChart wants.
    ChartTemplateSpec {
        /// The name of the chart in a HelmRepository, or its path in the files of a GitRepository or Bucket.
        required chart: String { .length(1, 2048) }
        /// A version or a range of versions. It has no effect for a GitRepository or Bucket.
        optional version: Option<String> { .default_to("*") }
        /// The source that holds the chart.
        required source_ref: ChartTemplateSource {}
        /// How often the source is asked for a new version. If not set, the interval of the HelmRelease.
        optional interval: Option<Duration> {}
        /// What makes a new artifact: a new version of the chart, or any new revision of its source.
        optional reconcile_strategy: Option<ReconcileStrategy> { .default_to("ChartVersion") }
        /// Files of values in the chart that are merged, in this order, into its `values.yaml`.
        optional values_files: Vec<String> {}
        /// Skips files of values that are not there, instead of failing.
        optional ignore_missing_values_files: bool {}
        /// Whose signatures are accepted. Only for charts in an OCI registry.
        optional verify: Option<ChartTemplateVerification> {}
        /// A file of values in the chart. It goes before all of `valuesFiles`, which replaces it.
        older values_file: Option<String> {}
    }
}

record! {
    /// The source that holds a chart.
    ChartTemplateSource {
        /// The group and version of the source.
        optional api_version: Option<String> {}
        /// The kind of the source.
        required kind: ChartSourceKind {}
        /// The name of the source.
        required name: String { .length(1, 253) }
        /// The namespace of the source. If not set, the same one.
        optional namespace: Option<String> { .length(1, 63) }
    }
}

record! {
    /// Which signature a chart in an OCI registry must have.
    ChartTemplateVerification {
        /// The tool that it was signed with.
        required provider: VerificationProvider { .default_to("cosign") }
        /// A Secret with the public keys of those whose signatures are accepted.
        optional secret_ref: Option<LocalObjectReference> {}
    }
}

record! {
    /// An artifact that holds a chart.
    ChartReference {
        /// The group and version of the source.
        optional api_version: Option<String> {}
        /// The kind of the source.
        required kind: ChartReferenceKind {}
        /// The name of the source.
        required name: String { .length(1, 253) }
        /// The namespace of the source. If not set, the same one.
        optional namespace: Option<String> { .length(1, 63) }
    }
}

choice! {
    /// A kind of source whose artifact is a chart.
    ChartReferenceKind {
        OciRepository = "OCIRepository",
        HelmChart = "HelmChart",
        ExternalArtifact = "ExternalArtifact",
    }
}
