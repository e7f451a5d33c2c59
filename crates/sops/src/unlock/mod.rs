//! How the data key of a file is had.
//!
//! Age and PGP keys are tried first, as SOPS does. What is left are recipients whose key is in a service. Asking it is
//! I/O, and so is done by the caller: this is a conversation in which [`Unlock::wanted`] is the question and
//! [`Unlock::answer`] takes the answer. It is plain data on both sides, which keeps the crate pure and lets a caller use
//! whatever clients, timeouts and credentials it has.

mod age;
mod pgp;

use std::fmt;

use secrecy::{ExposeSecret, SecretSlice};

use crate::error::{Attempt, Error};
use crate::keys::Keys;
use crate::metadata::{AwsKmsKey, AzureKey, GcpKmsKey, Metadata, Recipient, VaultKey};
use crate::shamir;

/// The key that all values of a file are encrypted with.
#[derive(Clone)]
pub struct DataKey(SecretSlice<u8>);

impl DataKey {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.expose_secret()
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey(..)")
    }
}

/// A data key that only a service can decrypt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteKey {
    /// The key of the service.
    pub key: Remote,
    /// What to decrypt, as the file has it: base64 for AWS and GCP, base64 without padding for URLs for Azure, and
    /// `vault:v1:…` for Vault.
    pub ciphertext: String,
}

/// A key of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// AWS KMS.
    AwsKms(AwsKmsKey),
    /// Azure Key Vault, with the algorithm RSA-OAEP-256.
    AzureKeyVault(AzureKey),
    /// Google Cloud KMS.
    GcpKms(GcpKmsKey),
    /// The transit engine of Vault or OpenBao.
    Vault(VaultKey),
}

/// The search for the data key of a file.
pub struct Unlock<'f> {
    metadata: &'f Metadata,
    groups: Vec<Group>,
    attempts: Vec<Attempt>,
    /// The group and the recipient in it that is asked for.
    current: Option<(usize, usize, RemoteKey)>,
}

#[derive(Default)]
struct Group {
    share: Option<SecretSlice<u8>>,
    /// The next recipient to look at.
    next: usize,
}

impl fmt::Debug for Unlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlock")
            .field("attempts", &self.attempts)
            .finish_non_exhaustive()
    }
}

impl<'f> Unlock<'f> {
    pub(crate) fn new(metadata: &'f Metadata, keys: &Keys) -> Unlock<'f> {
        let mut unlock = Unlock {
            metadata,
            groups: metadata.groups.iter().map(|_| Group::default()).collect(),
            attempts: Vec::new(),
            current: None,
        };
        for group in 0..metadata.groups.len() {
            unlock.try_local(group, keys);
        }
        unlock.advance();
        unlock
    }

    /// The key to ask a service for; `None` once nothing more is needed or can be asked for.
    pub fn wanted(&self) -> Option<&RemoteKey> {
        self.current.as_ref().map(|(_, _, key)| key)
    }

    /// Takes what the service said to the key that is wanted: the decrypted bytes, or why there are none.
    pub fn answer(&mut self, answer: Result<SecretSlice<u8>, String>) {
        let Some((group, recipient, _)) = self.current.take() else {
            return;
        };
        match answer {
            Ok(share) => self.groups[group].share = Some(share),
            Err(reason) => self.attempts.push(Attempt {
                recipient: self.metadata.groups[group][recipient].recipient.clone(),
                reason,
            }),
        }
        self.advance();
    }

    /// The data key, or whom the file is for and why that did not help.
    pub fn finish(self) -> Result<DataKey, Error> {
        let shares: Vec<&SecretSlice<u8>> = self
            .groups
            .iter()
            .filter_map(|group| group.share.as_ref())
            .collect();
        let needed = self.needed();
        if shares.len() < needed {
            return Err(Error::DataKey {
                needed,
                groups: self.groups.len(),
                attempts: self.attempts,
            });
        }
        if self.groups.len() == 1 {
            return Ok(DataKey(shares[0].clone()));
        }
        let shares: Vec<Vec<u8>> = shares
            .iter()
            .map(|share| share.expose_secret().to_vec())
            .collect();
        let key = shamir::combine(&shares).map_err(Error::Shares)?;
        Ok(DataKey(key.into()))
    }

    /// How many groups must give their share. A file that does not say needs all.
    fn needed(&self) -> usize {
        match (self.groups.len(), self.metadata.threshold) {
            (1, _) => 1,
            (groups, 0) => groups,
            (groups, threshold) => threshold.clamp(2, groups.max(2)),
        }
    }

    /// Tries the age and PGP keys of a group, which come first.
    fn try_local(&mut self, group: usize, keys: &Keys) {
        for sealed in &self.metadata.groups[group] {
            let opened = match &sealed.recipient {
                Recipient::Age(_) => age::open(&sealed.ciphertext, keys),
                Recipient::Pgp(_) => pgp::open(&sealed.ciphertext, keys),
                _ => return,
            };
            self.groups[group].next += 1;
            match opened {
                Ok(share) => {
                    self.groups[group].share = Some(share);
                    return;
                }
                Err(reason) => self.attempts.push(Attempt {
                    recipient: sealed.recipient.clone(),
                    reason,
                }),
            }
        }
    }

    /// Goes to the next recipient that a service can be asked for.
    fn advance(&mut self) {
        let have = self.groups.iter().filter(|group| group.share.is_some()).count();
        if have >= self.needed() {
            return;
        }
        for (index, group) in self.groups.iter_mut().enumerate() {
            let recipients = &self.metadata.groups[index];
            while group.share.is_none() && group.next < recipients.len() {
                let sealed = &recipients[group.next];
                group.next += 1;
                let key = match &sealed.recipient {
                    Recipient::AwsKms(key) => Remote::AwsKms(key.clone()),
                    Recipient::AzureKeyVault(key) => Remote::AzureKeyVault(key.clone()),
                    Recipient::GcpKms(key) => Remote::GcpKms(key.clone()),
                    Recipient::Vault(key) => Remote::Vault(key.clone()),
                    other => {
                        self.attempts.push(Attempt {
                            recipient: other.clone(),
                            reason: "this kind of key is not supported".to_owned(),
                        });
                        continue;
                    }
                };
                let ciphertext = sealed.ciphertext.clone();
                self.current = Some((index, group.next - 1, RemoteKey { key, ciphertext }));
                return;
            }
        }
    }
}
