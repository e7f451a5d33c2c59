//! SSH keys for tests.

use std::fmt;

use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, EcdsaCurve, PrivateKey, PublicKey, decode_secret_key, key::safe_rng};

/// What kind of key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// Ed25519.
    #[default]
    Ed25519,
    /// ECDSA with P-256.
    Ecdsa,
    /// RSA with 2048 bits.
    Rsa,
}

/// A key pair: a client's or a host's.
#[derive(Clone)]
pub struct KeyPair {
    pub(super) private: PrivateKey,
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair")
            .field("public", &self.public())
            .finish_non_exhaustive()
    }
}

impl KeyPair {
    /// A new key pair.
    pub fn generate(kind: KeyKind) -> Self {
        let algorithm = match kind {
            KeyKind::Ed25519 => Algorithm::Ed25519,
            KeyKind::Ecdsa => Algorithm::Ecdsa {
                curve: EcdsaCurve::NistP256,
            },
            KeyKind::Rsa => return Self::generate_rsa(),
        };
        let private =
            PrivateKey::random(&mut safe_rng(), algorithm).expect("a random key of a supported algorithm");
        Self { private }
    }

    /// RSA keys come from the C library: the pure Rust one takes minutes without optimisation.
    fn generate_rsa() -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).expect("the provider makes RSA keys");
        let private = decode_secret_key(&key.serialize_pem(), None).expect("PKCS #8 is understood");
        Self { private }
    }

    /// The private key as `ssh-keygen` writes it: `identity` of a secret.
    pub fn private(&self) -> String {
        self.private
            .to_openssh(LineEnding::LF)
            .expect("a key in memory can be written")
            .to_string()
    }

    /// The public key as one line: `identity.pub` of a secret.
    pub fn public(&self) -> String {
        self.public_key()
            .to_openssh()
            .expect("a key in memory can be written")
    }

    pub(super) fn public_key(&self) -> &PublicKey {
        self.private.public_key()
    }
}
