//! OpenPGP signatures.
//!
//! A key counts if its owner says so: by a valid self-signature, for a subkey by a binding that the subkey confirms. Keys
//! that are revoked or expired now do not count, whenever the signature was made; so it is in Flux.

use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{KeyFlags, Signature, SignatureType};
use pgp::types::{KeyDetails, Tag, Timestamp};

use super::Failure;

/// The id of the primary key that made a signature or whose subkey did, if it is in one of the keyrings.
pub(super) fn verify(
    signature: &str,
    payload: &[u8],
    keyrings: &[String],
    now: i64,
) -> Result<String, Failure> {
    let (signature, _) =
        DetachedSignature::from_string(signature).map_err(|error| Failure::Malformed(error.to_string()))?;
    check_kind(&signature.signature, now)?;
    let (mut unreadable, mut reason, mut tried) = (None, None, false);
    for keyring in keyrings {
        let keys = match read(keyring) {
            Ok(keys) => keys,
            Err(error) => {
                unreadable.get_or_insert(error);
                continue;
            }
        };
        tried = true;
        for key in &keys {
            match made_by(&signature, payload, key, now) {
                Some(Ok(())) => return Ok(key.primary_key.legacy_key_id().to_string().to_uppercase()),
                Some(Err(error)) => reason = Some(error),
                None => {}
            }
        }
    }
    match unreadable {
        Some(error) if !tried => Err(Failure::Keys(error)),
        _ => Err(Failure::NoMatch(reason.unwrap_or("no matching key").to_owned())),
    }
}

fn read(keyring: &str) -> Result<Vec<SignedPublicKey>, String> {
    let shown = |error: pgp::errors::Error| format!("armored key ring: {error}");
    let (keys, _) = SignedPublicKey::from_string_many(keyring.trim()).map_err(shown)?;
    let keys: Vec<_> = keys.collect::<Result<_, _>>().map_err(shown)?;
    match keys.is_empty() {
        true => Err("armored key ring: it holds no keys".to_owned()),
        false => Ok(keys),
    }
}

/// Refuses signatures that count for nothing, whoever made them.
pub(crate) fn check_kind(signature: &Signature, now: i64) -> Result<(), Failure> {
    let malformed = |text: &str| Err(Failure::Malformed(text.to_owned()));
    if !matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text)) {
        return malformed("it is no signature of a document");
    }
    match signature.hash_alg() {
        Some(HashAlgorithm::Md5 | HashAlgorithm::Sha1 | HashAlgorithm::Ripemd160) | None => {
            return malformed("it was made with a hash that is no longer safe");
        }
        Some(_) => {}
    }
    match signature.created() {
        Some(created) if seconds(created) > now => malformed("it is from the future"),
        Some(created) => match signature.signature_expiration_time() {
            Some(life) if life.as_secs() > 0 && seconds(created) + i64::from(life.as_secs()) <= now => {
                malformed("it has expired")
            }
            _ => Ok(()),
        },
        None => malformed("it does not say when it was made"),
    }
}

/// Whether a key or one of its subkeys made the signature; nothing if not, or why it does not count.
pub(crate) fn made_by(
    signature: &DetachedSignature,
    payload: &[u8],
    key: &SignedPublicKey,
    now: i64,
) -> Option<Result<(), &'static str>> {
    if signature.verify(&key.primary_key, payload).is_ok() {
        return Some(primary(key, now).and_then(|own| match may_sign(own.key_flags()) {
            true => Ok(()),
            false => Err("the key that made it is not for signing"),
        }));
    }
    let subkey = key
        .public_subkeys
        .iter()
        .find(|subkey| signature.verify(&subkey.key, payload).is_ok())?;
    Some(primary(key, now).and_then(|_| bound(key, subkey, now)))
}

/// The newest valid statement of the primary key about itself.
fn primary(key: &SignedPublicKey, now: i64) -> Result<&Signature, &'static str> {
    let main = &key.primary_key;
    if key
        .details
        .revocation_signatures
        .iter()
        .any(|revocation| revocation.verify_key(main).is_ok())
    {
        return Err("the key that made it was revoked");
    }
    let by_users = key.details.users.iter().flat_map(|user| {
        let is_own = |signature: &&Signature| {
            signature.is_certification()
                && signature
                    .verify_certification(main, Tag::UserId, &user.id)
                    .is_ok()
        };
        user.signatures.iter().filter(is_own)
    });
    let direct = key
        .details
        .direct_signatures
        .iter()
        .filter(|signature| signature.verify_key(main).is_ok());
    let newest = by_users
        .chain(direct)
        .max_by_key(|signature| signature.created().map(seconds));
    let newest = newest.ok_or("the key that made it has no valid self-signature")?;
    match is_expired(main.created_at(), newest, now) {
        true => Err("the key that made it has expired"),
        false => Ok(newest),
    }
}

