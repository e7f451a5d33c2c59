//! Files that [SOPS](https://getsops.io) has encrypted: read, decrypted, and written as `sops decrypt` writes them.
//!
//! A file in any of the five formats is read into a tree and its metadata. The metadata holds the *data key*, encrypted
//! for each of its recipients; whoever can decrypt that can decrypt every value. Age and PGP are done here, with the keys
//! handed in. Key management services are asked by the caller: [`Unlock`] says whom to ask for what and takes the answer,
//! so that this crate does no I/O.
//!
//! ```text
//!    bytes ─▶ Encrypted ─▶ Unlock ⇄ the caller asks a service ─▶ DataKey ─▶ Decrypted ─▶ bytes
//!             (store, metadata)  (Keys: age, PGP)                           (walk, cipher)   (store)
//! ```
//!
//! Start reading at [`Encrypted`]; [`decrypt`] does all of it at once.
//!
//! Hostile input ends early: size, depth and the number of recipients are bounded, see [`limits`]. No secret is in any
//! error or in any `Debug` output.

mod age;
mod cipher;
mod decrypt;
mod error;
mod format;
mod keys;
pub mod limits;
mod metadata;
mod number;
mod rules;
mod shamir;
mod store;
mod tree;
mod unlock;

pub use decrypt::{Decrypted, Encrypted, Mac, decrypt};
pub use error::{Attempt, Error};
pub use format::Format;
pub use keys::{AwsCredentials, AzureCredentials, AzureMethod, ImportError, Keys, Provider};
pub use metadata::{AwsKmsKey, AzureKey, GcpKmsKey, Recipient, VaultKey};
pub use unlock::{DataKey, Remote, RemoteKey, Unlock};
