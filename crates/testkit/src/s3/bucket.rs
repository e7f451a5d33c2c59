//! A bucket as a test sees it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};

use crate::digest::hex;

/// A bucket. Clones are the same bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    objects: Arc<Mutex<BTreeMap<String, Object>>>,
    now: Now,
}

/// The time as the store sees it.
#[derive(Clone)]
pub(super) struct Now(pub(super) Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl std::fmt::Debug for Now {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0)())
    }
}

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) content: Bytes,
    pub(super) media_type: String,
    pub(super) modified: Timestamp,
    /// Quoted.
    pub(super) etag: String,
    /// What the client wants kept with it: `x-amz-meta-` headers.
    pub(super) metadata: Vec<(String, String)>,
}

impl Bucket {
    pub(super) fn new(now: Now) -> Self {
        Self {
            objects: Arc::default(),
            now,
        }
    }

    pub(super) fn objects(&self) -> MutexGuard<'_, BTreeMap<String, Object>> {
        self.objects.lock()
    }

    /// Stores an object and returns its (quoted) entity tag.
    pub fn put(&self, key: &str, content: impl Into<Bytes>) -> String {
        self.store(key, content.into(), "application/octet-stream", Vec::new())
    }

    pub(super) fn store(
        &self,
        key: &str,
        content: Bytes,
        media_type: &str,
        metadata: Vec<(String, String)>,
    ) -> String {
        let etag = format!("\"{}\"", hex(&md5::compute(&content).0));
        let modified = (self.now.0)();
        let object = Object {
            content,
            media_type: media_type.to_string(),
            modified,
            etag: etag.clone(),
            metadata,
        };
        self.objects().insert(key.to_string(), object);
        etag
    }

    /// The content of an object.
    pub fn get(&self, key: &str) -> Option<Bytes> {
        Some(self.objects().get(key)?.content.clone())
    }

    /// Removes an object. Says whether it was there.
    pub fn delete(&self, key: &str) -> bool {
        self.objects().remove(key).is_some()
    }

    /// All keys, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.objects().keys().cloned().collect()
    }
}
