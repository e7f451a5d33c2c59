//! PGP secret keys, armored, without a passphrase.

use ::pgp::composed::{PublicOrSecret, SignedSecretKey};

use super::Keys;
use crate::limits::MAX_IDENTITIES;

impl Keys {
    /// Public keys in the entry are of no use and are passed over, as GnuPG does.
    pub(super) fn import_pgp(&mut self, value: &[u8]) -> Result<(), String> {
        let invalid = || "this is no armored PGP key".to_owned();
        let (keys, _) = PublicOrSecret::from_reader_many(value).map_err(|_| invalid())?;
        let mut found: Vec<SignedSecretKey> = Vec::new();
        for key in keys.take(MAX_IDENTITIES) {
            if let PublicOrSecret::Secret(key) = key.map_err(|_| invalid())? {
                found.push(key);
            }
        }
        if found.is_empty() {
            return Err("there is no PGP secret key in it".to_owned());
        }
        let locked = |key: &SignedSecretKey| {
            key.primary_key.secret_params().is_encrypted()
                || key
                    .secret_subkeys
                    .iter()
                    .any(|key| key.key.secret_params().is_encrypted())
        };
        if found.iter().any(locked) {
            return Err("the PGP secret key has a passphrase: export it without one".to_owned());
        }
        self.pgp.extend(found);
        Ok(())
    }
}
