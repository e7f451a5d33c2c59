//! HelmChart: a chart, packaged, from a repository, a registry or the files of another source.

use model::Artifact;

use super::oci_verification::ChartVerification;
use super::{CATEGORIES, GROUP};
use crate::{AccessFrom, Column, Condition, Definition, Duration, Fields, Names, Object, ReadError, Spec};

/// A packaged Helm chart.
pub type HelmChart = Object<HelmChartSpec>;

record! {
    /// Which chart to take, and from where.
    HelmChartSpec {
        /// The name of the chart in a HelmRepository, or its path in the files of a GitRepository or Bucket.
        required chart: String {}
        /// A version or a range of versions. It has no effect for a GitRepository or Bucket.
        optional version: Option<String> { .default_to("*") }
        /// The source that holds the chart.
        required source_ref: ChartSource {}
        /// How often the source is asked for a new version.
        required interval: Duration {}
        /// What makes a new artifact: a new version of the chart, or any new revision of its source.
        optional reconcile_strategy: Option<ReconcileStrategy> { .default_to("ChartVersion") }
        /// Files of values in the chart that are merged, in this order, into its `values.yaml`.
        optional values_files: Vec<String> {}
        /// Skips files of values that are not there, instead of failing.
        optional ignore_missing_values_files: bool {}
        /// Stops looking for new versions until it is false again. The last chart stays served.
        optional suspend: bool {}
        /// Whose signatures are accepted. Only for charts in an OCI registry.
        optional verify: Option<ChartVerification> {}
        /// From which namespaces this may be referred to. It had no effect.
        older access_from: Option<AccessFrom> {}
        /// A file of values in the chart. It goes before all of `valuesFiles`, which replaces it.
        older values_file: Option<String> {}
    }
    rules {
        "!has(self.verify) || self.sourceRef.kind == 'HelmRepository'"
            => "spec.verify is only supported when spec.sourceRef.kind is 'HelmRepository'",
    }
}

record! {
    /// The source that holds a chart, in the same namespace.
    ChartSource {
        /// The group and version of the source.
        optional api_version: Option<String> {}
        /// The kind of the source.
        required kind: ChartSourceKind {}
        /// The name of the source.
        required name: String {}
    }
}

choice! {
    /// A kind of source that can hold a chart.
    ChartSourceKind { HelmRepository = "HelmRepository", GitRepository = "GitRepository", Bucket = "Bucket" }
}

choice! {
    /// What makes a new artifact of a chart.
    ReconcileStrategy { ChartVersion = "ChartVersion", Revision = "Revision" }
}

record! {
    /// Which chart was packaged last.
    HelmChartStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// The revision of the source that the chart was last taken from.
        optional observed_source_artifact_revision: Option<String> {}
        /// The name that the chart has by itself.
        optional observed_chart_name: Option<String> {}
        /// The files of values that are in the chart.
        optional observed_values_files: Vec<String> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// Where the last chart is served.
        optional url: Option<String> {}
        /// The last chart that was packaged.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional artifact: Option<Artifact> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(HelmChartStatus);

impl Spec for HelmChartSpec {
    type Status = HelmChartStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "HelmChart",
        plural: "helmcharts",
        short: &["hc"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("A Helm chart, packaged.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([
                Column::new("Chart", ".spec.chart"),
                Column::new("Version", ".spec.version"),
                Column::new("Source Kind", ".spec.sourceRef.kind"),
                Column::new("Source Name", ".spec.sourceRef.name"),
                Column::AGE,
                Column::READY,
                Column::STATUS,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
