//! Post-quantum age identities: `AGE-SECRET-KEY-PQ-1…`.
//!
//! The file key is sealed by HPKE (RFC 9180) with the key encapsulation MLKEM768-X25519, also known as X-Wing, whose secret is
//! good as long as one of its two halves is.

use ::age::{DecryptError, Identity};
use age_core::format::{FileKey, Stanza};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::{FromBase32, Variant};
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use hmac::{Hmac, KeyInit as _, Mac};
use ml_kem::{Decapsulate, DecapsulationKey768};
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;
use sha3::digest::{ExtendableOutput, Update, XofReader};
use sha3::{Digest, Sha3_256, Shake256};
use x25519_dalek::{PublicKey, StaticSecret};

/// How stanzas of this kind are called.
const TAG: &str = "mlkem768x25519";
/// What the secrets are for.
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";
/// Key encapsulation, key derivation (HKDF-SHA256) and cipher (ChaCha20-Poly1305) by their numbers.
const SUITE: &[u8] = b"HPKE\x64\x7a\x00\x01\x00\x03";
/// The sign of X-Wing.
const LABEL: &[u8] = br"\.//^\";
/// The length of a ciphertext of ML-KEM-768.
const CIPHERTEXT: usize = 1088;
const FILE_KEY: usize = 16;

/// An identity: the seed that both of its keys are made of.
pub(crate) struct Hybrid(SecretBox<[u8; 32]>);

impl Hybrid {
    /// Reads the text of an identity; `None` if it is none.
    pub(crate) fn parse(text: &str) -> Option<Hybrid> {
        // The reader of Bech32 wants the prefix in small letters.
        let (prefix, words, variant) = bech32::decode(&text.to_ascii_lowercase()).ok()?;
        if prefix != "age-secret-key-pq-" || variant != Variant::Bech32 {
            return None;
        }
        let seed: [u8; 32] = Vec::from_base32(&words).ok()?.try_into().ok()?;
        Some(Hybrid(SecretBox::new(Box::new(seed))))
    }

    /// The secret that was encapsulated for this identity. For one that was for another, it is just another secret.
    fn decapsulate(&self, sealed: &[u8]) -> Option<[u8; 32]> {
        let (ciphertext, share) = sealed.split_at_checked(CIPHERTEXT)?;
        let share: [u8; 32] = share.try_into().ok()?;
        let mut expanded = Shake256::default().chain(self.0.expose_secret()).finalize_xof();
        let (mut seed, mut scalar) = ([0; 64], [0; 32]);
        expanded.read(&mut seed);
        expanded.read(&mut scalar);
        let of_lattice = DecapsulationKey768::from_seed(seed.into())
            .decapsulate_slice(ciphertext)
            .ok()?;
        let scalar = StaticSecret::from(scalar);
        let of_curve = scalar.diffie_hellman(&PublicKey::from(share));
        if !of_curve.was_contributory() {
            return None;
        }
        let mut hash = Sha3_256::new();
        for part in [
            of_lattice.as_slice(),
            of_curve.as_bytes(),
            &share,
            PublicKey::from(&scalar).as_bytes(),
            LABEL,
        ] {
            Digest::update(&mut hash, part);
        }
        Some(hash.finalize().into())
    }

    fn open(&self, sealed: &[u8], body: &[u8]) -> Option<[u8; FILE_KEY]> {
        let shared = self.decapsulate(sealed)?;
        let mut context = vec![0];
        context.extend(extract(&[], b"psk_id_hash", b""));
        context.extend(extract(&[], b"info_hash", INFO));
        let secret = extract(&shared, b"secret", b"");
        let key = expand(&secret, b"key", &context, 32);
        let nonce = expand(&secret, b"base_nonce", &context, 12);
        let cipher = ChaCha20Poly1305::new(Key::from_slice(&key));
        cipher
            .decrypt(Nonce::from_slice(&nonce), body)
            .ok()?
            .try_into()
            .ok()
    }
}

impl Identity for Hybrid {
    fn unwrap_stanza(&self, stanza: &Stanza) -> Option<Result<FileKey, DecryptError>> {
        if stanza.tag != TAG {
            return None;
        }
        let sealed = match stanza.args.as_slice() {
            [sealed] => STANDARD_NO_PAD.decode(sealed).ok(),
            _ => None,
        };
        let Some(sealed) = sealed.filter(|_| stanza.body.len() == FILE_KEY + 16) else {
            return Some(Err(DecryptError::InvalidHeader));
        };
        // What cannot be opened is for another identity.
        let key = self.open(&sealed, &stanza.body)?;
        Some(Ok(FileKey::new(Box::new(key))))
    }
}

/// HPKE's labeled extraction.
fn extract(salt: &[u8], label: &[u8], input: &[u8]) -> [u8; 32] {
    mac(salt, &[b"HPKE-v1", SUITE, label, input])
}

/// HPKE's labeled expansion, to at most one block.
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
