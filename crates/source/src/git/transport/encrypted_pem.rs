//! Private keys in PEM that are encrypted by its headers (RFC 1421: `Proc-Type: 4,ENCRYPTED` and `DEK-Info`), as
//! `ssh-keygen -m PEM` and `openssl rsa -traditional` write them. The SSH library reads only those of RSA with AES-128.

use aes::{Aes128, Aes192, Aes256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use des::{Des, TdesEde3};
use secrecy::zeroize::Zeroizing;

/// So many bytes of the start vector are the salt of the key.
const SALT: usize = 8;

/// The first private key of a text, if headers say that it is encrypted.
pub(super) struct EncryptedPem<'a> {
    label: &'a str,
    /// Cipher and start vector.
    encryption: Option<&'a str>,
    body: Zeroizing<String>,
}

impl<'a> EncryptedPem<'a> {
    pub(super) fn find(text: &'a str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim_end);
        let label = lines.find_map(|line| {
            let label = line.strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
            label.ends_with("PRIVATE KEY").then_some(label)
        })?;
        let (mut is_encrypted, mut encryption) = (false, None);
        let mut body = Zeroizing::new(String::with_capacity(text.len()));
        for line in lines.take_while(|line| !line.starts_with("-----END ")) {
            match line.split_once(':') {
                Some(("Proc-Type", value)) => is_encrypted = value.contains("ENCRYPTED"),
                Some(("DEK-Info", value)) => encryption = Some(value.trim()),
                Some(_) => {}
                None => body.push_str(line.trim()),
            }
        }
        is_encrypted.then_some(EncryptedPem {
            label,
            encryption,
            body,
        })
    }

    /// The same key without encryption. Not every wrong passphrase is noticed here: then what comes out is no key.
    pub(super) fn decrypt(&self, passphrase: &str) -> Option<Zeroizing<String>> {
        let (cipher, start) = self.encryption?.split_once(',')?;
        let start = bytes_of_hex(start)?;
        let mut data = Zeroizing::new(STANDARD.decode(self.body.as_bytes()).ok()?);
        let plain = match cipher {
            "DES-CBC" => plain::<Decryptor<Des>>(passphrase, &start, &mut data),
            "DES-EDE3-CBC" => plain::<Decryptor<TdesEde3>>(passphrase, &start, &mut data),
            "AES-128-CBC" => plain::<Decryptor<Aes128>>(passphrase, &start, &mut data),
            "AES-192-CBC" => plain::<Decryptor<Aes192>>(passphrase, &start, &mut data),
            "AES-256-CBC" => plain::<Decryptor<Aes256>>(passphrase, &start, &mut data),
            _ => None,
        }?;
        let (label, body) = (self.label, Zeroizing::new(STANDARD.encode(plain)));
        Some(Zeroizing::new(format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            body.as_str()
        )))
    }
}

/// The data, decrypted in place, without its padding, which must be in order.
fn plain<'d, D: BlockModeDecrypt + KeyIvInit>(
    passphrase: &str,
    start: &[u8],
    data: &'d mut [u8],
) -> Option<&'d [u8]> {
    let key = derived(passphrase, start.get(..SALT)?, D::key_size());
    let cipher = D::new_from_slices(&key, start).ok()?;
    cipher.decrypt_padded::<Pkcs7>(data).ok()
}

/// The key that OpenSSL makes of a passphrase (`EVP_BytesToKey` with MD5 and one round): each digest is that of the one
/// before, the passphrase and the salt.
fn derived(passphrase: &str, salt: &[u8], size: usize) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(Vec::with_capacity(size + 16));
    let mut last = Zeroizing::new([0; 16]);
    while key.len() < size {
        let mut digest = md5::Context::new();
        if !key.is_empty() {
            digest.consume(*last);
        }
        digest.consume(passphrase);
        digest.consume(salt);
        *last = digest.finalize().0;
        key.extend_from_slice(&*last);
    }
    key.truncate(size);
    key
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs
        .iter()
        .map(|[high, low]| u8::try_from(digit(high)? * 16 + digit(low)?).ok());
    rest.is_empty().then(|| bytes.collect())?
}

