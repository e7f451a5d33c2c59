//! Post-quantum age identities: `AGE-SECRET-KEY-PQ-1…`.
//!
//! The file key is sealed by HPKE (RFC 9180) with the key encapsulation MLKEM768-X25519, also known as X-Wing, whose secret is
//! good as long as one of its two halves is.

use aws_lc_rs::digest;
use hmac::{Hmac, KeyInit as _, Mac};
use ml_kem::{Decapsulate, DecapsulationKey768};
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;
use shake::{ExtendableOutput, Shake256, Update, XofReader};

use super::header::{Stanza, decode};
use super::primitives::{self, FILE_KEY, FileKey, KEY, agree};
use super::{Error, decode_seed};

/// The tag of stanzas of this kind.
const NAME: &str = "mlkem768x25519";
/// What the secrets are derived for.
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";
/// Key encapsulation, key derivation (HKDF-SHA256) and cipher (ChaCha20-Poly1305) by their numbers.
const SUITE: &[u8] = b"HPKE\x64\x7a\x00\x01\x00\x03";
/// The label of X-Wing.
const LABEL: &[u8] = br"\.//^\";
/// The length of a ciphertext of ML-KEM-768.
const CIPHERTEXT: usize = 1088;

/// The seed that both keys of an identity are made of.
pub(crate) struct Identity(SecretBox<[u8; KEY]>);

impl Identity {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let seed = decode_seed(text, "age-secret-key-pq-")?;
        Some(Identity(SecretBox::new(Box::new(seed))))
    }

    pub(super) fn unwrap(&self, stanza: &Stanza<'_>) -> Result<Option<FileKey>, Error> {
        if stanza.tag != NAME {
            return Ok(None);
        }
        let &[sealed] = stanza.arguments.as_slice() else {
            return Err(Error::Broken);
        };
        let sealed = decode(sealed)?;
        if stanza.body.len() != FILE_KEY + primitives::TAG {
            return Err(Error::Broken);
        }
        // A stanza that cannot be opened is for another identity.
        Ok(self.open(&sealed, &stanza.body))
    }

    /// Returns the secret that was encapsulated for this identity. For a secret of another identity, it is just another one.
    fn decapsulate(&self, sealed: &[u8]) -> Option<[u8; 32]> {
        let (ciphertext, share) = sealed.split_at_checked(CIPHERTEXT)?;
        let mut expanded = Shake256::default();
        expanded.update(self.0.expose_secret());
        let mut expanded = expanded.finalize_xof();
        let (mut seed, mut scalar) = ([0; 64], [0; KEY]);
        expanded.read(&mut seed);
        expanded.read(&mut scalar);
        let of_lattice = DecapsulationKey768::from_seed(seed.into())
            .decapsulate_slice(ciphertext)
            .ok()?;
        let (of_curve, public) = agree(&scalar, share)?;
        let mut hash = digest::Context::new(&digest::SHA3_256);
        for part in [of_lattice.as_slice(), &of_curve, share, &public, LABEL] {
            hash.update(part);
        }
        hash.finish().as_ref().try_into().ok()
    }

    fn open(&self, sealed: &[u8], body: &[u8]) -> Option<FileKey> {
        let shared = self.decapsulate(sealed)?;
        let mut context = vec![0];
        context.extend(extract(&[], b"psk_id_hash", b""));
        context.extend(extract(&[], b"info_hash", INFO));
        let secret = extract(&shared, b"secret", b"");
        let key = expand(&secret, b"key", &context, 32).try_into().ok()?;
        let nonce = expand(&secret, b"base_nonce", &context, 12).try_into().ok()?;
        FileKey::new(&primitives::open(&key, nonce, body)?)
    }
}

/// Extracts a secret with a label, as HPKE does.
fn extract(salt: &[u8], label: &[u8], input: &[u8]) -> [u8; 32] {
    mac(salt, &[b"HPKE-v1", SUITE, label, input])
}

/// Expands a secret with a label, as HPKE does, to at most one block.
fn expand(secret: &[u8], label: &[u8], info: &[u8], length: u8) -> Vec<u8> {
    let block = mac(secret, &[&[0, length], b"HPKE-v1", SUITE, label, info, &[1]]);
    block[..usize::from(length)].to_vec()
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        Mac::update(&mut mac, part);
    }
    mac.finalize().into_bytes().into()
}
