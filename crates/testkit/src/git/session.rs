//! A conversation with a client, whatever carries it: bytes in, bytes out.

use super::pktline::{Packet, line, split};
use super::receive::Receiving;
use super::repository::Repository;
use super::store::Store;
use super::upload::{self, Commands, Negotiation, Next, Version};

/// Which way objects go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// To the client.
    UploadPack,
    /// To the server.
    ReceivePack,
}

impl Service {
    /// The service that a client means by `git-upload-pack` or `git-receive-pack`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "git-upload-pack" => Some(Self::UploadPack),
            "git-receive-pack" => Some(Self::ReceivePack),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::UploadPack => "git-upload-pack",
            Self::ReceivePack => "git-receive-pack",
        }
    }
}

/// How long the conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
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
pub(crate) struct Session {
    repository: Repository,
    talk: Talk,
    /// Bytes that came and are not used yet.
    pending: Vec<u8>,
    finished: bool,
}

/// What the server says before anything is asked of it.
pub(crate) fn greeting(repository: &Repository, service: Service, version: Version) -> Vec<u8> {
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
    pub(crate) fn new(repository: Repository, service: Service, version: Version, span: Span) -> Self {
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
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Takes what the client says, in any pieces, and returns what is said to it.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
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
