//! OpenAPI v3: the index at `/openapi/v3` and one document for each version of a group; and v2, one document for all.
//! Clients read them to explain fields, to merge patches as the server does and to see what the server checks.
//!
//! **Deviation**: there are no documents about the discovery paths themselves. Those of v3 are JSON only.

mod component;
mod custom;
mod document;
mod gnostic;
mod parameter;
mod path;
mod swagger;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use model::{Map, Str, Value, json, value};
use parking_lot::Mutex;
use smd::Schema;

use crate::catalog::{Catalog, Group, Origin, Resource, Version};
use crate::discovery::{Request, accept, hash};
use crate::error::Result;

/// What documents are made from.
pub struct Sources<'a> {
    /// The resources that are served.
    pub catalog: &'a Catalog,
    /// The types of built-in kinds.
    pub schema: &'a Schema,
    /// The schema (`openAPIV3Schema`) of a custom resource's version; `None` where it has none.
    pub custom: &'a dyn Fn(&Resource) -> Option<Value>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What to do with it.
    pub outcome: Outcome,
    /// The `ETag` header with its quotes; the index has none. Where there is one, `Vary: Accept` goes with it.
    pub etag: Option<String>,
    /// Whether the address names this very content, so that clients may keep it for good
    /// (`Cache-Control: public, immutable`).
    pub immutable: bool,
}

/// What an answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A JSON text (200).
    Json(Bytes),
    /// A message of this media type (200).
    Protobuf(&'static str, Bytes),
    /// Nothing: the client's copy is still right (304).
    NotModified,
    /// The content is another by now and stands at this address (301).
    Moved(String),
}

/// The documents that were asked for so far. They are made when they are first needed.
#[derive(Default)]
pub struct OpenApi {
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// What the documents of custom resources are about.
    snapshot: Option<Catalog>,
    documents: HashMap<(Str, Str), Arc<Cached>>,
    /// The document of v2.
    swagger: Option<Arc<Swagger>>,
}

struct Swagger {
    json: Bytes,
    protobuf: Bytes,
    etag: String,
}

struct Cached {
    bytes: Bytes,
    hash: String,
    /// Whether custom resources are part of it.
    custom: bool,
}

impl OpenApi {
    /// The answer to `request`; `None` where its path is none of OpenAPI's.
    pub fn answer(&self, sources: &Sources<'_>, request: &Request<'_>) -> Option<Result<Document>> {
        if request.path == "/openapi/v3" {
            let index = Bytes::from(json::to_vec(&self.index(sources)));
            return Some(Ok(Document {
                outcome: Outcome::Json(index),
                etag: None,
                immutable: false,
            }));
        }
        if request.path == "/openapi/v2" {
            return Some(self.swagger(sources).answer(request));
        }
        let steps: Vec<&str> = request.path.strip_prefix("/openapi/v3/")?.split('/').collect();
        let (group, version) = match *steps {
            ["api", version] => ("", version),
            ["apis", group, version] if !group.is_empty() => (group, version),
            _ => return None,
        };
        let group = sources.catalog.group(group)?;
        let version = group.version(version)?;
        if accept::negotiate(request.accept, |target| target.is_none()).is_none() {
            return Some(Err(accept::not_acceptable()));
        }
        let cached = self.document(sources, group, version);
        Some(Ok(cached.answer(request)))
    }

    fn index(&self, sources: &Sources<'_>) -> Value {
        let mut paths = Map::new();
        for group in sources.catalog.groups() {
            for version in &group.versions {
                let hash = &self.document(sources, group, version).hash;
                let name = match group.name.as_str() {
                    "" => format!("api/{}", version.name),
                    group => format!("apis/{group}/{}", version.name),
                };
                let address = format!("/openapi/v3/{name}?hash={hash}");
                paths.insert(name, value!({ "serverRelativeURL": address }));
            }
        }
        value!({ "paths": paths })
    }

    fn swagger(&self, sources: &Sources<'_>) -> Arc<Swagger> {
        let mut cache = self.cache.lock();
        cache.follow(sources.catalog);
        let make = || {
            let document = swagger::document(sources);
            let json = json::to_vec(&document);
            Arc::new(Swagger {
                etag: format!("\"{}\"", hash(&json)),
                json: json.into(),
                protobuf: gnostic::encode(&document).into(),
            })
        };
        Arc::clone(cache.swagger.get_or_insert_with(make))
    }

    /// The document of a version, which is made once for each snapshot of the catalog. Those of built-in resources
    /// are the same in all snapshots.
    fn document(&self, sources: &Sources<'_>, group: &Group, version: &Version) -> Arc<Cached> {
        let mut cache = self.cache.lock();
        cache.follow(sources.catalog);
        let custom = version
            .resources
            .iter()
            .any(|resource| resource.origin == Origin::Custom);
        let key = (group.name.clone(), version.name.clone());
        let make = || {
            let bytes = json::to_vec(&document::document(sources, version));
            Arc::new(Cached {
                hash: hash(&bytes),
                bytes: bytes.into(),
                custom,
            })
        };
        Arc::clone(cache.documents.entry(key).or_insert_with(make))
    }
}

impl Cache {
    /// Forgets what is not true of this snapshot of the catalog.
    fn follow(&mut self, catalog: &Catalog) {
        let known = self.snapshot.as_ref();
        if !known.is_some_and(|snapshot| snapshot.is_same(catalog)) {
            self.documents.retain(|_, document| !document.custom);
            self.swagger = None;
            self.snapshot = Some(catalog.clone());
        }
    }
}

impl Swagger {
    fn answer(&self, request: &Request<'_>) -> Result<Document> {
        // The media type has two spellings, and clients send either.
        let protobuf = request.accept.contains("proto-openapi.spec.v2");
        let outcome = if request.if_none_match == self.etag {
            Outcome::NotModified
        } else if protobuf {
            Outcome::Protobuf(gnostic::MEDIA_TYPE, self.protobuf.clone())
        } else if accept::negotiate(request.accept, |target| target.is_none()).is_some() {
            Outcome::Json(self.json.clone())
        } else {
            return Err(accept::not_acceptable());
        };
        Ok(Document {
            outcome,
            etag: Some(self.etag.clone()),
            immutable: false,
        })
    }
}

impl Cached {
    fn answer(&self, request: &Request<'_>) -> Document {
        let etag = format!("\"{}\"", self.hash);
        let pairs = request.query.split('&').filter_map(|pair| pair.split_once('='));
        let asked = pairs
            .filter(|(key, _)| *key == "hash")
            .map(|(_, hash)| hash)
            .find(|hash| !hash.is_empty());
        let outcome = match asked {
            Some(asked) if asked != self.hash => {
                Outcome::Moved(format!("{}?hash={}", request.path, self.hash))
            }
            _ if request.if_none_match == etag => Outcome::NotModified,
            _ => Outcome::Json(self.bytes.clone()),
        };
        let immutable = asked == Some(self.hash.as_str());
        Document {
            outcome,
            etag: Some(etag),
            immutable,
        }
    }
}
