//! The ciphers of age, by aws-lc-rs.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{self, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::{hkdf, hmac};
use secrecy::{ExposeSecret as _, SecretBox};

/// The length of keys.
pub(super) const KEY: usize = 32;
/// The length of a file key.
pub(super) const FILE_KEY: usize = 16;
/// The length of the tag of a ciphertext.
pub(super) const TAG: usize = 16;

/// The key that all else of a file is derived from.
pub(super) struct FileKey(SecretBox<[u8; FILE_KEY]>);

impl FileKey {
    /// Takes what was decrypted; `None` if it has another length.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        let key: [u8; FILE_KEY] = bytes.try_into().ok()?;
        Some(FileKey(SecretBox::new(Box::new(key))))
    }

    pub(super) fn expose(&self) -> &[u8] {
        self.0.expose_secret()
    }
}

struct Length;

impl hkdf::KeyType for Length {
    fn len(&self) -> usize {
        KEY
    }
}

/// Derives a key by HKDF with SHA-256.
pub(super) fn derive(secret: &[u8], salt: &[u8], info: &[u8]) -> [u8; KEY] {
    let mut key = [0; KEY];
    hkdf::Salt::new(hkdf::HKDF_SHA256, salt)
        .extract(secret)
        .expand(&[info], Length)
        .and_then(|expanded| expanded.fill(&mut key))
        .expect("HKDF expands to the length of one hash");
    key
}

/// Returns true if this is the HMAC with SHA-256 of a text.
pub(super) fn is_mac(key: &[u8; KEY], text: &[u8], mac: &[u8]) -> bool {
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), text, mac).is_ok()
}

/// Decrypts by ChaCha20-Poly1305; `None` if the key is another one or something was changed.
pub(super) fn open(key: &[u8; KEY], nonce: [u8; 12], sealed: &[u8]) -> Option<Vec<u8>> {
    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).ok()?);
    let mut buffer = sealed.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    let length = key.open_in_place(nonce, Aad::empty(), &mut buffer).ok()?.len();
    buffer.truncate(length);
    Some(buffer)
}

/// Agrees on a secret with another key by X25519, and returns it with the own public key. `None` if the other key is of a
/// small order: the secret would not depend on the own one.
pub(super) fn agree(scalar: &[u8; KEY], share: &[u8]) -> Option<([u8; KEY], [u8; KEY])> {
    let private = PrivateKey::from_private_key(&agreement::X25519, scalar).ok()?;
    let public = private.compute_public_key().ok()?;
    let public: [u8; KEY] = public.as_ref().try_into().ok()?;
    let other = UnparsedPublicKey::new(&agreement::X25519, share);
    let shared = agreement::agree(&private, other, (), |secret| secret.try_into().map_err(|_| ())).ok()?;
    Some((shared, public))
}
