//! Data keys that are encrypted with age.

use secrecy::SecretSlice;

use crate::age::{Error, decrypt};
use crate::keys::Keys;

/// Decrypts an armored text with the first identity that fits.
pub(crate) fn open(ciphertext: &str, keys: &Keys) -> Result<SecretSlice<u8>, String> {
    if keys.age.is_empty() {
        return Err("there is no age identity".to_owned());
    }
    let reason = |error| match error {
        Error::NoMatch => "no age identity fits",
        Error::Version => "its age format is not known",
        Error::Broken => "its encrypted data key is broken",
    };
    decrypt(ciphertext, &keys.age).map_err(|error| reason(error).to_owned())
}
