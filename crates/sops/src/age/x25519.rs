//! Age identities of an elliptic curve: `AGE-SECRET-KEY-1…`.

use secrecy::{ExposeSecret as _, SecretBox};

use super::header::{Stanza, decode};
use super::primitives::{FILE_KEY, FileKey, KEY, TAG, agree, derive, open};
use super::{Error, decode_seed};

/// The tag of stanzas of this kind.
const NAME: &str = "X25519";
/// What the wrapping key is derived for.
const INFO: &[u8] = b"age-encryption.org/v1/X25519";

/// The scalar of an identity.
pub(crate) struct Identity(SecretBox<[u8; KEY]>);

impl Identity {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let scalar = decode_seed(text, "age-secret-key-")?;
        Some(Identity(SecretBox::new(Box::new(scalar))))
    }

    pub(super) fn unwrap(&self, stanza: &Stanza<'_>) -> Result<Option<FileKey>, Error> {
        if stanza.tag != NAME {
            return Ok(None);
        }
        let &[share] = stanza.arguments.as_slice() else {
            return Err(Error::Broken);
        };
        let share = decode(share)?;
        if share.len() != KEY || stanza.body.len() != FILE_KEY + TAG {
            return Err(Error::Broken);
        }
        let (shared, public) = agree(self.0.expose_secret(), &share).ok_or(Error::Broken)?;
        let salt = [share.as_slice(), &public].concat();
        let key = derive(&shared, &salt, INFO);
        // A stanza that cannot be opened is for another identity.
        let opened = open(&key, [0; 12], &stanza.body);
        Ok(opened.and_then(|bytes| FileKey::new(&bytes)))
    }
}
