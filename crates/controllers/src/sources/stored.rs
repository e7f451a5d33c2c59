//! What the statuses of sources have in common: an artifact, and the address of the newest one.

use api::ReconcileStatus;
use api::source::{
    BucketStatus, GitRepositoryStatus, HelmChartStatus, HelmRepositoryStatus, OciRepositoryStatus,
};
use model::Artifact;

/// A status that tells of an artifact.
pub(crate) trait Stored: ReconcileStatus {
    /// The artifact.
    fn artifact(&self) -> Option<&Artifact>;

    /// Says which artifact there is.
    fn set_artifact(&mut self, artifact: Option<Artifact>);

    /// The address that always leads to the newest artifact, of the kinds that have one.
    fn url_mut(&mut self) -> Option<&mut Option<String>>;
}

macro_rules! stored {
    ($($status:ty: |$this:ident| $url:expr,)*) => {$(
        impl Stored for $status {
            fn artifact(&self) -> Option<&Artifact> {
                self.artifact.as_ref()
            }

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
