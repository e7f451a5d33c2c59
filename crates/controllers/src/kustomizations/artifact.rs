//! The files of artifacts, unpacked where builds can read them.
//!
//! All Kustomizations of one content read the same directory, whatever sources have it, and it is there for as long as one of them may
//! need it: the last few are kept, so that the next look costs nothing.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use api::Reason;
use builder::Directory;
use model::Artifact;
use parking_lot::Mutex;
use source::archive::{Limits, unpack};
use source::store::fetch;
use tokio::sync::OnceCell;

use super::{Settings, Shared};
use crate::artifacts::Archives;
use crate::kit::{Failure, chain};
use crate::sources::blocking;

/// How many unpacked artifacts are kept that nobody reads.
const KEPT: usize = 8;

/// A place for the files of an artifact, filled by whoever asks first.
type Slot = Arc<OnceCell<Arc<Directory>>>;

/// The files of artifacts.
pub(super) struct Artifacts {
    archives: Archives,
    scratch: PathBuf,
    /// By digest, those that were asked for last in front.
    unpacked: Mutex<VecDeque<(String, Slot)>>,
}

impl Artifacts {
    /// Artifacts of the store, or of servers.
    pub(super) fn new(shared: &Shared) -> Self {
        Artifacts {
            archives: Archives::new(
                shared.store.clone(),
                shared.settings.http_retry,
                shared.settings.source_host.clone(),
            ),
            scratch: shared.scratch.clone(),
            unpacked: Mutex::default(),
        }
    }

    /// The files of an artifact.
    pub(super) async fn files(
        &self,
        artifact: &Artifact,
        settings: &Settings,
    ) -> Result<Arc<Directory>, Failure> {
        let slot = self.slot(artifact);
        let files = slot.get_or_try_init(|| self.unpack(artifact, settings));
        files.await.cloned()
    }

    fn slot(&self, artifact: &Artifact) -> Slot {
        // What is read is checked against the digest, so that the same digest is the same content. One that says none is its own.
        let digest = artifact.digest.map(|digest| digest.to_string());
        let name = digest.unwrap_or_else(|| format!("{} {}", artifact.path, artifact.revision));
        let mut unpacked = self.unpacked.lock();
        let found = unpacked.iter().position(|(other, _)| *other == name);
        let entry = match found.and_then(|at| unpacked.remove(at)) {
            Some(entry) => entry,
            None => (name, Arc::default()),
        };
        let slot = Arc::clone(&entry.1);
        unpacked.push_front(entry);
        unpacked.truncate(KEPT);
        slot
    }

    async fn unpack(&self, artifact: &Artifact, settings: &Settings) -> Result<Arc<Directory>, Failure> {
        let file = self.file(artifact, settings).await?;
        let scratch = self.scratch.clone();
        let unpacked = blocking(move || unpacked(file, &scratch)).await;
        unpacked.map_err(|message| Failure::transient(Reason::ARTIFACT_FAILED, message))
    }

    async fn file(&self, artifact: &Artifact, settings: &Settings) -> Result<File, Failure> {
        self.archives.get(artifact).await.map_err(|error| match error {
            fetch::Error::NotFound { .. } => {
                let wait = settings.requeue_dependency;
                let message = format!(
                    "Source is not ready, artifact not found, retrying in {}",
                    api::Duration::from(wait)
                );
                Failure::waiting(wait, Reason::ARTIFACT_FAILED, message)
            }
            error => Failure::transient(Reason::ARTIFACT_FAILED, chain(&error)),
        })
    }
}

fn unpacked(file: File, scratch: &Path) -> Result<Arc<Directory>, String> {
    let folder = tempfile::Builder::new()
        .prefix("kustomization-")
        .tempdir_in(scratch);
    let folder = folder.map_err(|error| format!("tmp dir error: {error}"))?;
    unpack(file, folder.path(), &Limits::of_own_archives()).map_err(|error| chain(&error))?;
    let directory = Directory::temporary(folder).map_err(|error| format!("tmp dir error: {error}"))?;
    // Where it is unpacked says nothing to people, and is elsewhere each time.
    Ok(Arc::new(directory.shown_relative()))
}
