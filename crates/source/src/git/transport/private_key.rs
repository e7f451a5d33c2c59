//! Private keys of SSH, in the forms that people have: OpenSSH's own, PKCS #1, SEC 1 and PKCS #8.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use russh::keys::ssh_key::cipher::Tag;
use russh::keys::ssh_key::private::{EcdsaKeypair, KeypairData};
use russh::keys::ssh_key::public::EcdsaPublicKey;
use russh::keys::{Error, PrivateKey, decode_secret_key};
use secrecy::ExposeSecret;
use secrecy::zeroize::Zeroizing;

use super::encrypted_pem::EncryptedPem;
use crate::git::auth::SshAuth;
use crate::git::error::Cause;

const DSA: &str = "DSA keys are too weak and not supported: make one with 'ssh-keygen -t ed25519'";
const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END: &str = "-----END OPENSSH PRIVATE KEY-----";
const MAGIC: &[u8] = b"openssh-key-v1\0";

/// The private key to log in with.
pub(super) fn read(auth: &SshAuth) -> Result<PrivateKey, Cause> {
    let identity = auth.identity.expose_secret();
    let passphrase = auth.passphrase.as_ref().map(ExposeSecret::expose_secret);
    let error = match decode(identity, passphrase) {
        // Flux reads such keys in one of their forms; no server of today takes them.
        Ok(key) if key.algorithm().is_dsa() => return Err(Cause::PrivateKey(DSA)),
        Ok(key) => return Ok(key),
        Err(_) if identity.contains("BEGIN DSA PRIVATE KEY") => return Err(Cause::PrivateKey(DSA)),
        Err(error) => error,
    };
    if let Some(key) = short_ecdsa(identity, passphrase) {
        return Ok(key);
    }
    let is_encrypted = matches!(error, Error::KeyIsEncrypted) || identity.contains("BEGIN ENCRYPTED");
    Err(match (is_encrypted, passphrase) {
        (true, None) => {
            let text = "the private key ('identity') is encrypted: give its passphrase as 'password'";
            Cause::Credentials(text.to_owned())
        }
        (_, Some(_)) => Cause::PrivateKey("check it and its passphrase ('password')"),
        (false, None) => Cause::PrivateKey("check that it is complete and was made for SSH"),
    })
}

/// The key as the library reads it.
fn decode(identity: &str, passphrase: Option<&str>) -> Result<PrivateKey, Error> {
    if let Some(pem) = EncryptedPem::find(identity) {
        let passphrase = passphrase.ok_or(Error::KeyIsEncrypted)?;
        let plain = pem.decrypt(passphrase).ok_or(Error::CouldNotReadKey)?;
        return decode_secret_key(&plain, None);
    }
    // A passphrase that is not needed does no harm: it is tried where the key cannot be read without.
    match decode_secret_key(identity, None) {
        Err(_) if passphrase.is_some() => decode_secret_key(identity, passphrase),
        read => read,
    }
}

/// An ECDSA key in OpenSSH's form whose number has leading zeros. `ssh-keygen` leaves them out, as numbers are written in this
/// form, and the library takes no number of fewer than 32 bytes: of the keys of P-256, one of 256 is such.
fn short_ecdsa(identity: &str, passphrase: Option<&str>) -> Option<PrivateKey> {
    let text = identity.split_once(BEGIN)?.1.split_once(END)?.0;
    let text: Zeroizing<Vec<u8>> =
        Zeroizing::new(text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect());
    let container = Zeroizing::new(STANDARD.decode(&*text).ok()?);
    let mut outer = Fields(container.strip_prefix(MAGIC)?);
    let cipher = outer.field()?;
    let (_derivation, _its_options) = (outer.field()?, outer.field()?);
    if outer.number()? != 1 {
        return None;
    }
    let public = outer.field()?;
    let mut private = Zeroizing::new(outer.field()?.to_vec());
    if cipher != b"none" {
        let sealed = PrivateKey::from_bytes(&container).ok()?;
        let cipher = sealed.cipher();
        let (key, start) = sealed.kdf().derive_key_and_iv(cipher, passphrase?).ok()?;
        let tag = match cipher.has_tag() {
            true => Some(Tag::try_from(outer.0).ok()?),
            false => None,
        };
        cipher.decrypt(&key, &start, &mut private, tag).ok()?;
    }
    let mut inner = Fields(&private);
    // Two equal numbers tell that the passphrase was right. Then the public key comes once more.
    if inner.number()? != inner.number()? {
        return None;
    }
    let mut inner = Fields(inner.0.strip_prefix(public)?);
    let mut public = Fields(public);
    let (_kind, _curve, point) = (public.field()?, public.field()?, public.field()?);
    let key = KeypairData::Ecdsa(pair(point, inner.field()?)?);
    let comment = String::from_utf8_lossy(inner.field()?).into_owned();
    PrivateKey::new(key, comment).ok()
}

