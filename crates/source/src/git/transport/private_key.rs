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
use crate::rounds;

const DSA: &str = "DSA keys are too weak and not supported: make one with 'ssh-keygen -t ed25519'";
const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END: &str = "-----END OPENSSH PRIVATE KEY-----";
const MAGIC: &[u8] = b"openssh-key-v1\0";
/// The most rounds of bcrypt that a passphrase is hashed for in OpenSSH's form: about two seconds. `ssh-keygen` makes 24 unless told otherwise.
const MOST_BCRYPT: u32 = 256;
/// The most rounds of other derivations; with scrypt they need 128 MiB of memory.
const MOST_ROUNDS: u64 = 1 << 20;
const TOO_MANY_ROUNDS: &str = "its passphrase is hashed too often: write it anew with 'ssh-keygen -p -a 64'";

/// Reads the private key to log in with. Hashing its passphrase can take seconds.
pub(super) fn read(auth: &SshAuth) -> Result<PrivateKey, Cause> {
    let identity = auth.identity.expose_secret();
    if !has_few_rounds(identity) {
        return Err(Cause::PrivateKey(TOO_MANY_ROUNDS));
    }
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
    // No other form than those whose rounds were counted.
    let identity = &*first_block(identity).ok_or(Error::CouldNotReadKey)?.text();
    // A passphrase that is not needed does no harm: it is tried where the key cannot be read without.
    match decode_secret_key(identity, None) {
        Err(_) if passphrase.is_some() => decode_secret_key(identity, passphrase),
        read => read,
    }
}

/// A private key in PEM.
struct Block<'i> {
    label: &'i str,
    body: Zeroizing<String>,
}

impl Block<'_> {
    /// The same with nothing around it.
    fn text(&self) -> Zeroizing<String> {
        let (label, body) = (self.label, self.body.as_str());
        Zeroizing::new(format!(
            "-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"
        ))
    }
}

/// The first private key of a text. Lines of its body that are not Base64 mean nothing.
fn first_block(identity: &str) -> Option<Block<'_>> {
    let mut lines = identity.lines().map(str::trim);
    let label = lines.find_map(|line| {
        let label = line.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
        label.ends_with("PRIVATE KEY").then_some(label)
    })?;
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
    let mut body = Zeroizing::new(String::with_capacity(identity.len()));
    let lines = lines.take_while(|line| !line.starts_with("-----END "));
    for line in lines.filter(|line| line.chars().all(is_base64)) {
        body.push_str(line);
    }
    Some(Block { label, body })
}

/// Whether the passphrase of a key is hashed in bearable time. What is no key has no rounds.
fn has_few_rounds(identity: &str) -> bool {
    let Some(block) = first_block(identity) else {
        return true;
    };
    let Ok(content) = STANDARD.decode(block.body.as_bytes()).map(Zeroizing::new) else {
        return true;
    };
    match content.strip_prefix(MAGIC) {
        Some(container) => bcrypt_rounds(container).is_none_or(|rounds| rounds <= MOST_BCRYPT),
        None => rounds::of(&content) <= MOST_ROUNDS,
    }
}

/// The rounds of a container of OpenSSH that is encrypted.
fn bcrypt_rounds(container: &[u8]) -> Option<u32> {
    let mut outer = Fields(container);
    let (_cipher, _derivation) = (outer.field()?, outer.field()?);
    let mut options = Fields(outer.field()?);
    let _salt = options.field()?;
    options.number()
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

    /// Each of them hung the process, or took all of its memory.
    #[test]
    fn keys_that_would_keep_us_hashing_for_hours_are_refused() {
        let of_openssh = {
            let text = LOCKED.split_once(BEGIN).unwrap().1.split_once(END).unwrap().0;
            let mut container = STANDARD
                .decode(text.split_whitespace().collect::<String>())
                .unwrap();
            let at = MAGIC.len() + 4 + "aes256-ctr".len() + 4 + "bcrypt".len() + 4 + 4 + 16;
            container[at..at + 4].copy_from_slice(&u32::MAX.to_be_bytes());
            STANDARD.encode(container)
        };
        let of_pkcs8 = {
            let derivation = [&[0x30, 10, 0x04, 2, 1, 2, 0x02, 4][..], &[0x05, 0xf5, 0xe1, 0x00]].concat();
            STANDARD.encode([&[0x30, 12][..], &derivation].concat())
        };
        for (label, body) in [
            ("OPENSSH PRIVATE KEY", &of_openssh),
            ("ENCRYPTED PRIVATE KEY", &of_pkcs8),
            ("PRIVATE KEY", &of_pkcs8),
        ] {
            for before in ["", "-----BEGIN CERTIFICATE-----\n"] {
                let identity = format!("{before}-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
                for passphrase in [None, Some("geheim")] {
                    let told = open(&identity, passphrase).unwrap_err();
                    assert!(told.contains("hashed too often"), "{label}: {told}");
                }
            }
        }
        // Flux does not read this form either.
        let of_putty = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: aes256-cbc\nKey-Derivation: Argon2id\nArgon2-Memory: 8388608\n";
        let told = open(of_putty, Some("geheim")).unwrap_err();
        assert!(told.contains("check it and its passphrase"), "{told}");
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
