//! Certificates of signers.

use jiff::Timestamp;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages};

use crate::verify::PublicKey;

const CODE_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.3");
const CRL_PLACES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.31");
const AUTHORITY_PLACES: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.1");
const LONGEST_CHAIN: usize = 10;

/// The names of the parts of a subject.
const PARTS: [(&str, &str); 7] = [
    ("2.5.4.3", "CN"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "STREET"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
];

/// A certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate(x509_cert::Certificate);

impl Certificate {
    pub(super) fn parse(der: &[u8]) -> Option<Self> {
        x509_cert::Certificate::from_der(der).ok().map(Certificate)
    }

    /// All certificates of a file, in PEM or DER.
    pub(super) fn read_all(file: &[u8]) -> Option<Vec<Self>> {
        if let Some(one) = Self::parse(file) {
            return Some(vec![one]);
        }
        let all = x509_cert::Certificate::load_pem_chain(file.trim_ascii()).ok()?;
        (!all.is_empty()).then(|| all.into_iter().map(Certificate).collect())
    }

    pub(super) fn key(&self) -> Option<PublicKey> {
        let info = self.0.tbs_certificate.subject_public_key_info.to_der().ok()?;
        PublicKey::from_der(&info).ok()
    }

    /// The parts of the subject, such as `("O", "example")`.
    pub(super) fn subject(&self) -> Vec<(String, String)> {
        let subject = &self.0.tbs_certificate.subject;
        let parts = subject.0.iter().flat_map(|part| part.0.iter());
        parts
            .filter_map(|part| {
                let oid = part.oid.to_string();
                let (_, name) = PARTS.iter().find(|(found, _)| *found == oid)?;
                let value = String::from_utf8(part.value.value().to_vec()).ok()?;
                Some(((*name).to_owned(), value))
            })
            .collect()
    }

    pub(super) fn is_good_at(&self, time: Timestamp) -> bool {
        let validity = &self.0.tbs_certificate.validity;
        let seconds = |time: x509_cert::time::Time| i64::try_from(time.to_unix_duration().as_secs());
        let (Ok(from), Ok(until)) = (seconds(validity.not_before), seconds(validity.not_after)) else {
            return false;
        };
        (from..=until).contains(&time.as_second())
    }

    fn is_signed_by(&self, issuer: &Certificate) -> bool {
        let certificate = &self.0;
        let names = certificate.tbs_certificate.issuer == issuer.0.tbs_certificate.subject;
        let (Ok(signed), Some(signature), Some(key)) = (
            certificate.tbs_certificate.to_der(),
            certificate.signature.as_bytes(),
            issuer.key(),
        ) else {
            return false;
        };
        let algorithm = certificate.signature_algorithm.oid.to_string();
        names && key.verifies_certificate(&algorithm, &signed, signature)
    }

    fn may_issue(&self) -> bool {
        let constraints = self.0.tbs_certificate.get::<BasicConstraints>();
        matches!(constraints, Ok(Some((_, constraints))) if constraints.ca)
    }

    fn may_sign_code(&self) -> bool {
        let certificate = &self.0.tbs_certificate;
        let usage = match certificate.get::<KeyUsage>() {
            Ok(Some((_, usage))) => usage.0.contains(KeyUsages::DigitalSignature),
            _ => false,
        };
        let extended = match certificate.get::<ExtendedKeyUsage>() {
            Ok(Some((_, usage))) => usage.0.contains(&CODE_SIGNING),
            Ok(None) => true,
            Err(_) => false,
        };
        usage && extended
    }

    /// Whether it names a place that knows of its revocation.
    fn can_be_revoked(&self) -> bool {
        let extensions = self.0.tbs_certificate.extensions.as_deref().unwrap_or_default();
        extensions
            .iter()
            .any(|extension| [CRL_PLACES, AUTHORITY_PLACES].contains(&extension.extn_id))
    }
}

/// The signer's certificate, if each is signed by the next one and the last by itself.
pub(super) fn check(chain: &[Certificate]) -> Result<&Certificate, String> {
    let [signer, issuers @ ..] = chain else {
        return Err("the signature has no certificate".to_owned());
    };
    if chain.len() > LONGEST_CHAIN {
        return Err(format!(
            "the signature has more than {LONGEST_CHAIN} certificates"
        ));
    }
    if !signer.may_sign_code() {
        return Err("the signing certificate is not meant for signing code".to_owned());
    }
    if !issuers.iter().all(Certificate::may_issue) {
        return Err("a certificate of the signature may not issue others".to_owned());
    }
    let links = chain.windows(2).all(|pair| pair[0].is_signed_by(&pair[1]));
    let root = &chain[chain.len() - 1];
    if !links || !root.is_signed_by(root) {
        return Err("the certificates of the signature are no chain".to_owned());
    }
    Ok(signer)
}

/// Nobody is asked about revocation, so that only certificates that nobody could be asked about pass.
pub(super) fn check_revocation(chain: &[Certificate]) -> Result<(), String> {
    if chain.iter().any(Certificate::can_be_revoked) {
        return Err(
            "whether certificates are revoked is not looked up yet: override \"revocation\" with \"log\" or \"skip\""
                .to_owned(),
        );
    }
    Ok(())
}
