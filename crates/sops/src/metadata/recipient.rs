//! Whom a data key can be encrypted for.

use std::collections::BTreeMap;
use std::fmt;

/// Somebody who can decrypt a data key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// An age public key.
    Age(String),
    /// The fingerprint of a PGP key.
    Pgp(String),
    /// A key of AWS KMS.
    AwsKms(AwsKmsKey),
    /// A key of an Azure Key Vault.
    AzureKeyVault(AzureKey),
    /// A key of Google Cloud KMS.
    GcpKms(GcpKmsKey),
    /// A key of the transit engine of Vault or OpenBao.
    Vault(VaultKey),
    /// A key of Huawei Cloud, which Flux has no credentials for.
    HuaweiKms(String),
}

/// A key of AWS KMS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwsKmsKey {
    /// Its name; the region is part of it.
    pub arn: String,
    /// A role to take on first.
    pub role: Option<String>,
    /// What the ciphertext is bound to.
    pub context: BTreeMap<String, String>,
}

impl AwsKmsKey {
    /// The region of the key, if its name has one: `arn:aws:kms:REGION:ACCOUNT:key/ID`.
    pub fn region(&self) -> Option<&str> {
        let mut parts = self.arn.splitn(6, ':');
        let mut next = || parts.next();
        let (arn, partition, service) = (next()?, next()?, next()?);
        let (region, account, resource) = (next()?, next()?, next()?);
        let known = arn == "arn" && partition.starts_with("aws") && service == "kms";
        let key = resource
            .strip_prefix("key/")
            .or_else(|| resource.strip_prefix("alias/"));
        let number = !account.is_empty() && account.bytes().all(|byte| byte.is_ascii_digit());
        (known && number && !region.is_empty() && key.is_some_and(|name| !name.is_empty())).then_some(region)
    }
}

/// A key of an Azure Key Vault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AzureKey {
    /// Where the vault is.
    pub vault_url: String,
    /// The name of the key.
    pub name: String,
    /// The version of the key; empty is the newest.
    pub version: String,
}

/// A key of Google Cloud KMS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcpKmsKey {
    /// Its name, from `projects/` on.
    pub resource_id: String,
}

/// A key of the transit engine of Vault or OpenBao.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultKey {
    /// Where the server is.
    pub address: String,
    /// Where the engine is mounted.
    pub engine_path: String,
    /// The name of the key.
    pub key_name: String,
}

impl Recipient {
    /// What must be in the decryption Secret for this recipient.
    pub(crate) fn secret_entry(&self) -> &'static str {
        match self {
            Recipient::Age(_) => "an entry `*.agekey` with its identity",
            Recipient::Pgp(_) => "an entry `*.asc` with its secret key without a passphrase",
            Recipient::AwsKms(_) => "an entry `sops.aws-kms` with credentials that may use its key",
            Recipient::AzureKeyVault(_) => "an entry `sops.azure-kv` with credentials that may use its key",
            Recipient::GcpKms(_) => "an entry `sops.gcp-kms` with credentials that may use its key",
            Recipient::Vault(_) => "an entry `sops.vault-token` with a token that may use its key",
            Recipient::HuaweiKms(_) => "another recipient to the file, and its key",
        }
    }

    /// SOPS tries age first, then PGP, then the others in the order of the file.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Recipient::Age(_) => 0,
            Recipient::Pgp(_) => 1,
            _ => 2,
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recipient::Age(recipient) => write!(f, "age recipient {recipient}"),
            Recipient::Pgp(fingerprint) => write!(f, "PGP key {fingerprint}"),
            Recipient::AwsKms(key) => write!(f, "AWS KMS key {}", key.arn),
            Recipient::AzureKeyVault(key) => write!(
                f,
                "Azure Key Vault key {}/keys/{}/{}",
                key.vault_url.trim_end_matches('/'),
                key.name,
                key.version
            ),
            Recipient::GcpKms(key) => write!(f, "GCP KMS key {}", key.resource_id),
            Recipient::Vault(key) => write!(
                f,
                "Vault key {}/v1/{}/keys/{}",
                key.address.trim_end_matches('/'),
                key.engine_path,
                key.key_name
            ),
            Recipient::HuaweiKms(key) => write!(f, "Huawei Cloud KMS key {key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_of_an_aws_key_is_part_of_its_name() {
        for (arn, region) in [
            (
                "arn:aws:kms:us-west-2:107501996527:key/612d5f0p",
                Some("us-west-2"),
            ),
            ("arn:aws-cn:kms:cn-north-1:1:alias/flux", Some("cn-north-1")),
            ("arn:aws:s3:us-west-2:1:key/x", None),
            ("arn:aws:kms::1:key/x", None),
            ("arn:aws:kms:us-west-2:one:key/x", None),
            ("arn:aws:kms:us-west-2:1:key/", None),
            ("key/x", None),
        ] {
            let key = AwsKmsKey {
                arn: arn.to_owned(),
                ..AwsKmsKey::default()
            };
            assert_eq!(key.region(), region, "{arn}");
        }
    }
}
