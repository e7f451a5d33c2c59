//! Trust in the certificate of an API server, as client-go has it: see [`Trust`]. The file of a service account is read again
//! from time to time, since authorities are replaced while programs run.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::Config;
use parking_lot::Mutex;
use reach::Trust;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

/// How long what was read of the file counts.
const FRESH: Duration = Duration::from_secs(60);

/// Who checks certificates by the authorities of a configuration; nobody of ours where it has none, or wants no check.
pub(super) fn verifier(config: &Config) -> Option<Arc<dyn ServerCertVerifier>> {
    let given = config
        .root_cert
        .as_ref()
        .filter(|_| !config.accept_invalid_certs)?;
    let given = given
        .iter()
        .map(|der| CertificateDer::from(der.clone()))
        .collect();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let trust = Arc::new(Trust::only(given, &provider));
    Some(match &config.root_cert_file {
        None => trust,
        Some(path) => Arc::new(Reread {
            path: path.clone(),
            provider,
            last: Mutex::new((trust, Instant::now())),
        }),
    })
}

/// Trust in whom a file names.
#[derive(Debug)]
struct Reread {
    path: PathBuf,
    provider: Arc<CryptoProvider>,
    last: Mutex<(Arc<Trust>, Instant)>,
}

impl Reread {
    /// By what the file says now. One that cannot be read leaves everything as it was.
    fn trust(&self) -> Arc<Trust> {
        let mut last = self.last.lock();
        if last.1.elapsed() > FRESH {
            last.1 = Instant::now();
            let pem = fs::read(&self.path).unwrap_or_default();
            let given: Vec<_> = CertificateDer::pem_slice_iter(&pem)
                .filter_map(Result::ok)
                .collect();
            if !given.is_empty() {
                last.0 = Arc::new(Trust::only(given, &self.provider));
            }
        }
        Arc::clone(&last.0)
    }
}

impl ServerCertVerifier for Reread {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let trust = self.trust();
        trust.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trust().verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trust().verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trust().supported_verify_schemes()
    }
}
