//! What `git upload-pack` does: listing references and sending packs.

mod advertise;
mod negotiate;
mod request;
mod select;
mod v2;

pub use advertise::Version;
pub(crate) use advertise::{advertise, advertise_refs};
pub(crate) use negotiate::Negotiation;
pub(crate) use v2::Commands;

/// Why a conversation ends early. The text is shown to the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    #[error("upload-pack: not our ref {0}")]
    NotOurs(super::Id),
    #[error("protocol error: unexpected {0:?}")]
    Unexpected(String),
    #[error("{0:?} is not supported by this server")]
    Unsupported(String),
    #[error("deepen-not is not a ref: {0}")]
    NotARef(String),
    #[error("{0}")]
    Failed(String),
}

/// Whether a conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The client speaks next.
    More,
    /// All is said.
    Finished,
}