#[cfg(test)]
mod tests {
    use russh::keys::decode_secret_key;
    use russh::keys::ssh_key::HashAlg;

    use super::*;

    const RSA: &str = "SHA256:mmENGOSAvYNfWEVMHoXpaYXwTOLEq16R5JJGMZSf5OQ";
    const EC: &str = "SHA256:t/dJ8q2RupldawAcfxL8gyMh0N4RAeRdylAz4OuSY+U";

    macro_rules! data {
        ($name:literal) => {
            include_str!(concat!("../../../tests/data/git/locked-pem/", $name))
        };
    }

    /// The keys `p…` were made with `ssh-keygen -t ecdsa -b … -m PEM -N geheim`, `rsa-…` with `openssl rsa -traditional`
    /// and `ec-…` with `openssl ec`; the fingerprints are what `ssh-keygen -l` says.
    #[test]
    fn keys_of_ssh_keygen_and_openssl_are_decrypted() {
        for (locked, fingerprint) in [
            (
                data!("p256-aes128"),
                "SHA256:zE04dF+i7euFOu1IWHHLbYoLC9ceY9/oIIrIZMsE/KI",
            ),
            (
                data!("p384-aes128"),
                "SHA256:/Wtldtq0at4VtAPTbAEFhxYJYdamIaz4B/Sw2valubo",
            ),
            (
                data!("p521-aes128"),
                "SHA256:T2AI87/XrrcleSn7lVmfWDPtK2M550Z4l16BTfHj6gw",
            ),
            (data!("rsa-aes128"), RSA),
            (data!("rsa-aes192"), RSA),
            (data!("rsa-aes256"), RSA),
            (data!("rsa-des"), RSA),
            (data!("rsa-des3"), RSA),
            (data!("ec-aes256"), EC),
            (data!("ec-des3"), EC),
        ] {
            for text in [locked.to_owned(), locked.replace('\n', "\r\n")] {
                let plain = EncryptedPem::find(&text).unwrap().decrypt("geheim").unwrap();
                let key = decode_secret_key(&plain, None).unwrap();
                assert_eq!(key.fingerprint(HashAlg::Sha256).to_string(), fingerprint);
            }
        }
    }

    #[test]
    fn what_is_not_encrypted_by_headers_is_none_of_these() {
        for text in [
            "",
            "geheim",
            include_str!("../../../tests/data/git/short-ecdsa-pem"),
            include_str!("../../../tests/data/git/short-ecdsa-locked"),
        ] {
            assert!(EncryptedPem::find(text).is_none(), "{text}");
        }
    }

    #[test]
    fn broken_headers_and_data_are_refused() {
        let good = data!("p256-aes128");
        let (_, start) = good.split_once("AES-128-CBC,").unwrap();
        let start = &start[..32];
        for broken in [
            good.replace("DEK-Info", "Other"),
            good.replace("AES-128-CBC", "AES-128-GCM"),
            good.replace("AES-128-CBC,", "AES-128-CBC"),
            good.replace("AES-128-CBC", "DES-CBC"),
            good.replace(start, &start[..30]),
            good.replace(start, &start[..31]),
            good.replace(start, ""),
            good.replace(start, &"é".repeat(16)),
            good.replace("\n-----END", "!\n-----END"),
        ] {
            assert_ne!(broken, good);
            let found = EncryptedPem::find(&broken).unwrap();
            assert!(found.decrypt("geheim").is_none(), "{broken}");
        }
        let empty = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\
                     DEK-Info: AES-128-CBC,00000000000000000000000000000000";
        assert!(EncryptedPem::find(empty).unwrap().decrypt("geheim").is_none());
        // The passphrases are such that the padding shows that they are wrong, as it does for all but one of 256.
        assert!(EncryptedPem::find(good).unwrap().decrypt("wrong").is_none());
    }
}
