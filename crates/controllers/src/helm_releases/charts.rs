//! The charts of artifacts, read once for each content.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use api::Reason;
use engine::workers::{SlowWork, WorkerPermit};
use helm::chart::{Chart, Charts as Known, Limits};
use model::{Artifact, Digest};
use parking_lot::Mutex;
use source::store::fetch;

use super::reading::Reading;
use super::{Settings, Shared};
use crate::artifacts::Archives;
use crate::kit::{Failure, chain};
use crate::sources::slow_fetches;

/// How many bytes of charts are kept that were read.
const KEPT: usize = 32 << 20;

/// The number of URLs that are known to lead to what their digests say. With more, all are read again.
const MOST_PROVEN: usize = 16_384;

/// The charts of artifacts.
pub(super) struct Charts {
    archives: Archives,
    reading: Reading,
    slow: SlowWork,
    known: Known,
    /// The archives that were read, by digest and URL. Only these share charts: a status may claim a digest that its URL does not have.
    proven: Mutex<HashSet<(Digest, String)>>,
}

impl Charts {
    pub(super) fn new(shared: &Shared, reading: &Reading) -> Self {
        let archives = Archives::new(
            shared.store.clone(),
            shared.settings.http_retry,
            shared.settings.source_host.clone(),
        );
        Charts {
            archives: archives.up_to(Limits::default().archive),
            reading: reading.clone(),
            slow: slow_fetches(),
            known: Known::new(KEPT),
            proven: Mutex::default(),
        }
    }

    /// The chart of an artifact, for a release of a namespace. The release has no worker where its server is slow or the chart takes long
    /// to unpack.
    pub(super) async fn get(
        &self,
        artifact: &Artifact,
        settings: &Settings,
        (namespace, worker): (&str, &WorkerPermit),
    ) -> Result<Arc<Chart>, Failure> {
        let failed = |why: String| {
            let message = format!("Could not load chart: {why}");
            Failure::transient(Reason::ARTIFACT_FAILED, message)
        };
        let Some(digest) = artifact.digest else {
            return Err(failed("its artifact has no digest".to_owned()));
        };
        let proof = (digest, artifact.url.clone());
        if self.proven.lock().contains(&proof)
            && let Some(chart) = self.known.known(&digest)
        {
            return Ok(chart);
        }
        let fetch = self.file(artifact, settings);
        let file = self.slow.run(worker, namespace, fetch).await?;
        {
            let mut proven = self.proven.lock();
            if proven.len() >= MOST_PROVEN {
                proven.clear();
            }
            proven.insert(proof);
        }
        let known = self.known.clone();
        let read = move || known.get(digest, || read(file));
        self.reading.run(namespace, worker, read).await.map_err(failed)
    }

    async fn file(&self, artifact: &Artifact, settings: &Settings) -> Result<File, Failure> {
        self.archives.get(artifact).await.map_err(|error| match error {
            fetch::Error::NotFound { .. } => {
                let wait = settings.requeue_dependency;
                let after = api::Duration::from(wait);
                let message = format!("Source not ready: artifact not found. Retrying in {after}");
                Failure::waiting(wait, Reason::ARTIFACT_FAILED, message)
            }
            error => {
                let message = format!("Could not load chart: {}", chain(&error));
                Failure::transient(Reason::ARTIFACT_FAILED, message)
            }
        })
    }
}

fn read(file: File) -> Result<Chart, String> {
    let (mut archive, limits) = (Vec::new(), Limits::default());
    // With one byte more it is refused.
    let read = file.take(limits.archive + 1).read_to_end(&mut archive);
    read.map_err(|error| error.to_string())?;
    Chart::from_archive(&archive, &limits).map_err(|error| chain(&error))
}
