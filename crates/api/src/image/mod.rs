//! `image.toolkit.fluxcd.io`: new images, found and written to Git.

mod image_policy;
mod image_repository;
mod image_update_automation;

pub use image_policy::{
    Alphabetical, DigestReflection, ImagePolicy, ImagePolicySpec, ImagePolicyStatus, ImageReference,
    Numerical, Order, Policy, SemVer, TagFilter,
};
pub use image_repository::{ImageRepository, ImageRepositorySpec, ImageRepositoryStatus, ScanResult};
pub use image_update_automation::{
    AutomationSource, AutomationSourceKind, Commit, CommitUser, GitCheckout, GitSpec, ImageUpdateAutomation,
    ImageUpdateAutomationSpec, ImageUpdateAutomationStatus, LabelRequirement, LabelSelector, Push,
    SigningKey, SigningKeyType, Update, UpdateStrategy,
};

/// The API group of image automation.
pub const GROUP: &str = "image.toolkit.fluxcd.io";

/// What `kubectl get` finds them under.
const CATEGORIES: &[&str] = &["all", "fluxcd", "fluxcd-images"];
