//! The files of artifacts, unpacked where builds can read them.
//!
//! All Kustomizations of one content read the same directory, whatever sources have it, and it is there for as long as one of them may
//! need it: the last few are kept, so that the next look costs nothing. A source shares a directory once its own archive was read and has
//! the digest: a digest alone, which a status may just claim, opens nothing.

use std::collections::{HashMap, VecDeque};
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
use crate::kit::{Failure, blocking, chain};

/// How many unpacked artifacts are kept that nobody reads.
const KEPT: usize = 8;

/// The number of URLs that may share one unpacked artifact. With more, all prove again that they have it.
const MOST_URLS: usize = 4096;

/// A place for the files of the artifact that a URL leads to, filled by the first that asks.
type Slot = Arc<OnceCell<Arc<Directory>>>;

/// The files of artifacts.
pub(super) struct Artifacts {
    archives: Archives,
    scratch: PathBuf,
    /// Those that were asked for last in front.
    unpacked: Mutex<VecDeque<Unpacked>>,
}

/// The files of one content, or the waits for them, by the URLs that lead to it.
struct Unpacked {
    digest: String,
    slots: HashMap<String, Slot>,
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
        if let Some(files) = shared(&self.unpacked.lock(), artifact) {
            return Ok(files);
        }
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

/// Returns the slot of an artifact. Each URL has its own: one that leads to a silent server keeps only its own askers waiting, and each
/// is read once before it shares what others have unpacked.
fn slot(unpacked: &mut VecDeque<Unpacked>, artifact: &Artifact) -> Slot {
    let digest = content(artifact);
    let found = unpacked.iter().position(|other| other.digest == digest);
    let mut entry = match found.and_then(|at| unpacked.remove(at)) {
        Some(entry) => entry,
        None => Unpacked {
            digest,
            slots: HashMap::new(),
        },
    };
    if entry.slots.len() >= MOST_URLS && !entry.slots.contains_key(&artifact.url) {
        entry.slots.clear();
    }
    let slot = Arc::clone(entry.slots.entry(artifact.url.clone()).or_default());
    unpacked.push_front(entry);
    unpacked.truncate(KEPT);
    slot
}

/// Returns the files of an artifact that another URL has led to.
fn shared(unpacked: &VecDeque<Unpacked>, artifact: &Artifact) -> Option<Arc<Directory>> {
    let digest = content(artifact);
    let entry = unpacked.iter().find(|other| other.digest == digest)?;
    entry.slots.values().find_map(|slot| slot.get().cloned())
}

/// Names the content of an artifact. One without a digest is its own.
fn content(artifact: &Artifact) -> String {
    let digest = artifact.digest.map(|digest| digest.to_string());
    digest.unwrap_or_else(|| format!("{} {} {}", artifact.url, artifact.path, artifact.revision))
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

    fn files() -> Arc<Directory> {
        let folder = tempfile::tempdir().unwrap();
        Arc::new(Directory::temporary(folder).unwrap())
    }

    /// Mallory knows the digest of a public artifact, and her status names a server that never answers.
    #[test]
    fn a_server_that_is_silent_keeps_nobody_else_waiting() {
        let mut known = VecDeque::new();
        let silent = slot(&mut known, &artifact("http://mallory/1.tar.gz"));
        let honest = slot(&mut known, &artifact("http://store/1.tar.gz"));
        assert!(!Arc::ptr_eq(&silent, &honest));
    }

    /// Mallory knows the digest of a private artifact, and her status claims it.
    #[test]
    fn a_digest_alone_opens_no_files_of_others() {
        let mut known = VecDeque::new();
        let honest = slot(&mut known, &artifact("http://store/1.tar.gz"));
        honest.set(files()).unwrap();
        let claimed = slot(&mut known, &artifact("http://mallory/1.tar.gz"));
        assert!(!claimed.initialized(), "it is read from its own URL first");
        let again = slot(&mut known, &artifact("http://store/1.tar.gz"));
        assert!(again.initialized());
        // Once read, the same content is not unpacked again.
        let files = shared(&known, &artifact("http://other/1.tar.gz")).unwrap();
        assert!(Arc::ptr_eq(&files, honest.get().unwrap()));
        assert_eq!(known.len(), 1);
    }
}
