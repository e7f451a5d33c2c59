//! Data keys that are encrypted with age.

use std::io::Read as _;

use ::age::armor::ArmoredReader;
use ::age::{DecryptError, Decryptor, Identity};
use secrecy::SecretSlice;

use crate::keys::Keys;
use crate::limits::MAX_ENCRYPTED_KEY;

/// Decrypts an armored text with whichever identity fits.
pub(crate) fn open(ciphertext: &str, keys: &Keys) -> Result<SecretSlice<u8>, String> {
    if keys.age.is_empty() && keys.hybrid.is_empty() {
        return Err("there is no age identity".to_owned());
    }
    let broken = |_| "its encrypted data key is broken".to_owned();
    let decryptor = Decryptor::new_buffered(ArmoredReader::new(ciphertext.as_bytes())).map_err(broken)?;
    let hybrid = keys.hybrid.iter().map(|identity| identity as &dyn Identity);
    let identities = keys
        .age
        .iter()
        .map(|identity| identity as &dyn Identity)
        .chain(hybrid);
    let reader = decryptor.decrypt(identities).map_err(|error| match error {
        DecryptError::NoMatchingKeys => "no age identity fits".to_owned(),
        DecryptError::UnknownFormat => "its age format is not known".to_owned(),
        _ => "its encrypted data key is broken".to_owned(),
    })?;
    let mut key = Vec::new();
    reader
        .take(MAX_ENCRYPTED_KEY as u64)
        .read_to_end(&mut key)
        .map_err(|_| "its encrypted data key is broken".to_owned())?;
    Ok(key.into())
}
