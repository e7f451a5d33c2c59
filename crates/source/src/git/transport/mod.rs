//! How bytes get to a server and back: over HTTP, where every request stands alone, and over SSH, where they follow each
//! other on one connection.

mod algorithms;
mod encrypted_pem;
mod http;
mod known_hosts;
mod private_key;
mod socks;
mod ssh;

use bytes::Bytes;
use futures::future::BoxFuture;

use super::error::Cause;
use super::protocol::{Greeting, Packets, Plan, list_request, read_listing};
use super::refs::Ref;
use super::settings::Settings;
use super::url::Scheme;

pub use algorithms::{SshAlgorithms, UnknownAlgorithms};
pub(super) use http::Known;

/// An answer as it comes in.
pub(super) trait Chunks: Send {
    /// The next piece, or nothing at the end.
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, Cause>>;
}

/// A conversation with a server about one repository.
pub(super) struct Session {
    link: Link,
    greeting: Option<Greeting>,
}

enum Link {
    Http(Box<http::Link>),
    Ssh(Box<ssh::Link>),
}

impl Session {
    /// Begins a conversation. Over HTTP nothing is sent yet.
    pub(super) async fn open(settings: &Settings, known: Option<Known>) -> Result<Self, Cause> {
        let link = match settings.url.scheme() {
            Scheme::Http | Scheme::Https => Link::Http(Box::new(http::Link::new(settings, known)?)),
            Scheme::Ssh => Link::Ssh(Box::new(ssh::Link::connect(settings).await?)),
        };
        Ok(Session { link, greeting: None })
    }

    /// The references that begin with one of the prefixes, and perhaps others.
    pub(super) async fn list(&mut self, prefixes: &[String]) -> Result<Vec<Ref>, Cause> {
        if let Some(refs) = self.list_at_once(prefixes).await? {
            return Ok(refs);
        }
        match self.greeting().await? {
            Greeting::Old { refs, .. } => Ok(refs.clone()),
            Greeting::Second(capabilities) => {
                let request = list_request(capabilities, prefixes);
                let mut answer = self.link.ask(request, Version::Second).await?;
                read_listing(&mut Packets::new(answer.as_mut())).await
            }
        }
    }

    /// Asks a server that is known to speak version 2 without greeting it first. Nothing is an answer that such a server
    /// does not give: then it has changed, and is greeted.
    async fn list_at_once(&mut self, prefixes: &[String]) -> Result<Option<Vec<Ref>>, Cause> {
        let Link::Http(http) = &mut self.link else {
            return Ok(None);
        };
        let Some(capabilities) = http.known().filter(|_| self.greeting.is_none()) else {
            return Ok(None);
        };
        let request = list_request(&capabilities, prefixes);
        let read = async {
            let mut answer = http.ask(request, Version::Second).await?;
            read_listing(&mut Packets::new(&mut answer)).await
        };
        match read.await {
            Ok(refs) => {
                self.greeting = Some(Greeting::Second(capabilities));
                Ok(Some(refs))
            }
            Err(error @ (Cause::Connect(_) | Cause::Proxy(_) | Cause::Tls(_) | Cause::Limit { .. })) => {
                Err(error)
            }
            // One that lets us in no more may lead elsewhere by now, too.
            Err(_) => {
                http.forget();
                Ok(None)
            }
        }
    }

    /// Asks for a pack. The answer is read as a [`super::protocol::Pack`].
    pub(super) async fn ask_for_pack(&mut self, plan: &Plan) -> Result<Box<dyn Chunks + '_>, Cause> {
        let (request, version) = match self.greeting().await? {
            Greeting::Old { capabilities, .. } => (plan.old(capabilities)?, Version::Old),
            Greeting::Second(capabilities) => (plan.second(capabilities), Version::Second),
        };
        self.link.ask(request, version).await
    }

    /// Whether the server gives a commit that no reference points to. In version 2 all do, or say so.
    pub(super) async fn may_ask_for(&mut self, id: gix_hash::ObjectId) -> Result<bool, Cause> {
        Ok(match self.greeting().await? {
            Greeting::Second(_) => true,
            Greeting::Old { capabilities, refs } => {
                let words = ["allow-any-sha1-in-want", "allow-reachable-sha1-in-want"];
                words.iter().any(|word| capabilities.has(word))
                    || refs
                        .iter()
                        .any(|found| found.id == id || found.peeled == Some(id))
            }
        })
    }

    /// What is worth remembering of the server.
    pub(super) fn known(&self) -> Option<Known> {
        match (&self.link, &self.greeting) {
            (Link::Http(http), Some(Greeting::Second(capabilities))) => http.remember(capabilities),
            _ => None,
        }
    }

    /// Ends the conversation, where that has to be said.
    pub(super) async fn close(self) {
        if let Link::Ssh(ssh) = self.link {
            ssh.close().await;
        }
    }

    async fn greeting(&mut self) -> Result<&Greeting, Cause> {
        if self.greeting.is_none() {
            let mut answer = self.link.greet().await?;
            let greeting = Greeting::read(&mut Packets::new(answer.as_mut())).await?;
            drop(answer);
            self.greeting = Some(greeting);
        }
        Ok(self.greeting.as_ref().expect("it was set above"))
    }
}

/// Which version of the protocol a request is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Old,
    Second,
}

impl Link {
    async fn greet(&mut self) -> Result<Box<dyn Chunks + '_>, Cause> {
        Ok(match self {
            Link::Http(http) => Box::new(http.greet().await?),
            Link::Ssh(ssh) => Box::new(ssh.answer()),
        })
    }

    async fn ask(&mut self, request: Vec<u8>, version: Version) -> Result<Box<dyn Chunks + '_>, Cause> {
        Ok(match self {
            Link::Http(http) => Box::new(http.ask(request, version).await?),
            Link::Ssh(ssh) => {
                ssh.send(request).await?;
                Box::new(ssh.answer())
            }
        })
    }
}
