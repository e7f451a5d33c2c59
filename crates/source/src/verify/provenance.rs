//! Provenance files of packed charts: a clear-signed text with the digest of the archive, as `helm package --sign` writes it.
//!
//! Errors have the texts of Helm and of the OpenPGP library that it uses.

use model::Value;
use pgp::composed::{CleartextSignedMessage, DetachedSignature, PublicOrSecret, SignedPublicKey};
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::types::KeyDetails as _;
use sha2::{Digest as _, Sha256};

use crate::git::signature::pgp as trust;

const BEGIN: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
const END: &str = "-----END PGP SIGNATURE-----";

/// Why a chart is not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The keyring is no list of OpenPGP packets.
    #[error("openpgp: invalid data: {0}")]
    Keyring(String),
    /// The provenance file has no signed message.
    #[error("signature block not found")]
    NoSignature,
    /// No key of the keyring made the signature.
    #[error("openpgp: signature made by unknown entity")]
    Unknown,
    /// The signature is not that of its key for this text.
    #[error("openpgp: invalid signature: {0}")]
    Invalid(String),
    /// The key was revoked.
    #[error("openpgp: signature made by revoked key")]
    Revoked,
    /// The key or the signature has expired.
    #[error("openpgp: key expired")]
    Expired,
    /// The signed text has no checksums.
    #[error("message block must have at least two parts")]
    NoSums,
    /// The checksums are no YAML.
    #[error("failed to parse the checksums of the provenance file: {0}")]
    Sums(String),
    /// The signed text is about another file.
    #[error("provenance does not contain a SHA for a file named {0:?}")]
    OtherFile(String),
    /// The archive is another than the signed one.
    #[error("sha256 sum does not match for {file}: {signed:?} != {found:?}")]
    OtherContent {
        /// The name of the archive.
        file: String,
        /// The checksum that was signed.
        signed: String,
        /// The checksum of the archive.
        found: String,
    },
}

/// The signer of a chart, and what was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The user IDs of the key.
    pub signed_by: Vec<String>,
    /// The fingerprint of its primary key, in upper case.
    pub fingerprint: String,
    /// The checksum of the archive, with `sha256:` before it.
    pub file_hash: String,
}

/// Public keys that may sign charts.
#[derive(Clone, Debug)]
pub struct Keyring(Vec<SignedPublicKey>);

impl Keyring {
    /// Reads a binary keyring of public or secret keys. Keys of unknown kinds are left out.
    ///
    /// # Errors
    /// Where it is no keyring.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.first().is_some_and(|first| first & 0x80 == 0) {
            return Err(Error::Keyring("tag byte does not have MSB set".to_owned()));
        }
        let wrong = |error: pgp::errors::Error| Error::Keyring(error.to_string());
        let (mut keys, mut problem) = (Vec::new(), None);
        for key in PublicOrSecret::from_bytes_many(bytes).map_err(wrong)? {
            match key {
                Ok(PublicOrSecret::Public(key)) => keys.push(key),
                Ok(PublicOrSecret::Secret(key)) => keys.push(key.to_public_key()),
                Err(error) => {
                    problem.get_or_insert(error);
                }
            }
        }
        match problem {
            Some(error) if keys.is_empty() => Err(wrong(error)),
            _ => Ok(Keyring(keys)),
        }
    }
}

/// Verifies an archive of this file name. `now` is when keys must be good, in seconds since 1970.
///
/// # Errors
/// Where no trusted key has signed this archive under this name.
pub fn verify(
    archive: &[u8],
    provenance: &[u8],
    file_name: &str,
    keyring: &Keyring,
    now: i64,
) -> Result<Verification, Error> {
    let message = signed_message(provenance).ok_or(Error::NoSignature)?;
    let (message, _) = CleartextSignedMessage::from_string(&message).map_err(|_| Error::NoSignature)?;
    let text = message.signed_text();
    let key = signer(&message, text.as_bytes(), keyring, now)?;
    let found = checksum(archive);
    match sums(&text)?.str_at(&["files", file_name]) {
        "" => return Err(Error::OtherFile(file_name.to_owned())),
        signed if signed != found => {
            return Err(Error::OtherContent {
                file: file_name.to_owned(),
                signed: signed.to_owned(),
                found,
            });
        }
        _ => {}
    }
    let names = key.details.users.iter();
    Ok(Verification {
        signed_by: names
            .map(|user| String::from_utf8_lossy(user.id.id()).into_owned())
            .collect(),
        fingerprint: format!("{:X}", key.primary_key.fingerprint()),
        file_hash: found,
    })
}

/// Returns the lines of the signed message. Text before and after it means nothing, nor do the line endings: signatures are of lines.
fn signed_message(provenance: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(provenance).ok()?.replace("\r\n", "\n");
    let mut lines = text.lines().skip_while(|line| line.trim_end() != BEGIN);
    let mut message = String::new();
    loop {
        let line = lines.next()?;
        message.push_str(line);
        message.push('\n');
        if line.trim_end() == END {
            return Some(message);
        }
    }
}

/// The SHA-256 of an archive as provenance files have it.
fn checksum(archive: &[u8]) -> String {
    let digest = Sha256::digest(archive);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// The first key that made one of the signatures and may.
fn signer<'k>(
    message: &CleartextSignedMessage,
    text: &[u8],
    keyring: &'k Keyring,
    now: i64,
) -> Result<&'k SignedPublicKey, Error> {
    let mut failure = Error::Unknown;
    for signature in message.signatures() {
        if let Err(problem) = trust::check_kind(signature, now) {
            failure = Error::Invalid(problem.to_string());
            continue;
        }
        let issuers = signature.issuer_key_id();
        let detached = DetachedSignature::new(signature.clone());
        for key in &keyring.0 {
            match trust::made_by(&detached, text, key, now) {
                Some(Ok(())) => return Ok(key),
                Some(Err(reason)) if reason.contains("revoked") => failure = Error::Revoked,
                Some(Err(reason)) if reason.contains("expired") => failure = Error::Expired,
                Some(Err(reason)) => failure = Error::Invalid(reason.to_owned()),
                None => {
                    let primary = [(key.primary_key.legacy_key_id(), key.primary_key.algorithm())];
                    let others = key.public_subkeys.iter();
                    let others = others.map(|other| (other.key.legacy_key_id(), other.key.algorithm()));
                    let mut all = primary.into_iter().chain(others);
                    if let Some((_, algorithm)) = all.find(|(id, _)| issuers.contains(&id)) {
                        failure = Error::Invalid(format!("{} verification failure", shown(algorithm)));
                    }
                }
            }
        }
    }
    Err(failure)
}

fn shown(algorithm: PublicKeyAlgorithm) -> &'static str {
    match algorithm {
        PublicKeyAlgorithm::RSA | PublicKeyAlgorithm::RSASign => "RSA",
        PublicKeyAlgorithm::DSA => "DSA",
        PublicKeyAlgorithm::ECDSA => "ECDSA",
        PublicKeyAlgorithm::EdDSALegacy => "EdDSA",
        PublicKeyAlgorithm::Ed25519 => "Ed25519",
        _ => "signature",
    }
}

/// The checksums, which stand behind the metadata of the chart.
fn sums(text: &str) -> Result<Value, Error> {
    let text = text.replace("\r\n", "\n");
    let sums = text.split("\n...\n").nth(1).ok_or(Error::NoSums)?;
    yaml::parse(sums.as_bytes()).map_err(|error| Error::Sums(error.to_string()))
}
