//! OCI registries: what they hold found, fetched and pushed, over the distribution protocol.
//!
//! ```text
//! url ─▶ Repository ─┐
//!                    ├─▶ Client::resolve ─▶ Resolved ─▶ Client::pull ─▶ Pulled (layer in a file) ─▶ archive
//! Selector ──────────┘      (one HEAD)                 (strictly by digest)
//! ```
//!
//! A [`Client`] is made for one way to connect (TLS, proxy, credentials). What is learned about registries while asking them,
//! above all tokens, is kept in a [`Session`] that all clients of a process share: with it a poll that finds nothing new is
//! exactly one request.
//!
//! Guarantees: content is handed out only if it has the digest and size it was asked by; credentials go only to the registry
//! they are for and to the token server it names; a redirect to another host carries none; sizes and counts are limited.

mod answer;
mod artifact;
mod blob;
mod challenge;
mod checksum;
mod client;
mod credential;
mod docker_config;
mod error;
mod manifest;
mod pull;
mod push;
mod reference;
mod referrers;
mod resolve;
mod session;
mod tags;
mod token;

pub use artifact::{Annotations, CONFIG_MEDIA_TYPE, CONTENT_MEDIA_TYPE, CREATED, REVISION, SOURCE};
pub use client::{Client, Options};
pub use credential::{Credential, Keychain};
pub use error::Error;
pub use manifest::{Content, Descriptor, INDEX, Index, MANIFEST, Manifest, Platform};
pub use pull::Pulled;
pub use reference::{Reference, Repository, Version};
pub use resolve::{CHART_MEDIA_TYPE, Resolved, Selector};
pub use session::Session;
