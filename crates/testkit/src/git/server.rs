//! Repositories by name, and the smart HTTP protocol.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{Method, header};
use parking_lot::Mutex;

use super::pktline::{flush, line};
use super::repository::Repository;
use super::session::{self, Session, Span};
use super::ssh::SshBuilder;
use super::upload::Version;
use crate::http::{Builder, Reply, Request, Service};

/// The longest request after decompression.
const INFLATED_LIMIT: u64 = 1 << 30;

/// Repositories by name. Clones hold the same ones.
#[derive(Clone, Debug, Default)]
pub struct Git {
    repositories: Arc<Mutex<BTreeMap<String, Repository>>>,
}

/// A Git server over HTTP.
pub type Server = crate::http::Server<Git>;

impl Git {
    /// No repositories yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The repository of that name, such as `team/app`. It is made when it is asked for first.
    pub fn repository(&self, name: &str) -> Repository {
        self.repositories.lock().entry(plain(name)).or_default().clone()
    }

    /// The repository of that name, if there is one. A client may add `.git`.
    pub(crate) fn find(&self, name: &str) -> Option<Repository> {
        self.repositories.lock().get(&plain(name)).cloned()
    }

    /// Removes a repository.
    pub fn remove(&self, name: &str) {
        self.repositories.lock().remove(&plain(name));
    }

    /// Begins an SSH server for the same repositories.
    pub fn over_ssh(&self) -> SshBuilder {
        SshBuilder::new(self.clone())
    }
}

impl Server {
    /// Starts a server that anyone may read from and push to.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A server with credentials or TLS.
    pub fn builder() -> Builder<Git> {
        Builder::new(Git::new())
    }

    /// The address of a repository.
    pub fn clone_url(&self, name: &str) -> String {
        format!("{}/{}.git", self.url(), plain(name))
    }
}

fn plain(name: &str) -> String {
    let name = name.trim_matches('/');
    name.strip_suffix(".git").unwrap_or(name).to_string()
}

impl Service for Git {
    fn reply(&self, request: &Request) -> Reply {
        let path = request.segments().join("/");
        let version = Version::requested(request.header("git-protocol").unwrap_or_default());
        if let Some(name) = path.strip_suffix("/info/refs") {
            return match (self.find(name), &request.method) {
                (Some(repository), &Method::GET) => greeting(&repository, request, version),
                _ => not_found(),
            };
        }
        let Some((name, service)) = path.rsplit_once('/') else {
            return not_found();
        };
        let Some(service) = session::Service::named(service) else {
            return not_found();
        };
        let Some(repository) = self.find(name) else {
            return not_found();
        };
        if request.method != Method::POST {
            return Reply::status(405).with(header::ALLOW, "POST");
        }
        if request.header(header::CONTENT_TYPE) != Some(&format!("application/x-{}-request", service.name()))
        {
            return Reply::status(415);
        }
        let Some(body) = plain_body(request) else {
            return Reply::status(400);
        };
        let out = Session::new(repository, service, version, Span::Request).feed(&body);
        Reply::ok(&format!("application/x-{}-result", service.name()), out)
            .with(header::CACHE_CONTROL, "no-cache")
    }
}

fn greeting(repository: &Repository, request: &Request, version: Version) -> Reply {
    let service = request.query("service");
    let Some(service) = service.as_deref().and_then(session::Service::named) else {
        // Without a service the client speaks the old protocol of plain files.
        return Reply::text("this server speaks only the smart protocol\n").with_status(403);
    };
    let mut out = Vec::new();
    if version != Version::V2 || service == session::Service::ReceivePack {
        line(&mut out, format!("# service={}\n", service.name()));
        flush(&mut out);
    }
    out.extend(session::greeting(repository, service, version));
    let media_type = format!("application/x-{}-advertisement", service.name());
    Reply::ok(&media_type, out).with(header::CACHE_CONTROL, "no-cache")
}

fn plain_body(request: &Request) -> Option<Bytes> {
    match request.header(header::CONTENT_ENCODING) {
        None | Some("identity") => Some(request.body.clone()),
        Some("gzip" | "x-gzip") => {
            let mut body = Vec::new();
            GzDecoder::new(&request.body[..])
                .take(INFLATED_LIMIT)
                .read_to_end(&mut body)
                .ok()?;
            Some(body.into())
        }
        Some(_) => None,
    }
}

fn not_found() -> Reply {
    Reply::text("repository not found\n").with_status(404)
}
