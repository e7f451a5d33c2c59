//! Private keys.

use num_bigint::BigUint;
use rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey};
use rsa::pkcs8::{DecodePrivateKey, EncodePublicKey};
use sha2::Digest;

use super::super::STR;
use super::der;
use super::dsa;
use crate::error::Error;
use crate::function::{Function, Functions};
use crate::session::Session;
use crate::value::Value;

/// The steps that making an RSA key of 2048 bits counts. One of twice the bits takes about ten times as long.
const RSA_2048: u64 = 500_000;
/// The steps that making an RSA key of 4096 bits counts.
const RSA_4096: u64 = 5_000_000;
/// The steps that making a DSA key counts.
const DSA: u64 = 200_000;
/// The steps that an elliptic key counts, to make it or to sign with it.
const ELLIPTIC: u64 = 5_000;
/// The largest key that is read, in bytes: RSA of 8192 bits has 4.7 KB.
const LARGEST: usize = 5 << 10;

const OID_EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const OID_P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const OID_ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const OID_SHA256_RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const OID_ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// What stands before a SHA-256 digest that RSA signs.
const DIGEST_INFO: &[u8] = &[
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
    0x04, 0x20,
];

pub(super) fn add(functions: &mut Functions) {
    functions.insert(
        "genPrivateKey",
        Function::new(&[STR], |call| {
            let kind = call.str(0);
            call.session.price(match &*kind {
                "" | "rsa" => RSA_4096,
                "dsa" => DSA,
                _ => ELLIPTIC,
            })?;
            let text = match &*kind {
                "" | "rsa" => Key::new_rsa(call.session, 4096).map(|key| key.pem()),
                "dsa" => Ok(dsa::generate(call.session)),
                "ecdsa" => Key::p256(call.session).map(|key| key.pem()),
                "ed25519" => Ok(Key::ed25519(call.session).pem()),
                other => return Ok(Value::str(format!("Unknown type {other}"))),
            };
            Ok(Value::str(text.unwrap_or_else(|error| {
                format!("failed to generate private key: {error}")
            })))
        }),
    );
}

/// A private key that can sign certificates.
pub(super) enum Key {
    Rsa(Box<rsa::RsaPrivateKey>),
    P256(Box<p256::SecretKey>),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

/// The randomness of a session for those who make keys.
struct Random<'s, 'a>(&'s mut Session<'a>);

impl rsa::rand_core::RngCore for Random<'_, '_> {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill_bytes(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.world().random(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rsa::rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

/// The embedder says by its `World` whether it is one.
impl rsa::rand_core::CryptoRng for Random<'_, '_> {}

impl Key {
    /// A new RSA key for a certificate.
    pub(super) fn rsa(session: &mut Session<'_>) -> Result<Key, Error> {
        session.price(RSA_2048)?;
        Key::new_rsa(session, 2048)
    }

    /// A new RSA key: the world's own, or one of its randomness.
    fn new_rsa(session: &mut Session<'_>, bits: usize) -> Result<Key, Error> {
        let made = match session.world().rsa_key(bits) {
            Some(der) => rsa::RsaPrivateKey::from_pkcs1_der(&der).map_err(|error| error.to_string())?,
            None => rsa::RsaPrivateKey::new(&mut Random(session), bits).map_err(|error| error.to_string())?,
        };
        Ok(Key::Rsa(Box::new(made)))
    }

    fn p256(session: &mut Session<'_>) -> Result<Key, Error> {
        for _ in 0..64 {
            let mut bytes = [0; 32];
            session.world().random(&mut bytes);
            if let Ok(key) = p256::SecretKey::from_slice(&bytes) {
                return Ok(Key::P256(Box::new(key)));
            }
        }
        Err(Error::new("the randomness is none"))
    }

    fn ed25519(session: &mut Session<'_>) -> Key {
        let mut seed = [0; 32];
        session.world().random(&mut seed);
        Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&seed)))
    }

    /// Reads a key in PEM, which counts as much as signing with it once.
    pub(super) fn parse(session: &mut Session<'_>, text: &str) -> Result<Key, Error> {
        let (label, bytes) = der::unpem(text).ok_or("no PEM data in input")?;
        if bytes.len() > LARGEST {
            return Err(Error::new(format!(
                "the private key has {} bytes, and {LARGEST} are read at most: use one of at most 8192 bits",
                bytes.len()
            )));
        }
        // Both take as long as the cube of its bits: 5 ms at 2048, of which there are 1,200 bytes.
        let size = bytes.len() as u64;
        session.price(ELLIPTIC + size * size * size / 35_000)?;
        if label == "PRIVATE KEY" {
            return parse_pkcs8(&bytes)
                .ok_or_else(|| Error::new("decoding PEM as PKCS#8: x509: failed to parse private key"));
        }
        let Some(kind) = label.strip_suffix(" PRIVATE KEY") else {
            return Err(Error::new(format!(
                "no private key data in PEM block of type {label}"
            )));
        };
        match kind {
            "RSA" => match rsa::RsaPrivateKey::from_pkcs1_der(&bytes) {
                Ok(key) => Ok(Key::Rsa(Box::new(key))),
                Err(error) => Err(Error::new(format!("parsing RSA private key from PEM: {error}"))),
            },
            "EC" => match p256::SecretKey::from_sec1_der(&bytes) {
                Ok(key) => Ok(Key::P256(Box::new(key))),
                Err(error) => Err(Error::new(format!("parsing EC private key from PEM: {error}"))),
            },
            _ => Err(Error::new(format!("invalid private key type {label}"))),
        }
    }

