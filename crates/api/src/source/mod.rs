//! `source.toolkit.fluxcd.io`: where desired state comes from.

mod bucket;
mod external_artifact;
mod git_repository;
mod helm_chart;
mod helm_repository;
mod oci_repository;
mod oci_verification;

pub use bucket::{Bucket, BucketProvider, BucketSpec, BucketStatus, Sts, StsProvider};
pub use external_artifact::{
    ExternalArtifact, ExternalArtifactSource, ExternalArtifactSpec, ExternalArtifactStatus,
};
pub use git_repository::{
    GitImplementation, GitProvider, GitReference, GitRepository, GitRepositorySpec, GitRepositoryStatus,
    GitVerification, GitVerificationMode, Include,
};
pub use helm_chart::{
    ChartSource, ChartSourceKind, HelmChart, HelmChartSpec, HelmChartStatus, ReconcileStrategy,
};
pub use helm_repository::{HelmRepository, HelmRepositorySpec, HelmRepositoryStatus, HelmRepositoryType};
pub use oci_repository::{
    LayerOperation, LayerSelector, OciReference, OciRepository, OciRepositorySpec, OciRepositoryStatus,
};
pub use oci_verification::{
    ChartVerification, OciProvider, OciVerification, OidcIdentity, VerificationProvider,
};

/// The API group of the sources.
pub const GROUP: &str = "source.toolkit.fluxcd.io";

/// What `kubectl get` finds them under.
const CATEGORIES: &[&str] = &["all", "fluxcd", "fluxcd-sources"];
