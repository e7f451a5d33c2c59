//! What the statuses of sources have in common: an artifact, and the address of the newest one.

use api::ReconcileStatus;
use api::source::{
    BucketStatus, ExternalArtifactStatus, GitRepositoryStatus, HelmChartStatus, HelmRepositoryStatus,
    OciRepositoryStatus,
};
use model::Artifact;

/// A status that tells of an artifact.
pub(crate) trait HasArtifact {
    /// The artifact.
    fn artifact(&self) -> Option<&Artifact>;
}

impl HasArtifact for ExternalArtifactStatus {
    fn artifact(&self) -> Option<&Artifact> {
        self.artifact.as_ref()
    }
}

/// A status that tells of an artifact of our own store.
pub(crate) trait Stored: HasArtifact + ReconcileStatus {
    /// Says which artifact there is.
    fn set_artifact(&mut self, artifact: Option<Artifact>);

    /// The address that always leads to the newest artifact, of the kinds that have one.
    fn url_mut(&mut self) -> Option<&mut Option<String>>;
}

macro_rules! stored {
    ($($status:ty: |$this:ident| $url:expr,)*) => {$(
        impl HasArtifact for $status {
            fn artifact(&self) -> Option<&Artifact> {
                self.artifact.as_ref()
            }
        }

        impl Stored for $status {
            fn set_artifact(&mut self, artifact: Option<Artifact>) {
                self.artifact = artifact;
            }

            fn url_mut(&mut self) -> Option<&mut Option<String>> {
                let $this = self;
                $url
            }
        }
    )*};
}

stored! {
    GitRepositoryStatus: |_this| None,
    OciRepositoryStatus: |this| Some(&mut this.url),
    HelmRepositoryStatus: |this| Some(&mut this.url),
    HelmChartStatus: |this| Some(&mut this.url),
    BucketStatus: |this| Some(&mut this.url),
}
