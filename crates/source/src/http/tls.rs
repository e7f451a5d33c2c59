//! What TLS connections are checked against, and what they show of themselves.

use std::fmt;
use std::sync::Arc;

use reach::Trust;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use secrecy::{ExposeSecret, SecretString};
use x509_cert::der::{Decode, Encode};

use super::Error;

/// What TLS connections are checked against and show of themselves.
#[derive(Clone, Default)]
pub struct Tls {
    /// Authorities in PEM form that are trusted beside those of the system. The certificate of a server may be among them: then
    /// it is trusted itself.
    pub authorities: Option<Vec<u8>>,
    /// A client certificate, with its chain, in PEM form.
    pub certificate: Option<Vec<u8>>,
    /// The private key of the client certificate in PEM form.
    pub key: Option<SecretString>,
    /// Take any certificate of the server. Only for registries that were said to be insecure.
    pub accept_any: bool,
}

impl Tls {
    /// Looks whether a client can be made of this, without making one: who knows where the certificates come from can say so.
    ///
    /// # Errors
    /// Where certificates or key are not what they must be.
    pub fn check(&self) -> Result<(), Error> {
        self.given()?;
        self.identity(&provider()).map(drop)
    }

    /// How to shake hands.
    pub(super) fn config(&self) -> Result<ClientConfig, Error> {
        let provider = provider();
        let trust = match self.accept_any {
            true => Trust::any(&provider),
            false => Trust::system_and(self.given()?, &provider),
        };
        let identity = self.identity(&provider)?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the default versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust));
        let mut config = match identity {
            Some(identity) => config.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity))),
            None => config.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// The certificates that are trusted beside those of the system. Whatever else the file has is passed over, as long as it
    /// has one that can be read: so does Go, and bundles are often put together of many things.
    fn given(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let Some(pem) = &self.authorities else {
            return Ok(Vec::new());
        };
        let sections = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
        let given: Vec<_> = sections
            .filter(|der| x509_cert::Certificate::from_der(der).is_ok())
            .collect();
        match given.is_empty() {
            true => Err(Error::Authorities),
            false => Ok(given),
        }
    }

    fn identity(&self, provider: &CryptoProvider) -> Result<Option<CertifiedKey>, Error> {
        let (certificate, key) = match (&self.certificate, &self.key) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(Error::HalfIdentity("certificate")),
            (None, Some(_)) => return Err(Error::HalfIdentity("private key")),
            (Some(certificate), Some(key)) => (certificate, key.expose_secret().as_bytes()),
        };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<_, _>>()
            .map_err(|error| Error::Certificate(Some(error.into())))?;
        let first = chain.first().ok_or(Error::Certificate(None))?;
        // Read here and not by rustls, which refuses the certificates of version 1 that `openssl x509 -req` makes.
        let first = x509_cert::Certificate::from_der(first);
        let first = first.map_err(|error| Error::Certificate(Some(error.into())))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| Error::Key(error.into()))?;
        let key = provider.key_provider.load_private_key(key);
        let key = key.map_err(|error| Error::Key(error.into()))?;
        let public = first.tbs_certificate.subject_public_key_info.to_der();
        match (key.public_key(), public) {
            (Some(of_key), Ok(of_certificate)) if of_key.as_ref() != of_certificate => Err(Error::Mismatch),
            _ => Ok(Some(CertifiedKey::new(chain, key))),
        }
    }
}

/// Handed over explicitly: the process-wide default may be unset or another one.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("authorities", &self.authorities.is_some())
            .field("certificate", &self.certificate.is_some())
            .field("accept_any", &self.accept_any)
            .finish_non_exhaustive()
    }
}

/// What TLS says is wrong, where it is at the bottom of an error. What goes wrong on a stream is wrapped in `io::Error`, which hides
/// its source.
pub(crate) fn tls_failure<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found);
        }
        let inner = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| tls_failure(inner)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    fn authorities(pem: &str) -> Result<(), Error> {
        let tls = Tls {
            authorities: Some(pem.as_bytes().to_vec()),
            ..Tls::default()
        };
        tls.check()
    }

    fn identity(certificate: &str, key: &str) -> Result<(), Error> {
        let tls = Tls {
            certificate: Some(certificate.as_bytes().to_vec()),
            key: Some(key.into()),
            ..Tls::default()
        };
        tls.check()
    }

    const BROKEN: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    #[test]
    fn authorities_that_are_none_are_refused() {
        for text in [BROKEN, "no certificate", ""] {
            assert!(matches!(authorities(text), Err(Error::Authorities)), "{text}");
        }
    }

    #[test]
    fn one_good_authority_among_other_things_is_enough() {
        let (certificate, key) = made();
        let unended = "-----BEGIN CERTIFICATE-----\nAA";
        for others in [
            BROKEN,
            "no certificate\n",
            &key,
            "-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n",
        ] {
            authorities(&format!("{others}{certificate}{unended}")).unwrap();
        }
    }

    #[test]
    fn a_client_certificate_and_its_key_must_both_be_there_and_belong_together() {
        let ((certificate, key), (_, other)) = (made(), made());
        identity(&certificate, &key).unwrap();
        assert!(matches!(identity(&certificate, &other), Err(Error::Mismatch)));
        assert!(matches!(identity(&certificate, "no key"), Err(Error::Key(_))));
        assert!(matches!(
            identity("no certificate", &key),
            Err(Error::Certificate(None))
        ));
        assert!(matches!(identity(BROKEN, &key), Err(Error::Certificate(Some(_)))));
        let half = Tls {
            certificate: Some(certificate.into_bytes()),
            ..Tls::default()
        };
        assert!(matches!(half.check(), Err(Error::HalfIdentity("certificate"))));
    }
}
