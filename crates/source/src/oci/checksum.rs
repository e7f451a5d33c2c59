//! Digests as registries use them.

use model::Digest;
use model::digest::Algorithm;

use crate::archive::Hasher;

/// A hash function, unless registries do not use it or it proves nothing.
pub(super) fn checksum(algorithm: Algorithm) -> Option<Hasher> {
    match algorithm {
        Algorithm::Sha256 | Algorithm::Sha384 | Algorithm::Sha512 => Some(Hasher::new(algorithm)),
        Algorithm::Sha1 | Algorithm::Blake3 => None,
    }
}

/// The digest of bytes that are at hand.
pub(super) fn sha256(bytes: &[u8]) -> Digest {
    Hasher::digest(Algorithm::Sha256, bytes)
}
