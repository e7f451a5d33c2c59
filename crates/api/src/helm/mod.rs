//! `helm.toolkit.fluxcd.io`: what installs and upgrades charts.

mod actions;
mod chart;
mod helm_release;
mod release_status;

pub use actions::{
    ApplyMethod, ChartNameChange, CrdsPolicy, DeletionPropagation, Install, InstallRemediation,
    InstallStrategy, Remediation, Rollback, Strategy, Test, TestFilter, Uninstall, Upgrade,
    UpgradeRemediation, UpgradeStrategy,
};
pub use chart::{
    ChartReference, ChartReferenceKind, ChartTemplate, ChartTemplateMetadata, ChartTemplateSource,
    ChartTemplateSpec, ChartTemplateVerification,
};
pub use helm_release::{
    DriftDetection, DriftMode, HelmRelease, HelmReleaseSpec, KustomizeRenderer, PostRenderStrategy,
    PostRenderer, ValuesKind, ValuesReference, WaitStrategy, Waiter,
};
pub use release_status::{HelmReleaseStatus, ReleaseAction, Snapshot, TestHook};

/// The API group of HelmReleases.
pub const GROUP: &str = "helm.toolkit.fluxcd.io";
