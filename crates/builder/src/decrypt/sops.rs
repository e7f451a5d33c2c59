//! Decrypting with keys that are at hand, and with those of services.

use secrecy::SecretSlice;
use sops::{Encrypted, Format, Keys, Mac, RemoteKey};

use super::Decrypter;

/// The most requests to key management services for one file. Each recipient of a file is one request.
const MOST_REQUESTS: usize = 100;

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
        let shown = |error: sops::Error| error.to_string();
        let file = Encrypted::read(content, from).map_err(shown)?;
        let mut unlock = file.unlock(self.keys);
        let mut requests = 0;
        while let Some(wanted) = unlock.wanted() {
            requests += 1;
            if requests > MOST_REQUESTS {
                return Err(format!(
                    "none of the first {MOST_REQUESTS} recipients of key management services decrypts the file: remove \
                     recipients that are not needed"
                ));
            }
            let answer = self.ask(wanted);
            unlock.answer(answer);
        }
        // Kustomize has added labels and the like, which the MAC knows nothing of.
        let key = unlock.finish().map_err(shown)?;
        let plain = file.decrypt(&key, Mac::Ignored).map_err(shown)?;
        plain.write(to).map_err(shown)
    }
}
