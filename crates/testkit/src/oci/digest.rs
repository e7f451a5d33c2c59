//! Digests as references have them: with a known algorithm, and checked.

use bytes::Bytes;
use sha2::{Digest as _, Sha256, Sha512};

use crate::digest::hex;

/// Whether the digest is that of the content. Nothing if it is not a digest, or of an unknown algorithm.
pub(super) fn matches(digest: &str, content: &Bytes) -> Option<bool> {
    if !is_digest(digest) {
        return None;
    }
    let (algorithm, expected) = digest.split_once(':')?;
    let actual = match algorithm {
        "sha256" => hex(&Sha256::digest(content)),
        "sha512" => hex(&Sha512::digest(content)),
        _ => return None,
    };
    Some(actual == expected)
}

/// Whether a reference is a digest of an algorithm that we know, and not a tag.
pub(super) fn is_digest(text: &str) -> bool {
    let length = match text.split_once(':') {
        Some(("sha256", _)) => 64,
        Some(("sha512", _)) => 128,
        _ => return false,
    };
    let digits = &text[7..];
    digits.len() == length
        && digits
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;

    #[test]
    fn digests_are_checked() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
        assert_eq!(matches(empty, &Bytes::new()), Some(true));
        assert_eq!(matches(empty, &Bytes::from("x")), Some(false));
        for wrong in [
            "",
            "sha256:",
            "sha256:E3",
            "md5:00",
            "latest",
            &empty.to_uppercase(),
        ] {
            assert_eq!(matches(wrong, &Bytes::new()), None, "{wrong}");
        }
    }
}
