//! HelmRelease: a chart, installed and upgraded.

use model::Value;

use super::actions::{Install, Rollback, Test, Uninstall, Upgrade};
use super::chart::{ChartReference, ChartTemplate};
use super::{GROUP, HelmReleaseStatus};
use crate::health::HealthCheckExpr;
use crate::metadata::CommonMetadata;
use crate::patch::{IgnoreRule, Image, Json6902Patch, Patch};
use crate::{
    Column, Definition, Dependency, Duration, Fields, KubeConfigReference, Names, Object, ReadError, Spec,
};

/// A chart, installed and upgraded.
pub type HelmRelease = Object<HelmReleaseSpec>;

record! {
    /// Which chart to install, with which values, and how.
    HelmReleaseSpec {
        /// The HelmChart that is made for the release.
        optional chart: Option<ChartTemplate> {}
        /// An artifact that holds the chart, in the place of `chart`.
        optional chart_ref: Option<ChartReference> {}
        /// How often the release is compared with what is wanted.
        required interval: Duration {}
        /// The cluster to install to. If not set, this one.
        optional kube_config: Option<KubeConfigReference> {}
        /// Stops working on the release until it is false again.
        optional suspend: bool {}
        /// The name of the release. If not set, the name of this, after the target namespace if there is one.
        optional release_name: Option<String> { .length(1, 53) }
        /// The namespace to install to. If not set, the same one.
        optional target_namespace: Option<String> { .length(1, 63) }
        /// The namespace that Helm keeps its records in. If not set, the same one.
        optional storage_namespace: Option<String> { .length(1, 63) }
        /// HelmReleases that must be ready first.
        optional depends_on: Vec<Dependency> {}
        /// How long each action of Helm may take. If not set, five minutes.
        optional timeout: Option<Duration> {}
        /// How many records Helm keeps; 0 is all. If not set, five.
        optional max_history: Option<i64> { .without("format") }
        /// The ServiceAccount to act as.
        optional service_account_name: Option<String> { .length(1, 253) }
        /// Uses one client for all of a reconcile. If not set, it does.
        optional persistent_client: Option<bool> {}
        /// Whether objects are compared with the release between upgrades.
        optional drift_detection: Option<DriftDetection> {}
        /// How the release is installed.
        optional install: Option<Install> {}
        /// How the release is upgraded.
        optional upgrade: Option<Upgrade> {}
        /// How the tests of the release are run.
        optional test: Option<Test> {}
        /// How the release is rolled back.
        optional rollback: Option<Rollback> {}
        /// How the release is uninstalled.
        optional uninstall: Option<Uninstall> {}
        /// ConfigMaps and Secrets with values; later ones go before earlier ones.
        optional values_from: Vec<ValuesReference> {}
        /// Values of the chart. They go before those of `valuesFrom`.
        optional values: Option<Value> {}
        /// Labels and annotations that everything gets that is installed.
        optional common_metadata: Option<CommonMetadata> {}
        /// Changes to the manifests that the chart gives, one after the other.
        optional post_renderers: Vec<PostRenderer> {}
        /// Whether hooks are changed too. If not set, together with the rest.
        optional post_render_strategy: Option<PostRenderStrategy> {}
        /// How to wait until objects are ready.
        optional wait_strategy: Option<WaitStrategy> {}
        /// How the health of kinds is told that are not known.
        optional health_check_exprs: Vec<HealthCheckExpr> {}
    }
    rules {
        "(has(self.chart) && !has(self.chartRef)) || (!has(self.chart) && has(self.chartRef))"
            => "either chart or chartRef must be set",
    }
}

record! {
    /// Whether objects are compared with the release between upgrades.
    DriftDetection {
        /// What to do with differences. If not set, objects are not compared.
        optional mode: Option<DriftMode> {}
        /// Fields that may differ.
        optional ignore: Vec<IgnoreRule> {}
    }
}

choice! {
    /// What to do when the cluster differs from the release.
    DriftMode { Enabled = "enabled", Warn = "warn", Disabled = "disabled" }
}

record! {
    /// A ConfigMap or Secret with values.
    ValuesReference {
        /// Which of both.
        required kind: ValuesKind {}
        /// The name of the object.
        required name: String { .length(1, 253) }
        /// The key in it. If not set, `values.yaml`.
        optional values_key: Option<String> { .length(0, 253).pattern(r"^[\-._a-zA-Z0-9]+$") }
        /// Where in the values it is put, as Helm's `--set` has it. If not set, it is merged into the whole.
        optional target_path: Option<String> {
            .length(0, 250).pattern(r"^([a-zA-Z0-9_\-.\\\/]|\[[0-9]{1,5}\])+$")
        }
        /// Goes on without it if it is not there.
        optional optional: bool {}
        /// Takes the value as it is, as Helm's `--set-literal` does.
        optional literal: bool {}
    }
}

choice! {
    /// Where values can come from.
    ValuesKind { Secret = "Secret", ConfigMap = "ConfigMap" }
}

record! {
    /// A change to the manifests of a chart.
    PostRenderer {
        /// A change as Kustomize makes it.
        optional kustomize: Option<KustomizeRenderer> {}
    }
}

record! {
    /// A change as Kustomize makes it.
    KustomizeRenderer {
        /// Changes to the manifests.
        optional patches: Vec<Patch> {}
        /// Other names, tags or digests for images.
        optional images: Vec<Image> {}
        /// Patches by JSON operations. `patches` replaces it.
        older patches_json6902 as "patchesJson6902": Vec<Json6902Patch> {}
        /// Patches by merging. `patches` replaces it.
        older patches_strategic_merge: Vec<Value> {}
    }
}

choice! {
    /// Whether hooks are changed by post-renderers.
    PostRenderStrategy { NoHooks = "nohooks", Combined = "combined", Separate = "separate" }
}

record! {
    /// How to wait until objects are ready.
    WaitStrategy {
        /// Who tells whether they are.
        required name: Waiter {}
    }
}

choice! {
    /// Who tells whether objects are ready: the health rules of Sluice, or those of Helm 3.
    Waiter { Poller = "poller", Legacy = "legacy" }
}

impl Spec for HelmReleaseSpec {
    type Status = HelmReleaseStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v2",
        kind: "HelmRelease",
        plural: "helmreleases",
        short: &["hr"],
    };

    fn definition() -> Definition {
        Definition::of::<Self>(
            "A Helm chart, installed and upgraded.",
            &["all", "fluxcd", "fluxcd-appliers"],
        )
        .unobserved_at_first()
        .older(&["v2beta1", "v2beta2"])
        .columns([Column::AGE, Column::READY, Column::STATUS])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
