//! The Git protocol as a client that fetches speaks it: versions 0, 1 and 2, over anything that carries bytes.
//!
//! It is our own, because polls must cost one request, fetches must end when nobody waits for them any more, and both
//! hold no thread. Packs are read and indexed by `gix`.

mod fetch;
mod greeting;
mod listing;
mod packets;

pub(super) use fetch::{Pack, Plan};
pub(super) use greeting::{Capabilities, Greeting};
pub(super) use listing::{read as read_listing, request as list_request};
pub(super) use packets::{Packets, refusal};

/// What we call ourselves.
pub(super) const AGENT: &str = concat!("sluice/", env!("CARGO_PKG_VERSION"));
