//! What is made N times: Kustomizations, or HelmReleases.

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use serde::{Deserialize, Serialize};

/// The kind of object that is measured, with all that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// Each with an OCIRepository of its own, all of one artifact.
    Kustomizations,
    /// All of one chart of a registry, with a HelmChart each that the controller makes.
    Releases,
}

impl Shape {
    /// Group and version.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Shape::Kustomizations => "kustomize.toolkit.fluxcd.io/v1",
            Shape::Releases => "helm.toolkit.fluxcd.io/v2",
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Shape::Kustomizations => "Kustomization",
            Shape::Releases => "HelmRelease",
        }
    }

    pub(crate) fn plural(self) -> &'static str {
        match self {
            Shape::Kustomizations => "kustomizations",
            Shape::Releases => "helmreleases",
        }
    }

    /// The controller of Flux that works on them, beside its source-controller.
    pub(crate) fn controller(self) -> &'static str {
        match self {
            Shape::Kustomizations => "kustomize-controller",
            Shape::Releases => "helm-controller",
        }
    }

    /// How many objects the benchmark itself makes for each.
    pub(crate) fn made_for_each(self) -> u64 {
        match self {
            Shape::Kustomizations => 2,
            Shape::Releases => 1,
        }
    }

    /// The most memory that Sluice may have, in MiB.
    pub(crate) fn most_memory(self) -> u64 {
        match self {
            Shape::Kustomizations => 64,
            Shape::Releases => 96,
        }
    }

    pub(crate) fn resource(self) -> ApiResource {
        let (group, version) = self.version().split_once('/').unwrap_or_default();
        let kind = GroupVersionKind::gvk(group, version, self.kind());
        ApiResource::from_gvk_with_plural(&kind, self.plural())
    }
}