/// Whether a subkey belongs to the key, for signing, now.
fn bound(key: &SignedPublicKey, subkey: &SignedPublicSubKey, now: i64) -> Result<(), &'static str> {
    let main = &key.primary_key;
    let valid = |signature: &&Signature| signature.verify_subkey_binding(main, &subkey.key).is_ok();
    let of = |kind: SignatureType| {
        subkey
            .signatures
            .iter()
            .filter(move |signature| signature.typ() == Some(kind))
    };
    if of(SignatureType::SubkeyRevocation).any(|revocation| valid(&revocation)) {
        return Err("the subkey that made it was revoked");
    }
    let bindings = of(SignatureType::SubkeyBinding).filter(valid);
    let newest = bindings.max_by_key(|signature| signature.created().map(seconds));
    let newest = newest.ok_or("the subkey that made it is not bound to its key")?;
    let confirmed = newest
        .embedded_signature()
        .is_some_and(|back| back.verify_primary_key_binding(&subkey.key, main).is_ok());
    if !(confirmed && newest.key_flags().sign()) {
        return Err("the subkey that made it is not for signing");
    }
    match is_expired(subkey.key.created_at(), newest, now) {
        true => Err("the subkey that made it has expired"),
        false => Ok(()),
    }
}

/// Keys without flags may do all they can.
fn may_sign(flags: KeyFlags) -> bool {
    flags.sign() || flags == KeyFlags::default()
}

fn is_expired(created: Timestamp, own: &Signature, now: i64) -> bool {
    let life = own
        .key_expiration_time()
        .map_or(0, |life| i64::from(life.as_secs()));
    life > 0 && seconds(created) + life <= now
}

fn seconds(time: Timestamp) -> i64 {
    i64::from(time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made with GnuPG 2.2: Ada signs with her primary key, Bob with a subkey, Eve's key has expired, Mal's is revoked.
    const PAYLOAD: &[u8] = include_bytes!("../../../tests/data/git/payload");
    const NOW: i64 = 1_800_000_000;

    macro_rules! data {
        ($name:literal) => {
            include_str!(concat!("../../../tests/data/git/", $name))
        };
    }

    fn check(signature: &str, payload: &[u8], keyrings: &[&str]) -> Result<String, Failure> {
        let keyrings: Vec<String> = keyrings.iter().map(ToString::to_string).collect();
        verify(signature.trim(), payload, &keyrings, NOW)
    }

    #[test]
    fn primary_keys_and_subkeys_are_found_in_any_keyring() {
        let rings = [data!("ada.asc"), data!("bob.asc")];
        assert_eq!(
            check(data!("ada.sig"), PAYLOAD, &rings).unwrap(),
            "52267DAAB6513BC9"
        );
        assert_eq!(
            check(data!("bob.sig"), PAYLOAD, &rings).unwrap(),
            "2DBF9CD99E1ED369"
        );
    }

    #[test]
    fn strangers_and_changed_payloads_are_refused() {
        let error = check(data!("ada.sig"), PAYLOAD, &[data!("bob.asc")]).unwrap_err();
        assert!(error.to_string().contains("no matching key"));
        assert!(check(data!("ada.sig"), b"other", &[data!("ada.asc")]).is_err());
        assert!(matches!(
            check(data!("ada.sig"), PAYLOAD, &["nothing"]),
            Err(Failure::Keys(_))
        ));
        assert!(matches!(
            check("-----BEGIN PGP SIGNATURE-----\n", PAYLOAD, &[]),
            Err(Failure::Malformed(_))
        ));
        // A keyring that cannot be read does not hide one that can.
        check(data!("ada.sig"), PAYLOAD, &["nothing", data!("ada.asc")]).unwrap();
    }

    #[test]
    fn expired_revoked_weak_and_future_signatures_are_refused() {
        let reason =
            |signature: &str, keyring: &str| check(signature, PAYLOAD, &[keyring]).unwrap_err().to_string();
        assert!(reason(data!("eve.sig"), data!("eve.asc")).contains("has expired"));
        assert!(reason(data!("mal.sig"), data!("mal.asc")).contains("was revoked"));
        assert!(reason(data!("ada-sha1.sig"), data!("ada.asc")).contains("no longer safe"));
        let early = verify(
            data!("ada.sig").trim(),
            PAYLOAD,
            &[data!("ada.asc").to_owned()],
            1_700_000_000,
        );
        assert!(early.unwrap_err().to_string().contains("from the future"));
        // Eve's key was good when she signed.
        verify(
            data!("eve.sig").trim(),
            PAYLOAD,
            &[data!("eve.asc").to_owned()],
            1_577_900_000,
        )
        .unwrap();
    }
}
