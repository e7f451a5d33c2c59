//! What every kind of bucket can do.

use std::io;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::archive::ignore;

/// A bucket: keys with entity tags, and what is behind them.
pub trait Store: Send + Sync {
    /// The name of the bucket, for messages.
    fn name(&self) -> &str;

    /// Whether the bucket is there.
    fn exists(&self) -> BoxFuture<'_, Result<bool, Error>>;

    /// A page of keys that begin with the prefix, with their entity tags, and where the next page begins if there is one.
    fn list<'a>(&'a self, prefix: &'a str, page: Option<&'a str>) -> BoxFuture<'a, Result<Page, Error>>;

    /// An object, if it is there. Where a tag is given and the object has another one by now, the object of now is given.
    fn get<'a>(&'a self, key: &'a str, tag: Option<&'a str>) -> BoxFuture<'a, Result<Option<Object>, Error>>;
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Keys and entity tags.
    pub objects: Vec<(String, String)>,
    /// Where the next page begins.
    pub next: Option<String>,
}

/// An object on its way.
pub struct Object {
    /// The entity tag, without quotes.
    pub tag: String,
    /// The content.
    pub content: BoxStream<'static, Result<Bytes, Error>>,
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Object")
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

/// Why a bucket was not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such bucket.
    #[error(
        "bucket '{0}' not found: check its name and the endpoint, and that the credentials belong to the account that has it"
    )]
    NoBucket(String),
    /// The credentials are refused, or there are none and some are needed.
    #[error(
        "access to bucket '{bucket}' was refused: {code}: check the credentials and that they may list and read it"
    )]
    Refused {
        /// The bucket.
        bucket: String,
        /// What the server calls it.
        code: String,
    },
    /// The server answered something else.
    #[error(
        "bucket '{bucket}' cannot be read: the server answered {status} {code}: if that comes again, look at its log"
    )]
    Status {
        /// The bucket.
        bucket: String,
        /// The status.
        status: u16,
        /// What the server calls it.
        code: String,
    },
    /// The server did not answer.
    #[error("bucket '{bucket}' at '{server}' cannot be reached{}", crate::http::remedy(.source))]
    Request {
        /// The bucket.
        bucket: String,
        /// The server that was asked.
        server: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// The proxy does not lead to the server.
    #[error("bucket '{bucket}' at '{server}' cannot be reached")]
    Proxy {
        /// The bucket.
        bucket: String,
        /// The server that was asked.
        server: String,
        /// What is wrong with the proxy.
        source: crate::http::ProxyFailure,
    },
    /// The answer is not one of such a server.
    #[error(
        "the server of bucket '{bucket}' answered with something that is no {what}: check the endpoint and the provider"
    )]
    Answer {
        /// The bucket.
        bucket: String,
        /// What it should be.
        what: &'static str,
    },
    /// No credentials are to be had.
    #[error("no credentials for the bucket")]
    Identity(#[from] crate::identity::Error),
    /// The client cannot be made.
    #[error("no HTTP client can be made for the bucket")]
    Client(#[from] crate::http::Error),
    /// The endpoint is none.
    #[error("the endpoint '{0}' is not valid: it must be a host with an optional port")]
    Endpoint(String),
    /// A key cannot be a path.
    #[error("the key '{0}' of the bucket cannot be a file path: rename or ignore it")]
    Key(String),
    /// There is more than is taken.
    #[error("the bucket '{bucket}' has more than {limit} {what}: set a prefix, or ignore some")]
    TooMuch {
        /// The bucket.
        bucket: String,
        /// How much is taken.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
    /// The ignore rules cannot be used.
    #[error("the ignore rules of bucket '{bucket}' cannot be used: correct them")]
    Ignore {
        /// The bucket.
        bucket: String,
        /// Why not.
        source: ignore::Error,
    },
    /// A file cannot be written.
    #[error("failed to write '{path}'")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    /// Whether the credentials are to blame.
    pub fn is_authentication(&self) -> bool {
        matches!(
            self,
            Error::Refused { .. } | Error::Identity(_) | Error::Client(_)
        )
    }
}
