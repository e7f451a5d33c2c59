//! `kustomize.toolkit.fluxcd.io`: what builds and applies manifests.

mod kustomization;
mod kustomization_status;

pub use kustomization::{
    BuildMetadata, Decryption, DecryptionProvider, DeletionPolicy, Kustomization, KustomizationSource,
    KustomizationSourceKind, KustomizationSpec, ObjectReference, PostBuild, SubstituteFrom,
    SubstituteStrategy, Validation, VariablesKind,
};
pub use kustomization_status::{HistoryEntry, KustomizationStatus};

/// The API group of Kustomizations.
pub const GROUP: &str = "kustomize.toolkit.fluxcd.io";
