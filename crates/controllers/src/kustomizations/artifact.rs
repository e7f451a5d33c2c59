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
    /// Those that were asked for last in front.
    unpacked: Mutex<VecDeque<Unpacked>>,
}

/// The files of an artifact, or the wait for them.
struct Unpacked {
    digest: String,
    url: String,
    slot: Slot,
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
        let slot = slot(&mut self.unpacked.lock(), artifact);
        let files = slot.get_or_try_init(|| self.unpack(artifact, settings));
        files.await.cloned()
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

/// The slot of an artifact. What is read is checked against the digest, so that the same digest is the same content, whoever
/// fetched it. Who still waits for it may wait for ever for a server that only the one status names: that wait is shared only
/// by those who ask the same server.
fn slot(unpacked: &mut VecDeque<Unpacked>, artifact: &Artifact) -> Slot {
    let digest = artifact.digest.map(|digest| digest.to_string());
    // One that says no digest is its own.
    let digest = digest.unwrap_or_else(|| format!("{} {}", artifact.path, artifact.revision));
    let is_it =
        |other: &Unpacked| other.digest == digest && (other.url == artifact.url || other.slot.initialized());
    let found = unpacked.iter().position(is_it);
    let entry = match found.and_then(|at| unpacked.remove(at)) {
        Some(entry) => entry,
        None => Unpacked {
            digest,
            url: artifact.url.clone(),
            slot: Arc::default(),
        },
    };
    let slot = Arc::clone(&entry.slot);
    unpacked.push_front(entry);
    unpacked.truncate(KEPT);
    slot
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

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(url: &str) -> Artifact {
        let artifact = serde_json::json!({
            "path": "gitrepository/apps/app/1.tar.gz",
            "url": url,
            "revision": "main@sha1:0123456789012345678901234567890123456789",
            "digest": format!("sha256:{}", "0".repeat(64)),
            "lastUpdateTime": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(artifact).unwrap()
    }

    /// Mallory knows the digest of a public artifact, and her status names a server that never answers.
    #[test]
    fn a_server_that_is_silent_keeps_nobody_else_waiting() {
        let mut known = VecDeque::new();
        let silent = slot(&mut known, &artifact("http://mallory/1.tar.gz"));
        let honest = slot(&mut known, &artifact("http://store/1.tar.gz"));
        assert!(!Arc::ptr_eq(&silent, &honest));
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Directory::temporary(folder).unwrap());
        honest.set(files).unwrap();
        let other = slot(&mut known, &artifact("http://other/1.tar.gz"));
        assert!(Arc::ptr_eq(&honest, &other), "what is there is read by all");
    }
}
