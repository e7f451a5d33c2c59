//! A server that shows a certificate whose key it does not have.

use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};
use testkit::tls::{Identity, LOOPBACK};

use super::get;

/// Answers one connection, and gives its address.
fn serve(shown: &str, key: &str, version: &'static SupportedProtocolVersion) -> (String, JoinHandle<()>) {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let chain = CertificateDer::pem_slice_iter(shown.as_bytes()).map(Result::unwrap);
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let key = provider.key_provider.load_private_key(key).unwrap();
    let identity = CertifiedKey::new(chain.collect(), key);
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut tls = rustls::Stream::new(&mut connection, &mut stream);
        let mut request = [0; 1024];
        // Where the client is not deceived, it goes away here.
        if tls.read(&mut request).is_ok_and(|read| read > 0) {
            use std::io::Write;
            let _ = tls.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (url, thread)
}

#[tokio::test]
async fn a_listed_certificate_is_of_no_use_without_its_key() {
    let (real, thief) = (
        Identity::self_signed(&LOOPBACK, |_| ()),
        Identity::self_signed(&LOOPBACK, |_| ()),
    );
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let (url, thread) = serve(&real.certificate, &real.key, version);
        get(&url, &real.certificate).await.unwrap();
        thread.join().unwrap();
        let (url, thread) = serve(&real.certificate, &thief.key, version);
        let told = get(&url, &real.certificate).await.unwrap_err();
        assert!(told.contains("BadSignature"), "{told}");
        thread.join().unwrap();
    }
}
