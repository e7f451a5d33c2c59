//! Certificates in PKCS #12 files, which is how Azure gives them.

use aws_lc_rs::signature::{KeyPair, RsaKeyPair};
use p12_keystore::Pkcs12Archive;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// The most bytes that such a file has.
const LARGEST: usize = 1 << 20;
/// The most rounds that a password is hashed for. OpenSSL makes 2,048, the most careful programs a million.
const MOST_ROUNDS: u64 = 5_000_000;
const INTEGER: u8 = 0x02;
const OCTETS: u8 = 0x04;
const CONSTRUCTED: u8 = 0x20;

/// The private key, its certificate, and the others in the order of the file.
pub(super) fn read(file: &[u8], password: &str) -> Option<(RsaKeyPair, Vec<Vec<u8>>)> {
    if file.len() > LARGEST || !is_quick(file, 0) {
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

/// Whether the passwords of a file are hashed in bearable time: a file made to do harm asks for billions of rounds. Rounds stand
/// after the salt wherever they are: a number after bytes.
fn is_quick(der: &[u8], depth: usize) -> bool {
    let (mut rest, mut after_bytes) = (der, false);
    while let Some((tag, content, next)) = value(rest) {
        let is_number = tag == INTEGER && after_bytes;
        if is_number
            && content
                .iter()
                .fold(0, |number: u64, byte| number << 8 | u64::from(*byte))
                > MOST_ROUNDS
        {
            return false;
        }
        let has_more = tag & CONSTRUCTED != 0 || tag == OCTETS;
        if has_more && depth < 32 && !is_quick(content, depth + 1) {
            return false;
        }
        after_bytes = tag == OCTETS;
        rest = next;
    }
    true
}

/// The first value of these, its tag and what follows it. Nothing where this is no DER: then nobody else reads it either.
fn value(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*first) {
        short @ ..0x80 => (short, rest),
        long => {
            let (bytes, rest) = rest.split_at_checked((long & 0x7f).min(8))?;
            let length = bytes
                .iter()
                .fold(0, |length: usize, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
    };
    let (content, next) = rest.split_at_checked(length)?;
    Some((*tag, content, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_would_keep_us_hashing_for_hours_are_refused() {
        let rounds = |rounds: &[u8]| {
            let mut der = vec![OCTETS, 2, 1, 2, INTEGER, u8::try_from(rounds.len()).unwrap()];
            der.extend(rounds);
            let length = u8::try_from(der.len()).unwrap();
            [vec![0x30, length], der].concat()
        };
        assert!(is_quick(&rounds(&[0x08, 0x00]), 0));
        assert!(!is_quick(&rounds(&[0x7f, 0xff, 0xff, 0xff]), 0));
        assert!(
            is_quick(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0], 0),
            "it is no DER"
        );
    }

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
