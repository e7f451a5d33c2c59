//! Filling a registry without a client.

use bytes::Bytes;
use serde_json::{Value, json};

use super::artifact::Artifact;
use super::digest::is_digest;
use super::name::{is_name, is_tag};
use super::referrers::{INDEX, descriptors, index};
use super::registry::{Referrers, Registry};
use super::store::{Manifest, Store};
use crate::digest::sha256;

impl Registry {
    /// Stores an artifact under a tag and returns its digest.
    ///
    /// # Panics
    /// When the repository or tag cannot be named so: a mistake in the test.
    pub fn push(&self, repository: &str, tag: &str, artifact: &Artifact) -> String {
        check_names(repository, tag);
        let store = &mut *self.store();
        let digest = put(store, repository, artifact, None);
        store
            .repository(repository)
            .tags
            .insert(tag.to_string(), digest.clone());
        digest
    }

    /// Stores images for several platforms under one tag and returns the digest of the index.
    ///
    /// # Panics
    /// When the repository or tag cannot be named so.
    pub fn push_index(&self, repository: &str, tag: &str, images: &[(&str, Artifact)]) -> String {
        check_names(repository, tag);
        let store = &mut *self.store();
        let mut manifests: Vec<Value> = Vec::new();
        for (platform, image) in images {
            let digest = put(store, repository, image, None);
            let (system, architecture) = platform.split_once('/').unwrap_or(("linux", platform));
            let mut descriptor = describe(store, repository, &digest);
            descriptor["platform"] = json!({"os": system, "architecture": architecture});
            manifests.push(descriptor);
        }
        let digest = put_manifest(store, repository, INDEX, index(&manifests).to_string().into());
        store
            .repository(repository)
            .tags
            .insert(tag.to_string(), digest.clone());
        digest
    }

    /// Stores an artifact about another manifest and returns its digest. Without the referrers API it is listed under
    /// the tag that stands in for it.
    pub fn attach(&self, repository: &str, subject: &str, artifact: &Artifact) -> String {
        let store = &mut *self.store();
        let about = describe(store, repository, subject);
        let digest = put(store, repository, artifact, Some(about));
        if self.referrers() == Referrers::Tags {
            let list = index(&descriptors(store, repository, subject)).to_string();
            let list = put_manifest(store, repository, INDEX, list.into());
            store
                .repository(repository)
                .tags
                .insert(subject.replacen(':', "-", 1), list);
        }
        digest
    }

    /// Points a tag to a manifest.
    ///
    /// # Panics
    /// When the repository lacks the manifest, or the tag cannot be named so.
    pub fn tag(&self, repository: &str, tag: &str, digest: &str) {
        check_names(repository, tag);
        let store = &mut *self.store();
        assert!(
            store.manifest(repository, digest).is_some(),
            "{repository} has no manifest {digest}"
        );
        store
            .repository(repository)
            .tags
            .insert(tag.to_string(), digest.to_string());
    }

    /// Removes a tag. Says whether it was there.
    pub fn untag(&self, repository: &str, tag: &str) -> bool {
        self.store()
            .repositories
            .get_mut(repository)
            .is_some_and(|repository| repository.tags.remove(tag).is_some())
    }

    /// All tags of a repository, sorted.
    pub fn tags(&self, repository: &str) -> Vec<String> {
        let store = self.store();
        store
            .repositories
            .get(repository)
            .into_iter()
            .flat_map(|repository| repository.tags.keys().cloned())
            .collect()
    }

    /// The digest that a tag points to.
    pub fn digest(&self, repository: &str, tag: &str) -> Option<String> {
        Some(self.store().manifest(repository, tag)?.0)
    }

    /// A manifest by tag or digest, as JSON.
    pub fn manifest(&self, repository: &str, reference: &str) -> Option<Value> {
        Some(self.store().manifest(repository, reference)?.1.json())
    }

    /// A blob of a repository.
    pub fn blob(&self, repository: &str, digest: &str) -> Option<Bytes> {
        self.store().blob(repository, digest)
    }

    /// Replaces a blob's content without changing its name, as a damaged disk would.
    pub fn damage_blob(&self, digest: &str, content: impl Into<Bytes>) {
        self.store().blobs.insert(digest.to_string(), content.into());
    }
}

fn check_names(repository: &str, tag: &str) {
    assert!(is_name(repository), "{repository:?} is not a repository's name");
    assert!(is_tag(tag), "{tag:?} is not a tag");
}

fn put(store: &mut Store, repository: &str, artifact: &Artifact, subject: Option<Value>) -> String {
    for (digest, content) in artifact.blobs() {
        store.put_blob(repository, &digest, content);
    }
    put_manifest(
        store,
        repository,
        artifact.manifest_media_type(),
        artifact.manifest(subject),
    )
}

fn put_manifest(store: &mut Store, repository: &str, media_type: &str, content: Bytes) -> String {
    let digest = sha256(&content);
    let manifest = Manifest {
        media_type: media_type.to_string(),
        content,
    };
    store
        .repository(repository)
        .manifests
        .insert(digest.clone(), manifest);
    digest
}

/// The descriptor of a manifest. One that is not here is described as far as its digest tells.
fn describe(store: &Store, repository: &str, digest: &str) -> Value {
    assert!(is_digest(digest), "{digest:?} is not a digest");
    match store.manifest(repository, digest) {
        Some((_, manifest)) => {
            json!({"mediaType": manifest.media_type, "digest": digest, "size": manifest.content.len()})
        }
        None => {
            json!({"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": digest, "size": 0})
        }
    }
}
