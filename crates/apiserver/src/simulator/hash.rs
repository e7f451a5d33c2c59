//! Short names for the content of pod templates.

use model::{Value, json};

/// Letters and digits that form no words: what Kubernetes makes names of.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A short text that stands for `content`, and that changes with `probe` where two contents share it.
///
/// **Deviation**: the real one is computed from Go's view of the template, so the same template has another hash there.
pub(super) fn of(content: &Value, probe: Option<i64>) -> String {
    let mut bytes = json::to_vec(content);
    if let Some(probe) = probe {
        bytes.extend(probe.to_string().bytes());
    }
    let digits = fnv(&bytes).to_string();
    digits
        .bytes()
        .map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]))
        .collect()
}

/// FNV-1a: small, quick and the same in every run.
pub(super) fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_hash_is_stable_and_of_the_safe_alphabet() {
        let content = value!({"spec": {"containers": [{"name": "a", "image": "b"}]}});
        let hash = of(&content, None);
        assert_eq!(hash, of(&content.clone(), None));
        assert_ne!(hash, of(&content, Some(1)));
        assert!(hash.bytes().all(|letter| ALPHABET.contains(&letter)), "{hash}");
        assert!(hash.len() <= 10, "{hash}");
    }
}
