//! Certificates for tests: an authority of one's own that issues server and client certificates.
//!
//! A server of this crate takes an [`Authority`] and issues itself a certificate for `localhost`, `127.0.0.1` and `::1`;
//! the client under test is given [`Authority::pem`] to trust.

use std::fmt;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// The names under which a server on this machine is reached.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate authority made for one test. Clones are the same authority.
#[derive(Clone)]
pub struct Authority {
    issuer: Arc<CertifiedIssuer<'static, KeyPair>>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

/// A certificate with its private key, both as PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate, as `tls.crt` of a secret holds it.
    pub certificate: String,
    /// The private key (PKCS #8), as `tls.key` of a secret holds it.
    pub key: String,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}

/// Whether a certificate is still good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// For as long as anyone runs these tests.
    Current,
    /// It ended in 2001.
    Expired,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new("testkit authority")
    }
}

impl Authority {
    /// A new authority with a name of its own (so that an error that names the issuer tells two of them apart).
    pub fn new(name: &str) -> Self {
        let issuer = CertifiedIssuer::self_signed(authority(name), new_key())
            .expect("a fresh key signs a certificate without special names");
        Self {
            issuer: Arc::new(issuer),
        }
    }

    /// The authority's own certificate: what a client must trust (`ca.crt` of a secret).
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A server certificate for host names and addresses.
    pub fn server(&self, names: &[&str], validity: Validity) -> Identity {
        let name = names.first().copied().unwrap_or("server");
        self.issue(name, names, ExtendedKeyUsagePurpose::ServerAuth, validity)
    }

    /// A client certificate for a user.
    pub fn client(&self, user: &str) -> Identity {
        self.issue(user, &[], ExtendedKeyUsagePurpose::ClientAuth, Validity::Current)
    }

    /// An authority that this one vouches for.
    pub fn intermediate(&self, name: &str) -> Self {
        let issuer = CertifiedIssuer::signed_by(authority(name), new_key(), &self.issuer)
            .expect("the authority's key can sign");
        Self {
            issuer: Arc::new(issuer),
        }
    }

    /// A certificate for these names of which more is said: one that ends too early, or may do too much.
    pub fn issue_with(&self, names: &[&str], more: impl FnOnce(&mut CertificateParams)) -> Identity {
        let mut params = named(names);
        params.use_authority_key_identifier_extension = true;
        more(&mut params);
        let key = new_key();
        let certificate = params
            .signed_by(&key, &self.issuer)
            .expect("the authority's key can sign");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    fn issue(
        &self,
        name: &str,
        names: &[&str],
        usage: ExtendedKeyUsagePurpose,
        validity: Validity,
    ) -> Identity {
        self.issue_with(names, |params| {
            params.distinguished_name = common_name(name);
            params.extended_key_usages = vec![usage];
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            if validity == Validity::Expired {
                params.not_before = date_time_ymd(2000, 1, 1);
                params.not_after = date_time_ymd(2001, 1, 1);
            }
        })
    }

    /// What a rustls client needs to trust this authority and, if one is given, to show a certificate of its own.
    pub fn client_config(&self, identity: Option<&Identity>) -> ClientConfig {
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions")
            .with_root_certificates(self.roots());
        match identity {
            None => config.with_no_client_auth(),
            Some(identity) => config
                .with_client_auth_cert(identity.chain(), identity.private_key())
                .expect("the certificate was issued for this key"),
        }
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots
            .add(self.issuer.der().clone())
            .expect("the authority's certificate is well-formed");
        roots
    }
}

impl Identity {
    /// A certificate for these names that nobody else vouches for, and of which more is said. As it is when nothing more is said,
    /// it may issue others too: so `openssl req -x509` makes them.
    pub fn self_signed(names: &[&str], more: impl FnOnce(&mut CertificateParams)) -> Self {
        let mut params = named(names);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        more(&mut params);
        let key = new_key();
        let certificate = params.self_signed(&key).expect("a fresh key signs for itself");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    /// What a rustls server needs to show this certificate and, if an authority is given, to insist on a client
    /// certificate of it. Offers HTTP/2 and HTTP/1.1.
    pub fn server_config(&self, clients: Option<&Authority>) -> ServerConfig {
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions");
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(authority) => {
                let roots = Arc::new(authority.roots());
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
                config.with_client_cert_verifier(verifier.build().expect("the store has one root"))
            }
        };
        let mut config = config
            .with_single_cert(self.chain(), self.private_key())
            .expect("the identity's certificate and key belong together");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        config
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.certificate.as_bytes())
            .collect::<Result<_, _>>()
            .expect("the identity's certificate is PEM")
    }

    fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).expect("the identity's key is PEM")
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name(name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn named(names: &[&str]) -> CertificateParams {
    let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(texts).expect("the test gave DNS names or IP addresses");
    params.distinguished_name = common_name(names.first().copied().unwrap_or("nobody"));
    params
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("the system gives randomness")
}

fn common_name(name: &str) -> DistinguishedName {
    let mut full = DistinguishedName::new();
    full.push(DnType::CommonName, name);
    full
}

/// Handed over explicitly: the process-wide default may be unset or another one.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}
