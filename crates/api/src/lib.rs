//! Every custom resource of Sluice, one file per kind, for controllers to read and clusters to check. No behaviour.
//!
//! A kind is a struct of its spec and one of its status, written once with [`record!`](schema): the fields, their
//! documentation and what the API server checks stand together, and both the serde type and the schema come of it.
//! [`Object`] puts metadata around them, so that `Api<GitRepository>` of the `kube` crate works. [`crds`] is what a
//! cluster must be told to serve them.
//!
//! ```text
//!    record! { struct GitRepositorySpec { … } }  ─┬─▶ serde type ─▶ Object<GitRepositorySpec> = GitRepository
//!                                                 └─▶ Schema ─┐
//!    impl Spec for GitRepositorySpec { names … }  ────────────┴─▶ Definition ─▶ CustomResourceDefinition
//! ```
//!
//! Reading is lenient, because one object that cannot be read would hide all others of its kind from a watch: a field
//! that is missing has its zero value, as in Go, and a word that is not known is kept as `Other`.

#[macro_use]
mod choice;
#[macro_use]
mod record;
#[macro_use]
mod status;

mod artifact;
pub mod condition;
mod definition;
mod duration;
pub mod extensions;
pub mod health;
pub mod helm;
pub mod image;
pub mod kustomize;
pub mod metadata;
pub mod notification;
mod object;
pub mod patch;
mod reason;
mod reference;
pub mod schema;
pub mod source;

pub use condition::{Condition, ConditionStatus, ConditionType};
pub use definition::{Column, Definition};
pub use duration::{Duration, ParseDurationError};
pub use object::{Fields, Names, Object, ReadError, Spec, read};
pub use reason::Reason;
pub use reference::{
    AccessFrom, Dependency, KubeConfigReference, LocalObjectReference, NamespaceSelector,
    NamespacedObjectReference, SecretKeyReference,
};
pub use status::{NoStatus, ReconcileStatus};

/// The definitions of all kinds.
pub fn definitions() -> Vec<Definition> {
    vec![
        extensions::ArtifactGeneratorSpec::definition(),
        helm::HelmReleaseSpec::definition(),
        image::ImagePolicySpec::definition(),
        image::ImageRepositorySpec::definition(),
        image::ImageUpdateAutomationSpec::definition(),
        kustomize::KustomizationSpec::definition(),
        notification::AlertSpec::definition(),
        notification::ProviderSpec::definition(),
        notification::ReceiverSpec::definition(),
        source::BucketSpec::definition(),
        source::ExternalArtifactSpec::definition(),
        source::GitRepositorySpec::definition(),
        source::HelmChartSpec::definition(),
        source::HelmRepositorySpec::definition(),
        source::OciRepositorySpec::definition(),
    ]
}

/// The CustomResourceDefinitions of all kinds.
pub fn crds() -> Vec<model::Value> {
    definitions().iter().map(Definition::to_value).collect()
}
