//! A conversation with a client, whatever carries it: bytes in, bytes out.

use super::pktline::{Packet, line, split};
use super::receive::Receiving;
use super::repository::Repository;
use super::store::Store;
use super::upload::{self, Commands, Negotiation, Next, Version};

/// Which way objects go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// To the client.
    UploadPack,
    /// To the server.
    ReceivePack,
}

impl Service {
    /// The service that a client means by `git-upload-pack` or `git-receive-pack`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "git-upload-pack" => Some(Self::UploadPack),
            "git-receive-pack" => Some(Self::ReceivePack),
            _ => None,
        }
    }

    /// The name that clients use.
    pub fn name(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }
}

/// How long the conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// One request, as over HTTP.
    Request,
    /// All of it, as over SSH.
    Whole,
}

enum Talk {
    Upload(Negotiation),
    UploadV2(Commands),
    Receive(Box<Receiving>),
}

/// A conversation.
pub struct Session {
    repository: Repository,
    talk: Talk,
    /// Bytes that came and are not used yet.
    pending: Vec<u8>,
    finished: bool,
}

/// What the server says before anything is asked of it.
pub fn greeting(repository: &Repository, service: Service, version: Version) -> Vec<u8> {
    let mut out = Vec::new();
    let store = &mut *repository.store();
    match service {
        Service::UploadPack => upload::advertise(store, version, &mut out),
        Service::ReceivePack => super::receive::advertise(store, version, &mut out),
    }
    out
}

impl Session {
    /// A conversation after the greeting.
    pub fn new(repository: Repository, service: Service, version: Version, span: Span) -> Self {
        let talk = match (service, version) {
            (Service::ReceivePack, _) => Talk::Receive(Box::default()),
            (Service::UploadPack, Version::V2) => Talk::UploadV2(Commands::default()),
            (Service::UploadPack, _) => Talk::Upload(Negotiation::new(span == Span::Request)),
        };
        Self {
            repository,
            talk,
            pending: Vec::new(),
            finished: false,
        }
    }

    /// Whether all is said.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Takes what the client says, in any pieces, and returns what is said to it.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut rest = &pending[..];
        let mut out = Vec::new();
        while !self.finished {
            if let Talk::Receive(receiving) = &mut self.talk
                && receiving.wants_pack()
            {
                self.finished = receiving.pack(&self.repository, rest, &mut out) == Next::Finished;
                rest = &[];
                break;
            }
            let next = match split(rest) {
                Ok(None) => break,
                Ok(Some((packet, tail))) => {
                    rest = tail;
                    self.packet(packet, &mut out)
                }
                Err(error) => Err(upload::Error::Unexpected(error.to_string())),
            };
            match next {
                Ok(next) => self.finished = next == Next::Finished,
                Err(error) => {
                    line(&mut out, format!("ERR {error}\n"));
                    self.finished = true;
                }
            }
        }
        self.pending = rest.to_vec();
        out
    }

    fn packet(&mut self, packet: Packet<'_>, out: &mut Vec<u8>) -> Result<Next, upload::Error> {
        let repository = &self.repository;
        let store = || -> parking_lot::MutexGuard<'_, Store> { repository.store() };
        match &mut self.talk {
            Talk::Upload(negotiation) => negotiation.packet(&mut store(), packet, out),
            Talk::UploadV2(commands) => commands.packet(&mut store(), packet, out),
            Talk::Receive(receiving) => receiving.packet(repository, packet, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::Id;

    /// Lines that a client may say, in any order.
    fn line_of_a_client() -> impl Strategy<Value = Vec<u8>> {
        let texts = [
            "command=fetch",
            "command=ls-refs",
            "want {id}",
            "want {id} multi_ack_detailed side-band-64k",
            "have {id}",
            "done",
            "deepen 1",
            "deepen 0",
            "deepen-since x",
            "shallow {id}",
            "filter blob:none",
            "ref-prefix refs/",
            "{id} {id} refs/heads/x\0report-status atomic push-options",
            "{id} {id}",
            "",
        ];
        let packet = (
            proptest::sample::select(texts.to_vec()),
            any::<bool>(),
            0..6_usize,
        )
            .prop_map(|(text, real, end)| {
                let id = if real {
                    repository().1.to_string()
                } else {
                    UNKNOWN.to_string()
                };
                let mut out = Vec::new();
                line(&mut out, text.replace("{id}", &id));
                match end {
                    0 => out.extend_from_slice(b"0000"),
                    1 => out.extend_from_slice(b"0001"),
                    2 => out.extend_from_slice(b"PACK\0\0\0\x02\0\0\0\x01"),
                    _ => {}
                }
                out
            });
        proptest::collection::vec(packet, 0..12).prop_map(|packets| packets.concat())
    }

    const UNKNOWN: &str = "8a2a5c0b3f6d1e7c9b4a8f0d2e6c1b5a7d9f3e0c";

    /// A repository with one commit, which is the same each time.
    fn repository() -> (Repository, Id) {
        let repository = Repository::new();
        let id = repository.commit("main", "One", [("a", "1")]);
        (repository, id)
    }

    fn every_session(bytes: &[u8], piece: usize) {
        let (repository, _) = repository();
        for service in [Service::UploadPack, Service::ReceivePack] {
            for version in [Version::V0, Version::V1, Version::V2] {
                for span in [Span::Request, Span::Whole] {
                    let mut session = Session::new(repository.clone(), service, version, span);
                    bytes.chunks(piece).for_each(|piece| drop(session.feed(piece)));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_a_client_says_is_survived(bytes in line_of_a_client(), piece in 1..100_usize) {
            every_session(&bytes, piece);
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, piece in 1..100_usize) {
            every_session(&bytes, piece);
        }
    }
}
