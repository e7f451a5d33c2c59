//! Which Helm is followed.

/// The two lines of Helm, where they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HelmVersion {
    /// Helm 3, as 3.21.4 does it.
    V3,
    /// Helm 4, as 4.2.4 does it.
    #[default]
    V4,
}
