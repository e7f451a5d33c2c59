//! What a registry holds.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use serde_json::Value;

/// Everything in a registry.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Content is kept once, whatever repositories have it.
    pub(super) blobs: HashMap<String, Bytes>,
    pub(super) repositories: BTreeMap<String, Repository>,
    pub(super) uploads: HashMap<String, Upload>,
    next_upload: u64,
}

/// One repository.
#[derive(Debug, Default)]
pub(super) struct Repository {
    pub(super) blobs: HashSet<String>,
    pub(super) manifests: BTreeMap<String, Manifest>,
    pub(super) tags: BTreeMap<String, String>,
}

/// A manifest, kept as it came.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub(super) media_type: String,
    pub(super) content: Bytes,
}

/// A blob on its way.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) repository: String,
    pub(super) content: Vec<u8>,
}

impl Manifest {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.content).unwrap_or_default()
    }

    /// The digest of the manifest that this one is about.
    pub(super) fn subject(&self) -> Option<String> {
        Some(self.json()["subject"]["digest"].as_str()?.to_string())
    }
}

impl Store {
    pub(super) fn repository(&mut self, name: &str) -> &mut Repository {
        self.repositories.entry(name.to_string()).or_default()
    }

    /// A blob, if this repository has it.
    pub(super) fn blob(&self, name: &str, digest: &str) -> Option<Bytes> {
        let repository = self.repositories.get(name)?;
        repository
            .blobs
            .contains(digest)
            .then(|| self.blobs.get(digest).cloned())?
    }

    pub(super) fn put_blob(&mut self, name: &str, digest: &str, content: Bytes) {
        self.blobs.insert(digest.to_string(), content);
        self.repository(name).blobs.insert(digest.to_string());
    }

    /// A manifest by tag or digest, with its digest.
    pub(super) fn manifest(&self, name: &str, reference: &str) -> Option<(String, &Manifest)> {
        let repository = self.repositories.get(name)?;
        let digest = repository.tags.get(reference).map_or(reference, String::as_str);
        Some((digest.to_string(), repository.manifests.get(digest)?))
    }

    /// Begins an upload and returns its id.
    pub(super) fn begin_upload(&mut self, name: &str) -> String {
        self.next_upload += 1;
        let id = format!("upload-{}", self.next_upload);
        self.uploads.insert(
            id.clone(),
            Upload {
                repository: name.to_string(),
                content: Vec::new(),
            },
        );
        id
    }
}