    /// The key in PEM, in the form that Go writes for its kind.
    pub(super) fn pem(&self) -> String {
        match self {
            Key::Rsa(key) => {
                let bytes = key
                    .to_pkcs1_der()
                    .map(|der| der.as_bytes().to_vec())
                    .unwrap_or_default();
                der::pem("RSA PRIVATE KEY", &bytes)
            }
            Key::P256(key) => {
                let public = der::bits(&p256_point(key));
                let bytes = der::sequence(&[
                    &der::unsigned(&[1]),
                    &der::value(der::OCTET_STRING, &key.to_bytes()),
                    &der::value(der::context(0), &der::value(der::OID, OID_P256)),
                    &der::value(der::context(1), &public),
                ]);
                der::pem("EC PRIVATE KEY", &bytes)
            }
            Key::Ed25519(key) => {
                let seed = der::value(der::OCTET_STRING, &key.to_bytes());
                let bytes = der::sequence(&[
                    &der::unsigned(&[0]),
                    &der::sequence(&[&der::value(der::OID, OID_ED25519)]),
                    &der::value(der::OCTET_STRING, &seed),
                ]);
                der::pem("PRIVATE KEY", &bytes)
            }
        }
    }

    /// The public key as certificates hold it, and its bits alone.
    pub(super) fn public(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        match self {
            Key::Rsa(key) => {
                let info = key.to_public_key().to_public_key_der().ok()?.as_bytes().to_vec();
                let (content, _) = der::expect(&info, der::SEQUENCE)?;
                let (_, _, _, rest) = der::read(content)?;
                let (bits, _) = der::expect(rest, der::BIT_STRING)?;
                let bits = bits.get(1..)?.to_vec();
                Some((info, bits))
            }
            Key::P256(key) => {
                let point = p256_point(key);
                let algorithm =
                    der::sequence(&[&der::value(der::OID, OID_EC), &der::value(der::OID, OID_P256)]);
                Some((der::sequence(&[&algorithm, &der::bits(&point)]), point))
            }
            Key::Ed25519(key) => {
                let bytes = key.verifying_key().to_bytes().to_vec();
                let algorithm = der::sequence(&[&der::value(der::OID, OID_ED25519)]);
                Some((der::sequence(&[&algorithm, &der::bits(&bytes)]), bytes))
            }
        }
    }

    /// How its signatures are named.
    pub(super) fn algorithm(&self) -> Vec<u8> {
        match self {
            Key::Rsa(_) => {
                der::sequence(&[&der::value(der::OID, OID_SHA256_RSA), &der::value(der::NULL, &[])])
            }
            Key::P256(_) => der::sequence(&[&der::value(der::OID, OID_ECDSA_SHA256)]),
            Key::Ed25519(_) => der::sequence(&[&der::value(der::OID, OID_ED25519)]),
        }
    }

    /// Signs. The same bytes give the same signature.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let digest = sha2::Sha256::digest(message);
        let failed = |error: &dyn std::fmt::Display| Error::new(error.to_string());
        match self {
            Key::Rsa(key) => {
                let scheme = rsa::Pkcs1v15Sign {
                    hash_len: Some(32),
                    prefix: DIGEST_INFO.into(),
                };
                key.sign(scheme, &digest).map_err(|error| failed(&error))
            }
            Key::P256(key) => {
                use p256::ecdsa::signature::hazmat::PrehashSigner;
                let signer = p256::ecdsa::SigningKey::from(&**key);
                let signature: p256::ecdsa::Signature =
                    signer.sign_prehash(&digest).map_err(|error| failed(&error))?;
                Ok(signature.to_der().as_bytes().to_vec())
            }
            Key::Ed25519(key) => {
                use ed25519_dalek::Signer;
                Ok(key.sign(message).to_bytes().to_vec())
            }
        }
    }
}

fn p256_point(key: &p256::SecretKey) -> Vec<u8> {
    use p256::elliptic_curve::sec1::ToEncodedPoint;
    key.public_key().to_encoded_point(false).as_bytes().to_vec()
}

fn parse_pkcs8(bytes: &[u8]) -> Option<Key> {
    if let Ok(key) = rsa::RsaPrivateKey::from_pkcs8_der(bytes) {
        return Some(Key::Rsa(Box::new(key)));
    }
    let (content, _) = der::expect(bytes, der::SEQUENCE)?;
    let (_, rest) = der::expect(content, der::INTEGER)?;
    let (algorithm, rest) = der::expect(rest, der::SEQUENCE)?;
    let (oid, _) = der::expect(algorithm, der::OID)?;
    let (key, _) = der::expect(rest, der::OCTET_STRING)?;
    match oid {
        OID_EC => {
            // The curve stands outside, and the key in it is of the older form.
            let (inner, _) = der::expect(key, der::SEQUENCE)?;
            let (_, rest) = der::expect(inner, der::INTEGER)?;
            let (secret, _) = der::expect(rest, der::OCTET_STRING)?;
            Some(Key::P256(Box::new(p256::SecretKey::from_slice(secret).ok()?)))
        }
        OID_ED25519 => {
            let (seed, _) = der::expect(key, der::OCTET_STRING)?;
            let seed: [u8; 32] = seed.try_into().ok()?;
            Some(Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(
                &seed,
            ))))
        }
        _ => None,
    }
}

/// A number below another, of the session's randomness.
pub(super) fn random_below(session: &mut Session<'_>, end: &BigUint) -> BigUint {
    let mut bytes = vec![0; end.to_bytes_be().len() + 8];
    session.world().random(&mut bytes);
    BigUint::from_bytes_be(&bytes) % end
}
