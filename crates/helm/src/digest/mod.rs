//! Digests that Flux keeps in the status of a HelmRelease, to the byte: with others, every release of a cluster that is taken over
//! would look changed, and be upgraded.

mod observed;
mod post_render;
mod values;

use blake3::Hasher;
use model::Digest;
use model::digest::Algorithm;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

pub use observed::{observed_json, of_record, record_matches};
pub use post_render::{of_common_metadata, of_post_renderers};
pub use values::{encode_values, of_values, values_match};

/// The digest of bytes.
pub fn of_bytes(algorithm: Algorithm, bytes: &[u8]) -> Digest {
    let hash: Vec<u8> = match algorithm {
        Algorithm::Sha1 => Sha1::digest(bytes).to_vec(),
        Algorithm::Sha256 => Sha256::digest(bytes).to_vec(),
        Algorithm::Sha384 => Sha384::digest(bytes).to_vec(),
        Algorithm::Sha512 => Sha512::digest(bytes).to_vec(),
        Algorithm::Blake3 => Hasher::new().update(bytes).finalize().as_bytes().to_vec(),
    };
    Digest::new(algorithm, &hash).expect("each function gives as many bytes as its digests have")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_gives_its_digest() {
        for (algorithm, start) in [
            (Algorithm::Sha1, "sha1:da39a3ee"),
            (Algorithm::Sha256, "sha256:e3b0c442"),
            (Algorithm::Sha384, "sha384:38b060a7"),
            (Algorithm::Sha512, "sha512:cf83e135"),
            (Algorithm::Blake3, "blake3:af1349b9"),
        ] {
            assert!(of_bytes(algorithm, b"").to_string().starts_with(start));
        }
    }
}
