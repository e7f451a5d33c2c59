//! Data keys that are encrypted with PGP.

use std::io::Read as _;

use ::pgp::composed::Message;
use ::pgp::types::Password;
use secrecy::SecretSlice;

use crate::keys::Keys;
use crate::limits::MAX_ENCRYPTED_KEY;

/// Decrypts an armored message with whichever secret key fits.
pub(crate) fn open(ciphertext: &str, keys: &Keys) -> Result<SecretSlice<u8>, String> {
    if keys.pgp.is_empty() {
        return Err("there is no PGP secret key".to_owned());
    }
    let broken = || "its encrypted data key is broken".to_owned();
    for key in &keys.pgp {
        // A message can be read only once, and what was tried with one key is lost for the next.
        let (message, _) = Message::from_armor(ciphertext.as_bytes()).map_err(|_| broken())?;
        let Ok(message) = message.decrypt(&Password::empty(), key) else {
            continue;
        };
        let message = if message.is_compressed() {
            message.decompress().map_err(|_| broken())?
        } else {
            message
        };
        let mut data = Vec::new();
        message
            .take(MAX_ENCRYPTED_KEY as u64)
            .read_to_end(&mut data)
            .map_err(|_| broken())?;
        return Ok(data.into());
    }
    Err("no PGP secret key fits".to_owned())
}
