//! What clients read to find out what the server serves: discovery documents, `/version`, `/` and the health paths.
//!
//! Everything here is a function of the [`Catalog`] and the request.

pub mod accept;
mod aggregated;
mod health;
mod plain;
mod root;

use model::Value;
use sha2::{Digest, Sha512};

pub use root::GIT_VERSION;

use crate::catalog::Catalog;
use crate::error::Result;

/// What of a request matters here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The path without the query.
    pub path: &'a str,
    /// The query without the question mark.
    pub query: &'a str,
    /// The `Accept` header; empty where there is none.
    pub accept: &'a str,
    /// The `If-None-Match` header; empty where there is none.
    pub if_none_match: &'a str,
    /// Where the client reaches this server, as `host:port`.
    pub server_address: &'a str,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What it says.
    pub body: Body,
    /// The `Content-Type` header.
    pub content_type: String,
    /// The `ETag` header with its quotes. Where there is one, `Vary: Accept` and `Cache-Control: public` go with it.
    pub etag: Option<String>,
}

/// What a [`Document`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A JSON value.
    Json(Value),
    /// A JSON value that is written over several lines, as people look at it.
    Pretty(Value),
    /// Plain text.
    Text(String),
    /// Nothing: the client's copy is still right (304).
    NotModified,
}

/// The answer to `request`; `None` where its path is none of those answered here, also for groups and versions that
/// the catalog does not have.
pub fn document(catalog: &Catalog, request: &Request<'_>) -> Option<Result<Document>> {
    if let Some(text) = health::text(request.path, request.query) {
        let content_type = "text/plain; charset=utf-8".to_owned();
        return Some(Ok(Document {
            body: Body::Text(text),
            content_type,
            etag: None,
        }));
    }
    if request.path == "/" {
        // The list of paths is JSON whatever the client accepts.
        return Some(Ok(Document::new(Body::Pretty(root::paths(catalog)))));
    }
    if let Some(document) = aggregated::document(catalog, request) {
        return Some(Ok(document));
    }
    let steps: Vec<&str> = request.path.strip_prefix('/')?.split('/').collect();
    // One slash at the end changes nothing.
    let steps = match steps.as_slice() {
        [path @ .., ""] if !path.is_empty() => path,
        path => path,
    };
    let value = match *steps {
        ["version"] => root::version(),
        ["api"] => plain::core_versions(catalog, request.server_address),
        ["apis"] => plain::groups(catalog),
        ["api", version] => plain::resources("", catalog.group("")?.version(version)?),
        ["apis", group] if !group.is_empty() => plain::group(catalog.group(group)?),
        ["apis", group, version] if !group.is_empty() => {
            plain::resources(group, catalog.group(group)?.version(version)?)
        }
        _ => return None,
    };
    let agreed = accept::negotiate(request.accept, |target| target.is_none());
    Some(
        agreed
            .map(|_| match *steps {
                ["version"] => Document::new(Body::Pretty(value)),
                _ => Document::new(Body::Json(value)),
            })
            .ok_or_else(accept::not_acceptable),
    )
}

impl Document {
    /// A document in JSON.
    fn new(body: Body) -> Self {
        Document {
            body,
            content_type: accept::JSON.to_owned(),
            etag: None,
        }
    }
}

/// The fingerprint by which clients tell whether their copy is still right.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha512::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}
