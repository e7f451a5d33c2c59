//! Certificates in PKCS #12 files, which is how Azure gives them.

use aws_lc_rs::signature::{KeyPair, RsaKeyPair};
use p12_keystore::Pkcs12Archive;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::rounds;

/// The most bytes that such a file has.
const LARGEST: usize = 1 << 20;
/// The most rounds that a password is hashed for, all together. OpenSSL makes 2,048 for each of three, the most careful programs a million.
const MOST_ROUNDS: u64 = 3_000_000;

/// The private key, its certificate, and the others in the order of the file.
pub(super) fn read(file: &[u8], password: &str) -> Option<(RsaKeyPair, Vec<Vec<u8>>)> {
    if file.len() > LARGEST || rounds::of(file) > MOST_ROUNDS {
        return None;
    }
    let found = Pkcs12Archive::from_pkcs12(file, password).ok()?;
    let key = RsaKeyPair::from_pkcs8(found.keys.first()?.key.as_der()).ok()?;
    let mut chain: Vec<Vec<u8>> = found.certs.iter().map(|one| one.cert.as_der().to_vec()).collect();
    let own = chain.iter().position(|der| is_of(der, &key))?;
    let own = chain.remove(own);
    chain.insert(0, own);
    Some((key, chain))
}

fn is_of(der: &[u8], key: &RsaKeyPair) -> bool {
    let certificate = Certificate::from_der(der);
    let public = certificate
        .ok()
        .map(|one| one.tbs_certificate.subject_public_key_info);
    let public = public
        .as_ref()
        .and_then(|public| public.subject_public_key.as_bytes());
    public == Some(key.public_key().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `openssl pkcs12 -export` of one key and certificate, with the password `geheim`: as OpenSSL 3 does it, and with
    /// `-legacy`, which is what Flux reads.
    #[test]
    fn old_and_new_files_are_read_with_their_password() {
        for file in [
            include_bytes!("../../../tests/data/azure/new.p12").as_slice(),
            include_bytes!("../../../tests/data/azure/legacy.p12"),
        ] {
            let (key, chain) = read(file, "geheim").unwrap();
            assert!(is_of(&chain[0], &key));
            assert!(read(file, "falsch").is_none());
            assert!(read(&file[..file.len() - 1], "geheim").is_none());
        }
    }
}
