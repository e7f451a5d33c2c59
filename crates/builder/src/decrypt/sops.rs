//! Decrypting with keys that are at hand, and with those of services.

use secrecy::SecretSlice;
use sops::{Encrypted, Format, Keys, Mac, RemoteKey};

use super::Decrypter;

/// Asks a key management service.
pub trait KeyServices {
    /// The data key, or the part of one, that the service has encrypted. A build waits for the answer.
    ///
    /// # Errors
    /// Says why the service does not decrypt it, without a secret.
    fn decrypt(&self, key: &RemoteKey) -> Result<SecretSlice<u8>, String>;
}

/// Decrypts with the keys of a Secret, and with services if there are some to ask.
pub struct Sops<'k> {
    keys: &'k Keys,
    services: Option<&'k dyn KeyServices>,
}

impl<'k> Sops<'k> {
    /// With these keys alone.
    pub fn new(keys: &'k Keys) -> Self {
        Sops { keys, services: None }
    }

    /// With these services as well.
    #[must_use]
    pub fn asking(mut self, services: &'k dyn KeyServices) -> Self {
        self.services = Some(services);
        self
    }

    fn ask(&self, key: &RemoteKey) -> Result<SecretSlice<u8>, String> {
        match self.services {
            Some(services) => services.decrypt(key),
            None => Err("key management services are not asked here".to_owned()),
        }
    }
}

impl Decrypter for Sops<'_> {
    fn decrypt(&self, content: &[u8], from: Format, to: Format) -> Result<Vec<u8>, String> {
        let plain = || {
            let file = Encrypted::read(content, from)?;
            let mut unlock = file.unlock(self.keys);
            while let Some(wanted) = unlock.wanted() {
                let answer = self.ask(wanted);
                unlock.answer(answer);
            }
            // Kustomize has added labels and the like, which the MAC knows nothing of.
            let key = unlock.finish()?;
            file.decrypt(&key, Mac::Ignored)?.write(to)
        };
        plain().map_err(|error: sops::Error| error.to_string())
    }
}
