//! Decrypts data keys that are encrypted with [age](https://age-encryption.org/v1).
//!
//! Only what SOPS needs: armored files of one chunk, for X25519 and post-quantum identities. All primitives are those of
//! aws-lc-rs. The `age` crate does the same and brings thirty more crates, most of them for translated messages.
//!
//! ```text
//!    armor ─▶ header: stanzas, MAC ─▶ an identity opens a stanza ─▶ file key ─▶ MAC checked ─▶ payload
//! ```

mod header;
mod hybrid;
mod primitives;
mod x25519;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretSlice;

use crate::limits::MAX_ENCRYPTED_KEY;
use header::{Header, Stanza};
use primitives::{FileKey, KEY};

/// The length of the nonce before the payload.
const NONCE: usize = 16;
/// The most that one chunk of a payload holds, with its tag.
const CHUNK: usize = (64 << 10) + 16;
const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";

/// A secret key that opens file keys.
pub(crate) enum Identity {
    X25519(x25519::Identity),
    /// An identity that withstands quantum computers.
    Hybrid(hybrid::Identity),
}

/// The reasons why a file cannot be decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// No stanza is for any of the identities.
    NoMatch,
    /// The file has a version of the format that is not known.
    Version,
    /// The file is not as the format wants it, or was tampered with.
    Broken,
}

impl Identity {
    /// Parses an identity that begins with `AGE-SECRET-KEY-1`.
    pub(crate) fn x25519(text: &str) -> Option<Self> {
        x25519::Identity::parse(text).map(Self::X25519)
    }

    /// Parses an identity that begins with `AGE-SECRET-KEY-PQ-1`.
    pub(crate) fn hybrid(text: &str) -> Option<Self> {
        hybrid::Identity::parse(text).map(Self::Hybrid)
    }

    /// Opens the file key of a stanza; `Ok(None)` if the stanza is for another identity.
    fn unwrap(&self, stanza: &Stanza<'_>) -> Result<Option<FileKey>, Error> {
        match self {
            Self::X25519(identity) => identity.unwrap(stanza),
            Self::Hybrid(identity) => identity.unwrap(stanza),
        }
    }
}

/// Decrypts an armored file with the first identity that fits.
pub(crate) fn decrypt(armored: &str, identities: &[Identity]) -> Result<SecretSlice<u8>, Error> {
    let file = dearmor(armored)?;
    let (header, payload) = Header::parse(&file)?;
    let file_key = find_file_key(&header, identities)?;
    let mac_key = primitives::derive(file_key.expose(), &[], b"header");
    if !primitives::is_mac(&mac_key, header.authenticated, &header.mac) {
        return Err(Error::Broken);
    }
    let (nonce, chunk) = payload.split_at_checked(NONCE).ok_or(Error::Broken)?;
    if chunk.len() > CHUNK {
        return Err(Error::Broken);
    }
    let key = primitives::derive(file_key.expose(), nonce, b"payload");
    // The first chunk is the last one, too: the counter is 0 and the final byte says that no other follows.
    let mut last = [0; 12];
    last[11] = 1;
    let opened = primitives::open(&key, last, chunk).ok_or(Error::Broken)?;
    Ok(opened.into())
}

fn find_file_key(header: &Header<'_>, identities: &[Identity]) -> Result<FileKey, Error> {
    for identity in identities {
        for stanza in &header.stanzas {
            if let Some(key) = identity.unwrap(stanza)? {
                return Ok(key);
            }
        }
    }
    Err(Error::NoMatch)
}

/// Decodes the armor of a file: strict PEM without headers.
fn dearmor(armored: &str) -> Result<Vec<u8>, Error> {
    if armored.len() > 2 * MAX_ENCRYPTED_KEY {
        return Err(Error::Broken);
    }
    let body = armored
        .trim()
        .strip_prefix(BEGIN)
        .and_then(|rest| rest.strip_suffix(END))
        .ok_or(Error::Broken)?;
    let text: String = body.lines().collect();
    STANDARD.decode(text).map_err(|_| Error::Broken)
}

/// Decodes the Bech32 text of an identity with this prefix, which must be in capital letters.
fn decode_seed(text: &str, prefix: &str) -> Option<[u8; KEY]> {
    use bech32::{FromBase32 as _, Variant};

    if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    // The decoder wants the prefix in small letters.
    let (found, words, variant) = bech32::decode(&text.to_ascii_lowercase()).ok()?;
    if found != prefix || variant != Variant::Bech32 {
        return None;
    }
    Vec::from_base32(&words).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests;
