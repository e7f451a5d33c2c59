//! Who reads from a server, and whom they trust to be that server. Every cache that several objects share is keyed by this.
//!
//! The owners of objects do not trust each other, and each chooses address, proxy, authorities and known hosts. So an answer
//! that one of them received proves nothing to another, unless both asked as the same identity over the same trust settings.

use std::fmt;

use sha2::{Digest, Sha256};

/// A SHA-256 digest of named parts. It identifies secrets without holding them, and is never printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Starts a fingerprint. Fingerprints of different kinds never equal each other.
    pub fn builder(kind: &str) -> Builder {
        Builder(Sha256::new()).text(kind)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Collects the parts of a [`Fingerprint`]. Each part carries its length, so that none can pass for the end of another.
pub struct Builder(Sha256);

impl Builder {
    /// Adds a part that may be missing.
    #[must_use]
    pub fn optional(mut self, part: Option<&[u8]>) -> Self {
        match part {
            None => self.0.update([0]),
            Some(part) => {
                self.0.update([1]);
                self.0.update((part.len() as u64).to_le_bytes());
                self.0.update(part);
            }
        }
        self
    }

    /// Adds bytes.
    #[must_use]
    pub fn bytes(self, part: &[u8]) -> Self {
        self.optional(Some(part))
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, part: &str) -> Self {
        self.bytes(part.as_bytes())
    }

    /// Adds a flag.
    #[must_use]
    pub fn flag(self, part: bool) -> Self {
        self.bytes(&[u8::from(part)])
    }

    /// Adds another fingerprint.
    #[must_use]
    pub fn fingerprint(self, part: &Fingerprint) -> Self {
        self.bytes(&part.0)
    }

    /// The fingerprint of all parts.
    pub fn build(self) -> Fingerprint {
        Fingerprint(self.0.finalize().into())
    }
}

/// The identity that reads from a server, and the settings by which it recognises that server.
///
/// Only readers of the same scope share content, tokens or anything else that a server said.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TrustScope(Fingerprint);

impl TrustScope {
    /// Joins an identity (credentials, or whom they were issued to) and trust settings (authorities, client certificate,
    /// proxy, known hosts, insecure flags).
    pub fn new(identity: &Fingerprint, trust: &Fingerprint) -> Self {
        let scope = Fingerprint::builder("scope").fingerprint(identity);
        TrustScope(scope.fingerprint(trust).build())
    }

    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint")
    }
}

impl fmt::Debug for TrustScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TrustScope")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = |parts: &[&str]| {
            let start = Fingerprint::builder("test");
            parts
                .iter()
                .fold(start, |builder, part| builder.text(part))
                .build()
        };
        assert_eq!(of(&["a", "bc"]), of(&["a", "bc"]));
        assert_ne!(of(&["a", "bc"]), of(&["ab", "c"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        let missing = Fingerprint::builder("test").optional(None).build();
        assert_ne!(missing, of(&[""]));
        assert_ne!(
            Fingerprint::builder("a").build(),
            Fingerprint::builder("b").build()
        );
    }

    #[test]
    fn a_scope_differs_by_identity_and_by_trust() {
        let of = |text: &str| Fingerprint::builder("test").text(text).build();
        let (a, b) = (of("a"), of("b"));
        assert_eq!(TrustScope::new(&a, &b), TrustScope::new(&a, &b));
        assert_ne!(TrustScope::new(&a, &b), TrustScope::new(&b, &a));
        assert_ne!(TrustScope::new(&a, &a), TrustScope::new(&a, &b));
    }
}
