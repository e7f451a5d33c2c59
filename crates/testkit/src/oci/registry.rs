//! The registry's routes.

use http::Method;
use parking_lot::{Mutex, MutexGuard};

use super::auth::Tokens;
use super::failure::Failure;
use super::store::Store;
use super::{blobs, manifests, name, referrers, tags, uploads};
use crate::http::{Builder, Reply, Request, Service};

/// Whether the registry knows the referrers API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Referrers {
    /// It does.
    #[default]
    Api,
    /// It does not, as older ones: clients keep a tag `sha256-<hex>` with a list instead.
    Tags,
}

/// What a registry holds and how it behaves.
#[derive(Debug, Default)]
pub struct Registry {
    store: Mutex<Store>,
    referrers: Mutex<Referrers>,
    page: Mutex<Option<usize>>,
    pub(super) tokens: Tokens,
}

/// A registry over HTTP.
pub type Server = crate::http::Server<Registry>;

impl Server {
    /// Starts a registry that anyone may pull from and push to.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A registry with credentials or TLS. `basic` asks for a password with each request; see
    /// [`Builder::tokens`] for the way of the large registries.
    pub fn builder() -> Builder<Registry> {
        Builder::new(Registry::default())
    }

    /// A reference such as `127.0.0.1:40321/team/app:1.0.0`.
    pub fn reference(&self, repository: &str, tag: &str) -> String {
        format!("{}/{repository}:{tag}", self.host())
    }
}

impl Registry {
    pub(super) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }

    pub(super) fn referrers(&self) -> Referrers {
        *self.referrers.lock()
    }

    /// Switches the referrers API on or off.
    pub fn set_referrers(&self, referrers: Referrers) {
        *self.referrers.lock() = referrers;
    }

    /// Lists at most so many tags at once, even to a client that asks for more.
    pub fn page_tags(&self, count: usize) {
        *self.page.lock() = Some(count);
    }

    pub(super) fn page(&self) -> Option<usize> {
        *self.page.lock()
    }
}

impl Service for Registry {
    fn reply(&self, request: &Request) -> Reply {
        let path = request.segments().join("/");
        if path == "token" && self.tokens.are_used() {
            return self.tokens.issue(request);
        }
        let Some(rest) = path.strip_prefix("v2") else {
            return Reply::status(404);
        };
        let route = Route::parse(rest.trim_start_matches('/'));
        if let Some(refusal) = self
            .tokens
            .refusal(request, route.as_ref().map(|route| route.name))
        {
            return refusal.with(API_VERSION.0, API_VERSION.1);
        }
        let reply = match route {
            None if rest.is_empty() => ping(request),
            None if rest == "/_catalog" => tags::catalog(&self.store()),
            None => Reply::status(404),
            Some(route) if !name::is_name(route.name) => Failure::NameInvalid.about(route.name),
            Some(route) => self.route(request, &route),
        };
        reply.with(API_VERSION.0, API_VERSION.1)
    }
}

const API_VERSION: (&str, &str) = ("docker-distribution-api-version", "registry/2.0");

fn ping(request: &Request) -> Reply {
    match request.method {
        Method::GET | Method::HEAD => Reply::json("{}"),
        _ => Failure::Unsupported.about("/v2/"),
    }
}

impl Registry {
    fn route(&self, request: &Request, route: &Route<'_>) -> Reply {
        let store = &mut *self.store();
        match route.end {
            End::Blob(digest) => blobs::reply(store, request, route.name, digest),
            End::Upload(id) => uploads::reply(store, request, route.name, id),
            End::Manifest(reference) => {
                manifests::reply(store, request, route.name, reference, self.referrers())
            }
            End::Tags => tags::list(store, request, route.name, self.page()),
            End::Referrers(digest) => match self.referrers() {
                Referrers::Api => referrers::list(store, request, route.name, digest),
                Referrers::Tags => Reply::status(404),
            },
        }
    }
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Route<'a> {
    name: &'a str,
    end: End<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End<'a> {
    Blob(&'a str),
    /// Without an id, a new upload.
    Upload(Option<&'a str>),
    Manifest(&'a str),
    Tags,
    Referrers(&'a str),
}

impl<'a> Route<'a> {
    /// Takes apart what follows `/v2/`. A repository's name may have slashes and even parts like `blobs`, so that the
    /// last such word counts.
    fn parse(path: &'a str) -> Option<Self> {
        if let Some(name) = path.strip_suffix("/tags/list") {
            return Some(Self { name, end: End::Tags });
        }
        if let Some(name) = path.strip_suffix("/blobs/uploads") {
            return Some(Self {
                name,
                end: End::Upload(None),
            });
        }
        let (start, last) = path.rsplit_once('/')?;
        let (name, word) = start.rsplit_once('/')?;
        let end = match word {
            "uploads" => {
                return Some(Self {
                    name: name.strip_suffix("/blobs")?,
                    end: End::Upload(Some(last)),
                });
            }
            "blobs" => End::Blob(last),
            "manifests" => End::Manifest(last),
            "referrers" => End::Referrers(last),
            _ => return None,
        };
        Some(Self { name, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_path_tells_what_it_names() {
        let parse = |path| Route::parse(path).map(|route| (route.name, route.end));
        assert_eq!(parse("a/b/manifests/1.0"), Some(("a/b", End::Manifest("1.0"))));
        assert_eq!(parse("a/blobs/uploads"), Some(("a", End::Upload(None))));
        assert_eq!(parse("a/blobs/uploads/7"), Some(("a", End::Upload(Some("7")))));
        assert_eq!(
            parse("a/manifests/blobs/sha256:1"),
            Some(("a/manifests", End::Blob("sha256:1")))
        );
        assert_eq!(parse("a/tags/list"), Some(("a", End::Tags)));
        assert_eq!(
            parse("a/referrers/sha256:1"),
            Some(("a", End::Referrers("sha256:1")))
        );
        for wrong in ["", "a", "a/b", "manifests/x", "a/uploads/7"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
