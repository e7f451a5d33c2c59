//! Encrypted files and objects, made readable by a decrypter that is handed in.
//!
//! What is encrypted is seen by marks in its text, as Flux sees it; what is not stays as it is.

mod files;
mod objects;
mod services;
mod sops;
mod vault;

pub(crate) use files::files;
pub(crate) use objects::objects;
pub use objects::{decode_data, is_encrypted_secret};
pub use services::CloudServices;
pub use sops::{KeyServices, Sops};
pub use vault::VaultLogins;

use ::sops::Format;

/// Decrypts what was encrypted with SOPS.
pub trait Decrypter {
    /// The plain content, in the form `to`. The message of an error must have no plain text in it.
    ///
    /// # Errors
    /// Says why it cannot be decrypted: no key fits, or it is not what it seems.
    fn decrypt(&self, content: &[u8], from: Format, to: Format) -> Result<Vec<u8>, String>;
}
