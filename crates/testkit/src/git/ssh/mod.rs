//! Git over SSH.

mod connection;
mod key;
mod server;

pub use key::{KeyKind, KeyPair};
pub use server::{SshBuilder, SshServer};
