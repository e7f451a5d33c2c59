//! Digests of content, as registries and indexes spell them.

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of content, as `sha256:<hex>`.
pub fn sha256(content: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(content)))
}

/// Bytes as hexadecimal digits in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
