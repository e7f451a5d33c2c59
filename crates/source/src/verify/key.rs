//! Public keys and what they sign.

use aws_lc_rs::signature::{self as algorithm, UnparsedPublicKey, VerificationAlgorithm};
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode as _, pem};
use x509_cert::spki::SubjectPublicKeyInfoRef;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");

/// A public key: ECDSA (P-256, P-384, P-521), RSA or Ed25519.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    kind: Kind,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    P256,
    P384,
    P521,
    Rsa,
    Ed25519,
}

/// Why a text is no public key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no PEM.
    #[error("it must be PEM that begins with -----BEGIN PUBLIC KEY-----")]
    Pem,
    /// What is in the PEM cannot be read.
    #[error("its content is no public key")]
    Malformed,
    /// The key is of a kind that is not known.
    #[error("its kind is not supported: it must be ECDSA, RSA or Ed25519")]
    Kind,
}

impl PublicKey {
    /// Reads a PEM file, as `cosign generate-key-pair` and `openssl` write them.
    ///
    /// # Errors
    /// Where it is no public key, or of a kind that is not known.
    pub fn from_pem(text: &[u8]) -> Result<Self, Error> {
        let (label, der) = pem::decode_vec(text.trim_ascii()).map_err(|_| Error::Pem)?;
        match label {
            "PUBLIC KEY" => Self::from_der(&der),
            "RSA PUBLIC KEY" => Ok(PublicKey {
                kind: Kind::Rsa,
                bytes: der,
            }),
            _ => Err(Error::Pem),
        }
    }

    /// Reads the DER form that certificates hold too.
    ///
    /// # Errors
    /// As [`PublicKey::from_pem`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| Error::Malformed)?;
        let kind = match info.algorithm.oid {
            RSA => Kind::Rsa,
            ED25519 => Kind::Ed25519,
            EC => match info.algorithm.parameters_oid().map_err(|_| Error::Malformed)? {
                P256 => Kind::P256,
                P384 => Kind::P384,
                P521 => Kind::P521,
                _ => return Err(Error::Kind),
            },
            _ => return Err(Error::Kind),
        };
        let bytes = info.subject_public_key.as_bytes().ok_or(Error::Malformed)?;
        Ok(PublicKey {
            kind,
            bytes: bytes.to_vec(),
        })
    }

    /// Whether it signed a message, hashed with SHA-256 (Ed25519 hashes in its own way), as cosign signs.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn VerificationAlgorithm = match self.kind {
            Kind::P256 => &algorithm::ECDSA_P256_SHA256_ASN1,
            Kind::P384 => &algorithm::ECDSA_P384_SHA256_ASN1,
            Kind::P521 => &algorithm::ECDSA_P521_SHA256_ASN1,
            Kind::Rsa => &algorithm::RSA_PKCS1_2048_8192_SHA256,
            Kind::Ed25519 => &algorithm::ED25519,
        };
        self.verifies_by(algorithm, message, signature)
    }

    /// Whether it signed a message by an algorithm of JWS, which must be the one for this kind of key.
    pub(super) fn verifies_jws(&self, name: &str, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn VerificationAlgorithm = match (name, self.kind) {
            ("ES256", Kind::P256) => &algorithm::ECDSA_P256_SHA256_FIXED,
            ("ES384", Kind::P384) => &algorithm::ECDSA_P384_SHA384_FIXED,
            ("ES512", Kind::P521) => &algorithm::ECDSA_P521_SHA512_FIXED,
            ("PS256", Kind::Rsa) => &algorithm::RSA_PSS_2048_8192_SHA256,
            ("PS384", Kind::Rsa) => &algorithm::RSA_PSS_2048_8192_SHA384,
            ("PS512", Kind::Rsa) => &algorithm::RSA_PSS_2048_8192_SHA512,
            _ => return false,
        };
        self.verifies_by(algorithm, message, signature)
    }

    /// Whether it signed a certificate by the algorithm that the certificate names.
    pub(crate) fn verifies_certificate(&self, oid: &str, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn VerificationAlgorithm = match (oid, self.kind) {
            ("1.2.840.113549.1.1.11", Kind::Rsa) => &algorithm::RSA_PKCS1_2048_8192_SHA256,
            ("1.2.840.113549.1.1.12", Kind::Rsa) => &algorithm::RSA_PKCS1_2048_8192_SHA384,
            ("1.2.840.113549.1.1.13", Kind::Rsa) => &algorithm::RSA_PKCS1_2048_8192_SHA512,
            ("1.2.840.10045.4.3.2", Kind::P256) => &algorithm::ECDSA_P256_SHA256_ASN1,
            ("1.2.840.10045.4.3.3", Kind::P256) => &algorithm::ECDSA_P256_SHA384_ASN1,
            ("1.2.840.10045.4.3.2", Kind::P384) => &algorithm::ECDSA_P384_SHA256_ASN1,
            ("1.2.840.10045.4.3.3", Kind::P384) => &algorithm::ECDSA_P384_SHA384_ASN1,
            ("1.2.840.10045.4.3.2", Kind::P521) => &algorithm::ECDSA_P521_SHA256_ASN1,
            ("1.2.840.10045.4.3.4", Kind::P521) => &algorithm::ECDSA_P521_SHA512_ASN1,
            ("1.3.101.112", Kind::Ed25519) => &algorithm::ED25519,
            _ => return false,
        };
        self.verifies_by(algorithm, message, signature)
    }

    fn verifies_by(
        &self,
        algorithm: &'static dyn VerificationAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        UnparsedPublicKey::new(algorithm, &self.bytes)
            .verify(message, signature)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused() {
        assert_eq!(PublicKey::from_pem(b"hello"), Err(Error::Pem));
        let private = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        assert_eq!(PublicKey::from_pem(private), Err(Error::Pem));
        let empty = b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
        assert_eq!(PublicKey::from_pem(empty), Err(Error::Malformed));
    }
}
