//! Private keys for Git over SSH: from a file, or new ones.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, EcdsaCurve, PrivateKey, decode_secret_key};

use super::host;
use super::store::{self, Content};

#[derive(clap::Args)]
pub(in crate::commands::create) struct Keys {
    /// A file with a private key; without it a new one is made
    #[arg(long, value_name = "FILE")]
    private_key_file: Option<PathBuf>,

    /// What a new key is made by
    #[arg(long, value_name = "ALGORITHM", default_value = "ecdsa", value_parser = ["rsa", "ecdsa", "ed25519"])]
    ssh_key_algorithm: String,

    /// How long a new RSA key is
    #[arg(long, value_name = "BITS", default_value_t = 2048)]
    ssh_rsa_bits: usize,

    /// The curve of a new ECDSA key
    #[arg(long, value_name = "CURVE", default_value = "p384", value_parser = ["p256", "p384", "p521"])]
    ssh_ecdsa_curve: String,
}

impl Keys {
    /// The key, its public part and the key of the server, which is asked for it.
    pub(in crate::commands::create) async fn content(
        &self,
        url: &url::Url,
        password: Option<&str>,
    ) -> anyhow::Result<Content> {
        let (private, public) = self.pair(password)?;
        let known = host::key(url).await?;
        Ok(Content::default()
            .with("identity", Some(&private))
            .with("identity.pub", Some(&format!("{public}\n")))
            .with("known_hosts", Some(&known))
            .with("password", password))
    }

    fn pair(&self, password: Option<&str>) -> anyhow::Result<(String, String)> {
        let (text, key) = match store::file(self.private_key_file.as_ref(), "private key")? {
            Some(text) => {
                let key = decode_secret_key(&text, password).context("the private key cannot be used")?;
                (text, key)
            }
            None => {
                let key = self.new_key()?;
                (key.to_openssh(LineEnding::LF)?.to_string(), key)
            }
        };
        let mut public = key.public_key().clone();
        public.set_comment("");
        Ok((text, public.to_openssh()?))
    }

    fn new_key(&self) -> anyhow::Result<PrivateKey> {
        let mut random = russh::keys::key::safe_rng();
        let algorithm = match (self.ssh_key_algorithm.as_str(), self.ssh_ecdsa_curve.as_str()) {
            ("ed25519", _) => Algorithm::Ed25519,
            ("ecdsa", "p256") => Algorithm::Ecdsa {
                curve: EcdsaCurve::NistP256,
            },
            ("ecdsa", "p384") => Algorithm::Ecdsa {
                curve: EcdsaCurve::NistP384,
            },
            ("ecdsa", _) => Algorithm::Ecdsa {
                curve: EcdsaCurve::NistP521,
            },
            _ => {
                return rsa(self.ssh_rsa_bits);
            }
        };
        Ok(PrivateKey::random(&mut random, algorithm)?)
    }
}

fn rsa(bits: usize) -> anyhow::Result<PrivateKey> {
    let size = match bits {
        2048 => KeySize::Rsa2048,
        3072 => KeySize::Rsa3072,
        4096 => KeySize::Rsa4096,
        8192 => KeySize::Rsa8192,
        _ => bail!("an RSA key cannot have {bits} bits: --ssh-rsa-bits takes 2048, 3072, 4096 and 8192"),
    };
    let key = KeyPair::generate(size).context("no RSA key could be made")?;
    let bytes: Pkcs8V1Der<'_> = key.as_der().context("the RSA key cannot be written")?;
    let text = STANDARD.encode(bytes.as_ref());
    Ok(decode_secret_key(
        &format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"),
        None,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_keys_are_of_the_kind_that_was_asked_for() {
        for (algorithm, curve, begin) in [
            ("ed25519", "p384", "ssh-ed25519 "),
            ("ecdsa", "p384", "ecdsa-sha2-nistp384 "),
            ("ecdsa", "p521", "ecdsa-sha2-nistp521 "),
            ("rsa", "p384", "ssh-rsa "),
        ] {
            let keys = Keys {
                private_key_file: None,
                ssh_key_algorithm: algorithm.to_owned(),
                ssh_rsa_bits: 2048,
                ssh_ecdsa_curve: curve.to_owned(),
            };
            let (private, public) = keys.pair(None).unwrap();
            assert!(public.starts_with(begin), "{public}");
            let read = decode_secret_key(&private, None).unwrap();
            assert_eq!(read.public_key().to_openssh().unwrap(), public);
        }
        assert!(rsa(1024).is_err());
    }
}
