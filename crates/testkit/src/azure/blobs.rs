//! Containers of Blob Storage, listed one blob at a time so that every list has pages.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::shared_key;
use crate::http::{Builder, Reply, Request, Service};

/// Containers, and who may read them.
#[derive(Debug, Default)]
pub struct Blobs {
    containers: Mutex<BTreeMap<String, BTreeMap<String, Blob>>>,
    written: Mutex<u64>,
    /// A query that every address must have.
    sas: Option<String>,
    /// An account with its key.
    key: Option<(String, String)>,
}

#[derive(Clone, Debug)]
struct Blob {
    etag: String,
    content: String,
}

/// Blob Storage over HTTP. Tokens are those of [`Builder::bearer`].
pub type Server = crate::http::Server<Blobs>;

impl Server {
    /// Storage that anyone may read.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Storage that not everyone may read.
    pub fn builder() -> Builder<Blobs> {
        Builder::new(Blobs::default())
    }
}

impl Builder<Blobs> {
    /// Lets in whoever has this shared access signature, which is a query.
    pub fn sas(mut self, query: &str) -> Self {
        self.service.sas = Some(query.to_owned());
        self
    }

    /// Lets in whoever signs with the key of the account, which is base64.
    pub fn account_key(mut self, account: &str, key: &str) -> Self {
        self.service.key = Some((account.to_owned(), key.to_owned()));
        self
    }
}

impl Blobs {
    /// Writes a blob; its container is made where it is not there. The tag of the blob.
    pub fn put(&self, container: &str, name: &str, content: &str) -> String {
        let mut written = self.written.lock();
        *written += 1;
        let blob = Blob {
            etag: format!("0x{:X}", *written),
            content: content.to_owned(),
        };
        let etag = blob.etag.clone();
        let mut containers = self.containers.lock();
        let blobs = containers.entry(container.to_owned()).or_default();
        blobs.insert(name.to_owned(), blob);
        etag
    }

    /// Whether the request proves what it must.
    fn lets_in(&self, request: &Request) -> bool {
        if let Some(wanted) = &self.sas {
            let mut wanted = form_urlencoded::parse(wanted.as_bytes());
            return wanted.all(|(name, value)| request.query(&name).as_deref() == Some(&*value));
        }
        match &self.key {
            Some((account, key)) => shared_key::is_signed(request, account, key),
            None => true,
        }
    }
}

impl Service for Blobs {
    fn reply(&self, request: &Request) -> Reply {
        if !self.lets_in(request) {
            return Reply::status(403).with("x-ms-error-code", "AuthenticationFailed");
        }
        let segments = request.segments();
        let containers = self.containers.lock();
        let container = segments.first().and_then(|name| containers.get(name));
        let Some(blobs) = container else {
            return Reply::status(404).with("x-ms-error-code", "ContainerNotFound");
        };
        if request.query("comp").as_deref() == Some("list") {
            return list(blobs, request);
        }
        let Some(blob) = blobs.get(&segments[1..].join("/")) else {
            return Reply::status(404).with("x-ms-error-code", "BlobNotFound");
        };
        let tag = format!("\"{}\"", blob.etag);
        match request.header("if-match") {
            Some(wanted) if wanted != tag => Reply::status(412).with("x-ms-error-code", "ConditionNotMet"),
            _ => Reply::text(blob.content.clone()).with("etag", tag),
        }
    }
}

fn list(blobs: &BTreeMap<String, Blob>, request: &Request) -> Reply {
    let prefix = request.query("prefix").unwrap_or_default();
    let after = request.query("marker").unwrap_or_default();
    let mut found = blobs
        .iter()
        .filter(|(name, _)| name.starts_with(&prefix) && **name > after);
    let first = found.next();
    let shown = first.map_or_else(String::new, |(name, Blob { etag, .. })| {
        let name = name.replace('&', "&amp;").replace('<', "&lt;");
        format!("<Blob><Name>{name}</Name><Properties><Etag>{etag}</Etag></Properties></Blob>")
    });
    let next = match (first, found.next()) {
        (Some((name, _)), Some(_)) => name.replace('&', "&amp;").replace('<', "&lt;"),
        _ => String::new(),
    };
    Reply::ok(
        "application/xml",
        format!(
            "<?xml version=\"1.0\"?><EnumerationResults><Blobs>{shown}</Blobs><NextMarker>{next}</NextMarker>\
             </EnumerationResults>"
        ),
    )
}
