//! Buckets of Cloud Storage, listed one object at a time so that every list has pages.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use serde_json::json;

use crate::http::{Builder, Reply, Request, Service};

/// Buckets in memory.
#[derive(Debug, Default)]
pub struct Storage {
    buckets: Mutex<BTreeMap<String, BTreeMap<String, Object>>>,
    written: Mutex<u64>,
}

#[derive(Clone, Debug)]
struct Object {
    generation: u64,
    content: String,
}

impl Object {
    fn etag(&self) -> String {
        format!("CA{}=", self.generation)
    }
}

/// Cloud Storage over HTTP. Tokens are those of [`Builder::bearer`].
pub type Server = crate::http::Server<Storage>;

impl Server {
    /// Storage that anyone may read.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Storage that not everyone may read.
    pub fn builder() -> Builder<Storage> {
        Builder::new(Storage::default())
    }
}

impl Storage {
    /// Writes an object; its bucket is made where it is not there. The tag of the object.
    pub fn put(&self, bucket: &str, name: &str, content: &str) -> String {
        let mut written = self.written.lock();
        *written += 1;
        let object = Object {
            generation: *written,
            content: content.to_owned(),
        };
        let etag = object.etag();
        let mut buckets = self.buckets.lock();
        let objects = buckets.entry(bucket.to_owned()).or_default();
        objects.insert(name.to_owned(), object);
        etag
    }
}

impl Service for Storage {
    fn reply(&self, request: &Request) -> Reply {
        let segments = request.segments();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let ["storage", "v1", "b", bucket, rest @ ..] = segments.as_slice() else {
            return Reply::status(404);
        };
        let buckets = self.buckets.lock();
        let Some(objects) = buckets.get(*bucket) else {
            return Reply::status(404);
        };
        match rest {
            [] => Reply::json(json!({ "name": bucket }).to_string()),
            ["o"] => list(objects, request),
            ["o", key] => match objects.get(*key) {
                Some(object) => get(object, request),
                None => Reply::status(404),
            },
            _ => Reply::status(404),
        }
    }
}

fn get(object: &Object, request: &Request) -> Reply {
    let generation = object.generation.to_string();
    match request.query("alt").as_deref() {
        Some("media") if request.query("ifGenerationMatch") == Some(generation.clone()) => {
            Reply::text(object.content.clone())
        }
        Some(_) => Reply::status(412),
        None => Reply::json(json!({"etag": object.etag(), "generation": generation}).to_string()),
    }
}

fn list(objects: &BTreeMap<String, Object>, request: &Request) -> Reply {
    let prefix = request.query("prefix").unwrap_or_default();
    let after = request.query("pageToken").unwrap_or_default();
    let mut found = objects
        .iter()
        .filter(|(name, _)| name.starts_with(&prefix) && **name > after);
    let mut list = json!({});
    if let Some((name, object)) = found.next() {
        list["items"] = json!([{"name": name, "etag": object.etag()}]);
        if found.next().is_some() {
            list["nextPageToken"] = json!(name);
        }
    }
    Reply::json(list.to_string())
}