fn pair(point: &[u8], number: &[u8]) -> Option<EcdsaKeypair> {
    Some(match EcdsaPublicKey::from_sec1_bytes(point).ok()? {
        EcdsaPublicKey::NistP256(public) => EcdsaKeypair::NistP256 {
            public,
            private: padded::<32>(number)?.into(),
        },
        EcdsaPublicKey::NistP384(public) => EcdsaKeypair::NistP384 {
            public,
            private: padded::<48>(number)?.into(),
        },
        EcdsaPublicKey::NistP521(public) => EcdsaKeypair::NistP521 {
            public,
            private: padded::<66>(number)?.into(),
        },
    })
}

/// A number with all its leading zeros.
fn padded<const SIZE: usize>(number: &[u8]) -> Option<[u8; SIZE]> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    let mut all = [0; SIZE];
    all[SIZE.checked_sub(number.len())?..].copy_from_slice(number);
    Some(all)
}

/// What is left to read of fields that are written with their lengths before them.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*number))
    }

    fn field(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use russh::keys::key::safe_rng;
    use russh::keys::ssh_key::{HashAlg, LineEnding};
    use russh::keys::{Algorithm, EcdsaCurve};

    use super::*;

    const SHORT: &str = include_str!("../../../tests/data/git/short-ecdsa");
    const LOCKED: &str = include_str!("../../../tests/data/git/short-ecdsa-locked");
    const LOCKED_PEM: &str = include_str!("../../../tests/data/git/locked-pem/ec-aes256");
    const LOCKED_WITH_TAG: &str = include_str!("../../../tests/data/git/short-ecdsa-locked-gcm");

    fn open(identity: &str, passphrase: Option<&str>) -> Result<PrivateKey, String> {
        let auth = SshAuth {
            identity: identity.into(),
            passphrase: passphrase.map(Into::into),
            known_hosts: String::new(),
            user: None,
        };
        read(&auth).map_err(|cause| cause.to_string())
    }

    #[test]
    fn an_encrypted_key_needs_its_passphrase() {
        let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
        let plain = key.to_openssh(LineEnding::LF).unwrap();
        let encrypted = key.encrypt(&mut safe_rng(), "geheim").unwrap();
        let encrypted = encrypted.to_openssh(LineEnding::LF).unwrap();
        for locked in [encrypted.as_str(), LOCKED, LOCKED_WITH_TAG, LOCKED_PEM] {
            let told = open(locked, None).unwrap_err();
            assert!(told.contains("give its passphrase as 'password'"), "{told}");
            let told = open(locked, Some("wrong")).unwrap_err();
            assert!(told.contains("check it and its passphrase"), "{told}");
        }
        open(LOCKED_PEM, Some("geheim")).unwrap();
        let opened = open(&encrypted, Some("geheim")).unwrap();
        assert_eq!(opened.public_key(), key.public_key());
        // A passphrase that is not needed does no harm.
        open(&plain, Some("geheim")).unwrap();
    }

    #[test]
    fn dsa_keys_are_told_as_such() {
        for identity in [
            include_str!("../../../tests/data/git/dsa-pem"),
            include_str!("../../../tests/data/git/dsa"),
        ] {
            let told = open(identity, None).unwrap_err();
            assert!(told.contains("ssh-keygen -t ed25519"), "{told}");
        }
    }

    /// The keys were made with `ssh-keygen -t ecdsa -b 256`, until the number of one began with a zero.
    #[test]
    fn ecdsa_keys_whose_number_begins_with_a_zero_are_read() {
        let pem = include_str!("../../../tests/data/git/short-ecdsa-pem");
        let expected = open(pem, None).unwrap();
        let fingerprint = expected.fingerprint(HashAlg::Sha256).to_string();
        assert_eq!(fingerprint, "SHA256:+gNdnv2cLnWaLNFlvwhTA+tikgBun/bqi4NyQlpIMn8");
        for (identity, passphrase) in [
            (SHORT, None),
            (SHORT, Some("not needed")),
            (LOCKED, Some("geheim")),
            (LOCKED_WITH_TAG, Some("geheim")),
            (pem, Some("not needed")),
            (include_str!("../../../tests/data/git/short-ecdsa-pkcs8"), None),
            (
                include_str!("../../../tests/data/git/short-ecdsa-pkcs8"),
                Some("not needed"),
            ),
        ] {
            let key = open(identity, passphrase).unwrap();
            assert_eq!(key.key_data(), expected.key_data());
        }
    }

    #[test]
    fn short_numbers_are_read_for_every_curve_and_nothing_else_is() {
        for curve in [EcdsaCurve::NistP256, EcdsaCurve::NistP384, EcdsaCurve::NistP521] {
            let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ecdsa { curve }).unwrap();
            let plain = key.to_openssh(LineEnding::LF).unwrap();
            assert_eq!(short_ecdsa(&plain, None).unwrap(), key);
            assert!(short_ecdsa(&plain[..plain.len() / 2], None).is_none());
        }
        let other = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
        let other = other.to_openssh(LineEnding::LF).unwrap();
        assert!(short_ecdsa(&other, None).is_none());
        assert_eq!(padded::<3>(&[0, 0, 0, 1, 2]), Some([0, 1, 2]));
        assert_eq!(padded::<3>(&[]), Some([0; 3]));
        assert_eq!(padded::<3>(&[1, 2, 3, 4]), None);
    }
}
