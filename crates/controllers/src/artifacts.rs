//! The files of artifacts: those of the store of this process, and those that are fetched.

use std::fs::File;
use std::sync::Arc;

use model::Artifact;
use source::store::{Store, fetch};

/// Where artifacts are read from.
pub(crate) struct Archives {
    /// The store of this process; without one all is fetched.
    store: Option<Arc<Store>>,
    client: reqwest::Client,
    fetch: fetch::Options,
}

impl Archives {
    /// Artifacts of a store, or of servers: of `host` where there is one, whatever they name.
    pub(crate) fn new(store: Option<Arc<Store>>, retries: u32, host: Option<String>) -> Self {
        Archives {
            store,
            client: reqwest::Client::new(),
            fetch: fetch::Options {
                retries,
                host,
                ..fetch::Options::default()
            },
        }
    }

    /// The file of an artifact.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(crate) async fn get(&self, artifact: &Artifact) -> Result<File, fetch::Error> {
        if let Some(file) = self.of_store(artifact).await {
            return Ok(file);
        }
        let digest = artifact.digest.map(|digest| digest.to_string());
        let digest = digest.unwrap_or_default();
        fetch::fetch(&self.client, &artifact.url, &digest, &self.fetch).await
    }

    /// The file, where the store of this process has it.
    async fn of_store(&self, artifact: &Artifact) -> Option<File> {
        let (store, artifact) = (self.store.as_ref()?, artifact.clone());
        store.aside(move |store| store.read(&artifact).ok()).await
    }
}
