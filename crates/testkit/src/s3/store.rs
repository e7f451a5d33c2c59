//! The store: buckets, keys, and what is done with a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use jiff::Timestamp;
use parking_lot::Mutex;

use super::bucket::{Bucket, Now};
use super::failure::Failure;
use super::identity::{self, Key, Proof};
use super::request::Target;
use super::sts::{self, WebIdentity};
use super::xml::Xml;
use super::{list, object};
use crate::clock::Clock;
use crate::http::{Builder, Reply, Request, Service};

/// Buckets, and who may use them.
#[derive(Debug)]
pub struct Store {
    buckets: Mutex<BTreeMap<String, Bucket>>,
    keys: Mutex<Vec<Key>>,
    web_identities: Vec<WebIdentity>,
    region: String,
    now: Now,
}

/// An S3-compatible store over HTTP.
pub type Server = crate::http::Server<Store>;

impl Default for Store {
    fn default() -> Self {
        Self {
            buckets: Mutex::default(),
            keys: Mutex::default(),
            web_identities: Vec::new(),
            region: "us-east-1".to_string(),
            now: Now(Arc::new(Timestamp::now)),
        }
    }
}

impl Server {
    /// Starts a store that anyone may use.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A store with keys, another region, another clock or TLS.
    pub fn builder() -> Builder<Store> {
        Builder::new(Store::default())
    }
}

impl Builder<Store> {
    /// Wants each request signed, with this key. With several calls any of them is good.
    pub fn key(self, id: &str, secret: &str) -> Self {
        self.service.keys.lock().push(Key::new(id, secret));
        self
    }

    /// Wants requests signed for this region. Without this it is `us-east-1`.
    pub fn region(mut self, region: &str) -> Self {
        self.service.region = region.to_string();
        self
    }

    /// Gives a temporary key to the holder of this token, if it wants this role.
    pub fn web_identity(mut self, token: &str, role: &str) -> Self {
        self.service.web_identities.push(WebIdentity {
            token: token.to_string(),
            role: role.to_string(),
        });
        self
    }

    /// Takes the time from a clock: when objects are written, and whether signatures are of now.
    pub fn clock(mut self, clock: &Clock) -> Self {
        let clock = clock.clone();
        self.service.now = Now(Arc::new(move || clock.now()));
        self
    }
}

impl Store {
    /// The bucket of that name. It is made when it is asked for first.
    pub fn bucket(&self, name: &str) -> Bucket {
        self.buckets
            .lock()
            .entry(name.to_string())
            .or_insert_with(|| Bucket::new(self.now.clone()))
            .clone()
    }

    /// From now on only these keys are good; with none of them, no signature is needed.
    pub fn set_keys(&self, keys: &[Key]) {
        *self.keys.lock() = keys.to_vec();
    }

    fn find(&self, name: &str) -> Result<Bucket, Failure> {
        self.buckets
            .lock()
            .get(name)
            .cloned()
            .ok_or(Failure::NoSuchBucket)
    }

    /// The proof of who signed, or nothing if no one needs to.
    fn proof(&self, request: &Request) -> Result<Option<Proof>, Failure> {
        let keys = self.keys.lock();
        if keys.is_empty() && self.web_identities.is_empty() {
            return Ok(None);
        }
        identity::check(request, &keys, &self.region, (self.now.0)()).map(Some)
    }

    fn answer(&self, target: &Target<'_>) -> Result<Reply, Failure> {
        let proof = self.proof(target.request)?;
        match (&target.bucket, &target.key) {
            (None, _) if target.request.method == Method::GET => Ok(self.list_buckets()),
            (None, _) => Err(Failure::NotImplemented),
            (Some(name), None) => self.answer_bucket(target, name),
            (Some(name), Some(key)) => object::reply(target, &self.find(name)?, key, proof.as_ref()),
        }
    }

    fn answer_bucket(&self, target: &Target<'_>, name: &str) -> Result<Reply, Failure> {
        match target.request.method {
            Method::HEAD => {
                self.find(name)?;
                Ok(Reply::status(200).with("x-amz-bucket-region", &self.region))
            }
            Method::GET if target.parameter("location").is_some() => {
                self.find(name)?;
                Ok(self.location())
            }
            Method::GET if target.parameter("list-type").as_deref() == Some("2") => {
                list::list(target, name, &self.find(name)?)
            }
            Method::PUT if target.request.uri.query().is_none() => {
                self.bucket(name);
                Ok(Reply::status(200).with("location", format!("/{name}")))
            }
            Method::DELETE if target.request.uri.query().is_none() => {
                if !self.find(name)?.objects().is_empty() {
                    return Err(Failure::BucketNotEmpty);
                }
                self.buckets.lock().remove(name);
                Ok(Reply::status(204))
            }
            _ => Err(Failure::NotImplemented),
        }
    }

    fn location(&self) -> Reply {
        // The first region has no name here, for reasons of history.
        let region = if self.region == "us-east-1" {
            ""
        } else {
            &self.region
        };
        let mut xml = Xml::new();
        xml.element(
            "LocationConstraint xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"",
            |xml| xml.raw_text(region),
        );
        xml.reply()
    }

    fn list_buckets(&self) -> Reply {
        let mut xml = Xml::new();
        xml.element(
            "ListAllMyBucketsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"",
            |xml| {
                xml.element("Owner", |xml| xml.text("ID", "testkit"));
                xml.element("Buckets", |xml| {
                    for name in self.buckets.lock().keys() {
                        xml.element("Bucket", |xml| {
                            xml.text("Name", name);
                            xml.text("CreationDate", "2026-01-01T00:00:00.000Z");
                        });
                    }
                });
            },
        );
        xml.reply()
    }

    fn assume_role(&self, request: &Request) -> Reply {
        let mut keys = self.keys.lock();
        let (key, reply) = sts::assume(request, &self.web_identities, keys.len() + 1, (self.now.0)());
        keys.extend(key);
        reply
    }
}

impl Service for Store {
    fn reply(&self, request: &Request) -> Reply {
        if request.path() == "/" && request.method == Method::POST {
            return self.assume_role(request);
        }
        let target = Target::of(request, |name| self.buckets.lock().contains_key(name));
        let reply = self
            .answer(&target)
            .unwrap_or_else(|failure| failure.about(&target.resource()));
        reply.with("x-amz-request-id", "testkit")
    }
}
