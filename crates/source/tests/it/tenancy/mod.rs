//! Tenants do not trust each other. One must not read what another fetched, nor keep it waiting.
//!
//! Mallory may choose every address, proxy, authority and `known_hosts`. So she has her own server answer under the name of
//! any other: [`Forger`] is such a server.

mod artifacts;
mod deadlines;
mod destinations;
mod git;
mod git_revision;
mod paths;
mod registry;
mod sizes;

use bytes::Bytes;
use parking_lot::Mutex;
use source::http::Proxy;
use testkit::git::Git;
use testkit::http::{Content, Reply, Request, Service, Socks};

/// A Git server that lists one id in place of another, and gives no objects where it is told not to.
pub(crate) struct Forger {
    pub(crate) git: Git,
    /// What it says in place of what in lists of references.
    pub(crate) replaced: Mutex<Vec<(String, String)>>,
    /// Whether it gives objects.
    pub(crate) gives: bool,
    /// The requests for objects.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Forger {
    pub(crate) fn new(gives: bool) -> Self {
        Forger {
            git: Git::new(),
            replaced: Mutex::default(),
            gives,
            asked: Mutex::default(),
        }
    }

    /// Has a branch of a repository listed with a commit that it does not have.
    pub(crate) fn claim(&self, repository: &str, commit: &str) {
        let own = self
            .git
            .repository(repository)
            .commit("main", "Mine", [("m", "1")]);
        self.replaced.lock().push((own.to_string(), commit.to_owned()));
    }
}

impl Service for Forger {
    fn reply(&self, request: &Request) -> Reply {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        if text.contains("command=fetch") {
            self.asked.lock().push(text);
            if !self.gives {
                return Reply::status(500);
            }
            return self.git.reply(request);
        }
        let mut reply = self.git.reply(request);
        if let Content::Whole(body) = &mut reply.content
            && let Ok(mut listed) = String::from_utf8(body.to_vec())
        {
            for (own, claimed) in self.replaced.lock().iter() {
                listed = listed.replace(own, claimed);
            }
            *body = Bytes::from(listed);
        }
        reply
    }
}

/// The proxy that leads to a server whatever is asked for.
pub(crate) fn through(socks: &Socks) -> Option<Proxy> {
    Some(Proxy {
        address: socks.url(),
        login: None,
    })
}
