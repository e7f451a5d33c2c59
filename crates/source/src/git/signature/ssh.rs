//! SSH signatures, as `ssh-keygen -Y sign -n git` makes them.

use russh::keys::ssh_key::{AuthorizedKeys, SshSig};
use russh::keys::{HashAlg, PublicKey};

use super::Failure;

/// What Git signs under.
const NAMESPACE: &str = "git";

/// The fingerprint of the key that made a signature, if it is one of those that are trusted.
pub(super) fn verify(signature: &str, payload: &[u8], trusted: &[String]) -> Result<String, Failure> {
    let signature = SshSig::from_pem(signature).map_err(|error| Failure::Malformed(error.to_string()))?;
    let (mut unreadable, mut reason, mut tried) = (None, None, false);
    for text in trusted {
        let keys = match read(text) {
            Ok(keys) => keys,
            Err(error) => {
                unreadable.get_or_insert(error);
                continue;
            }
        };
        tried = true;
        for key in keys {
            match key.verify(NAMESPACE, payload, &signature) {
                Ok(()) => return Ok(key.fingerprint(HashAlg::Sha256).to_string()),
                // Of the key that made it we can say more than of the others.
                Err(error) if key.key_data() == signature.public_key() => reason = Some(error.to_string()),
                Err(_) => {}
            }
        }
    }
    match unreadable {
        Some(error) if !tried => Err(Failure::Keys(error)),
        _ => Err(Failure::NoMatch(
            reason.unwrap_or_else(|| "no matching key".to_owned()),
        )),
    }
}

/// All keys of a file, or why one of them cannot be read: a mistake is not to be passed over.
fn read(text: &str) -> Result<Vec<PublicKey>, String> {
    let keys = AuthorizedKeys::new(text).map(|entry| entry.map(|entry| entry.public_key().clone()));
    keys.collect::<Result<_, _>>()
        .map_err(|error| format!("authorized keys: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use russh::keys::{Algorithm, PrivateKey, key::safe_rng};

    fn key() -> PrivateKey {
        PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap()
    }

    fn sign(key: &PrivateKey, namespace: &str, payload: &[u8]) -> String {
        let signature = key.sign(namespace, HashAlg::Sha512, payload).unwrap();
        signature.to_pem(russh::keys::ssh_key::LineEnding::LF).unwrap()
    }

    #[test]
    fn the_key_that_signed_is_found_and_named() {
        let (ada, bob) = (key(), key());
        let text = sign(&ada, "git", b"payload");
        let both = format!("# comment\n\n{}\nrestrict {} ada\n", line(&bob), line(&ada));
        let found = verify(&text, b"payload", &[both]).unwrap();
        assert_eq!(found, ada.public_key().fingerprint(HashAlg::Sha256).to_string());
        assert!(found.starts_with("SHA256:"));
    }

    fn line(key: &PrivateKey) -> String {
        key.public_key().to_openssh().unwrap()
    }

    #[test]
    fn other_keys_payloads_and_namespaces_are_refused() {
        let (ada, bob) = (key(), key());
        let text = sign(&ada, "git", b"payload");
        let refused =
            |text: &str, payload: &[u8], key: &PrivateKey| verify(text, payload, &[line(key)]).unwrap_err();
        assert!(
            refused(&text, b"payload", &bob)
                .to_string()
                .contains("no matching key")
        );
        assert!(matches!(refused(&text, b"other", &ada), Failure::NoMatch(_)));
        assert!(matches!(
            refused(&sign(&ada, "file", b"payload"), b"payload", &ada),
            Failure::NoMatch(_)
        ));
        assert!(matches!(
            verify(&text, b"payload", &["x y z".into()]),
            Err(Failure::Keys(_))
        ));
        let broken = text.replace("-----END", "!----END");
        assert!(matches!(
            verify(&broken, b"payload", &[line(&ada)]),
            Err(Failure::Malformed(_))
        ));
        // What cannot be read does not hide what can.
        verify(&text, b"payload", &["x y z".into(), line(&ada)]).unwrap();
    }
}
