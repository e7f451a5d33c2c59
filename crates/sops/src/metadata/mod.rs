//! What SOPS keeps beside the values: for whom the data key is encrypted, which values are, and the MAC.

mod extract;
mod flatten;
mod read;
mod recipient;

pub(crate) use extract::{Layout, extract};
pub use recipient::{AwsKmsKey, AzureKey, GcpKmsKey, Recipient, VaultKey};

use crate::rules::Rule;

/// The metadata of a file.
pub(crate) struct Metadata {
    /// The groups of recipients. With several, each has a share of the data key.
    pub(crate) groups: Vec<Vec<Sealed>>,
    /// How many shares make the data key.
    pub(crate) threshold: usize,
    /// When the file was encrypted, which the MAC is bound to.
    pub(crate) last_modified: String,
    /// The encrypted MAC.
    pub(crate) mac: String,
    /// Whether the MAC leaves out values that are not encrypted.
    pub(crate) mac_only_encrypted: bool,
    /// Which values are encrypted.
    pub(crate) rule: Rule,
}

/// A data key, or a share of it, that is encrypted for a recipient.
pub(crate) struct Sealed {
    pub(crate) recipient: Recipient,
    pub(crate) ciphertext: String,
}
