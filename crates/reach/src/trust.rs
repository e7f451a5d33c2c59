//! Which certificates of servers are taken.
//!
//! webpki decides, with the authorities of the system and those that were given. It is stricter than Go's verifier, by which
//! people made their certificates for Flux, in two ways that are common, and there this module decides:
//!
//! - A certificate that is itself on the list is trusted, whoever issued it and whatever else it may do. `openssl req -x509` makes
//!   certificates of servers that are authorities too, and webpki takes none of these for the certificate of a server.
//! - A certificate of a server that is an authority too, issued by one that was given: `openssl req -x509 -CA` makes such.
//!
//! Names, dates, purpose and the signature of the handshake are looked at in every case.

use std::collections::HashSet;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use sha2::{Digest, Sha256};
use x509_cert::Certificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, NameConstraints};

const SERVER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const ANYTHING: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37.0");

/// Checks the certificates of servers.
#[derive(Debug)]
pub struct Trust {
    /// Takes whatever comes.
    any: bool,
    /// What webpki starts from: the authorities of the system and those that were given.
    anchors: RootCertStore,
    /// The SHA-256 of each of these.
    listed: HashSet<[u8; 32]>,
    /// Those that were given.
    given: Vec<Certificate>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Trust {
    /// Takes whatever comes.
    pub fn any(provider: &CryptoProvider) -> Self {
        Trust {
            any: true,
            anchors: RootCertStore::empty(),
            listed: HashSet::new(),
            given: Vec::new(),
            algorithms: provider.signature_verification_algorithms,
        }
    }

    /// Takes what the system trusts, and what these certificates stand for. A system that trusts no one is none to complain about
    /// before somebody has to be trusted.
    pub fn system_and(given: Vec<CertificateDer<'static>>, provider: &CryptoProvider) -> Self {
        let system = rustls_native_certs::load_native_certs().certs;
        Self::made_of(system, given, provider)
    }

    /// Takes what these certificates stand for, and nothing else.
    pub fn only(given: Vec<CertificateDer<'static>>, provider: &CryptoProvider) -> Self {
        Self::made_of(Vec::new(), given, provider)
    }

    fn made_of(
        mut all: Vec<CertificateDer<'static>>,
        given: Vec<CertificateDer<'static>>,
        provider: &CryptoProvider,
    ) -> Self {
        let read = given.iter().filter_map(|der| Certificate::from_der(der).ok());
        let read = read.collect();
        all.extend(given);
        let listed = all.iter().map(|der| fingerprint(der)).collect();
        let mut anchors = RootCertStore::empty();
        anchors.add_parsable_certificates(all);
        Trust {
            any: false,
            anchors,
            listed,
            given: read,
            algorithms: provider.signature_verification_algorithms,
        }
    }

    fn check(
        &self,
        der: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        let shown = ParsedCertificate::try_from(der)?;
        if self.listed.contains(&fingerprint(der)) {
            check_itself(&read(der)?, now)?;
        } else if !self.is_issued_authority(der, now) {
            let (anchors, algorithms) = (&self.anchors, self.algorithms.all);
            verify_server_cert_signed_by_trust_anchor(&shown, anchors, intermediates, now, algorithms)
                .map_err(|error| plainer(error, der))?;
        }
        verify_server_name(&shown, server)
    }

    /// Whether it is good, may issue others, and is issued by one that was given.
    fn is_issued_authority(&self, der: &CertificateDer<'_>, now: UnixTime) -> bool {
        let Ok(shown) = read(der) else {
            return false;
        };
        let issuer = |issuer: &Certificate| {
            check_dates(issuer, now).is_ok()
                && may_issue_anything(issuer)
                && is_issued(&shown, issuer, &self.algorithms)
        };
        is_authority(&shown) && check_itself(&shown, now).is_ok() && self.given.iter().any(issuer)
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self.any {
            self.check(end_entity, intermediates, server_name, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.any {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => verify_tls12_signature(message, cert, dss, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.any {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => verify_tls13_signature(message, cert, dss, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Of an authority that shows itself as a server webpki tells only that. What is wrong with it is that nobody who is trusted
/// issued it: it would have been taken otherwise.
fn plainer(error: Error, der: &CertificateDer<'_>) -> Error {
    match error {
        Error::InvalidCertificate(CertificateError::Other(_))
            if read(der).is_ok_and(|shown| is_authority(&shown)) =>
        {
            Error::InvalidCertificate(CertificateError::UnknownIssuer)
        }
        error => error,
    }
}

fn fingerprint(der: &[u8]) -> [u8; 32] {
    Sha256::digest(der).into()
}

fn read(der: &[u8]) -> Result<Certificate, Error> {
    Certificate::from_der(der).map_err(|_| Error::InvalidCertificate(CertificateError::BadEncoding))
}

/// What can be said of the certificate of a server without asking who issued it.
fn check_itself(certificate: &Certificate, now: UnixTime) -> Result<(), Error> {
    check_dates(certificate, now)?;
    match certificate.tbs_certificate.get::<ExtendedKeyUsage>() {
        Ok(None) => Ok(()),
        Ok(Some((_, usage))) if usage.0.iter().any(|purpose| [SERVER, ANYTHING].contains(purpose)) => Ok(()),
        _ => Err(Error::InvalidCertificate(CertificateError::InvalidPurpose)),
    }
}

fn check_dates(certificate: &Certificate, time: UnixTime) -> Result<(), Error> {
    let validity = &certificate.tbs_certificate.validity;
    let not_before = UnixTime::since_unix_epoch(validity.not_before.to_unix_duration());
    let not_after = UnixTime::since_unix_epoch(validity.not_after.to_unix_duration());
    let problem = if time < not_before {
        CertificateError::NotValidYetContext { time, not_before }
    } else if time > not_after {
        CertificateError::ExpiredContext { time, not_after }
    } else {
        return Ok(());
    };
    Err(Error::InvalidCertificate(problem))
}

fn is_authority(certificate: &Certificate) -> bool {
    let constraints = certificate.tbs_certificate.get::<BasicConstraints>();
    matches!(constraints, Ok(Some((_, constraints))) if constraints.ca)
}

/// Whether it may issue certificates, for whatever names. Those that are for some names only are left to webpki.
fn may_issue_anything(certificate: &Certificate) -> bool {
    let inner = &certificate.tbs_certificate;
    let signs = match inner.get::<KeyUsage>() {
        Ok(None) => true,
        Ok(Some((_, usage))) => usage.key_cert_sign(),
        Err(_) => false,
    };
    is_authority(certificate) && signs && matches!(inner.get::<NameConstraints>(), Ok(None))
}

fn is_issued(certificate: &Certificate, issuer: &Certificate, known: &WebPkiSupportedAlgorithms) -> bool {
    let (of, by) = (&certificate.tbs_certificate, &issuer.tbs_certificate);
    let key = &by.subject_public_key_info;
    let (Ok(signed), Ok(signed_by), Ok(kind)) = (
        of.to_der(),
        certificate.signature_algorithm.to_der(),
        key.algorithm.to_der(),
    ) else {
        return false;
    };
    let (Some(signature), Some(key)) = (
        certificate.signature.as_bytes(),
        key.subject_public_key.as_bytes(),
    ) else {
        return false;
    };
    let verifies = known.all.iter().any(|algorithm| {
        // The library leaves out the first two bytes, which say that a sequence follows and how long it is.
        signed_by.get(2..) == Some(algorithm.signature_alg_id().as_ref())
            && kind.get(2..) == Some(algorithm.public_key_alg_id().as_ref())
            && algorithm.verify_signature(key, &signed, signature).is_ok()
    });
    of.issuer == by.subject && verifies
}
