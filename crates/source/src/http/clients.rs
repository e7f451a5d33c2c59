//! Clients that are kept, so that connections are: a client that is made anew for each poll shakes hands anew each time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Client;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};

use super::{Error, Options};

/// How many clients are kept. Objects that are reached in the same way share one, so that this is many.
const MOST: usize = 64;

/// Clients by what they were made of. Cheap to clone; clones share the clients. One per process is meant.
#[derive(Clone, Default)]
pub struct Clients(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    clients: HashMap<[u8; 32], (Client, u64)>,
    /// How often was asked: the client with the smallest number was not wanted for the longest time.
    asked: u64,
}

impl Clients {
    /// None yet.
    pub fn new() -> Self {
        Clients::default()
    }

    /// The client of this fingerprint; made, where there is none.
    pub(super) fn get(
        &self,
        fingerprint: [u8; 32],
        make: impl FnOnce() -> Result<Client, Error>,
    ) -> Result<Client, Error> {
        let mut kept = self.0.lock();
        kept.asked += 1;
        let asked = kept.asked;
        if let Some((client, last)) = kept.clients.get_mut(&fingerprint) {
            *last = asked;
            return Ok(client.clone());
        }
        let client = make()?;
        if kept.clients.len() >= MOST {
            let oldest = kept.clients.iter().min_by_key(|(_, (_, last))| *last);
            if let Some(oldest) = oldest.map(|(fingerprint, _)| *fingerprint) {
                kept.clients.remove(&oldest);
            }
        }
        kept.clients.insert(fingerprint, (client.clone(), asked));
        Ok(client)
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clients({})", self.0.lock().clients.len())
    }
}

impl Options {
    /// Tells apart what clients are made of, without keeping it.
    pub(crate) fn fingerprint(&self, variant: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        // With its length before it, no part can be taken for the end of another.
        let mut add = |part: Option<&[u8]>| match part {
            None => hash.update([0]),
            Some(part) => {
                hash.update([1]);
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        };
        let Options {
            tls,
            proxy,
            timeout,
            user_agent,
            direct,
            clients: _,
        } = self;
        add(Some(variant.as_bytes()));
        add(tls.authorities.as_deref());
        add(tls.certificate.as_deref());
        add(tls.key.as_ref().map(|key| key.expose_secret().as_bytes()));
        add(Some(&[u8::from(tls.accept_any), u8::from(*direct)]));
        add(proxy.as_ref().map(|proxy| proxy.address.as_bytes()));
        let login = proxy.as_ref().and_then(|proxy| proxy.login.as_ref());
        add(login.map(|login| login.user.as_bytes()));
        add(login.map(|login| login.password.expose_secret().as_bytes()));
        let timeout = timeout.map(|timeout| timeout.as_nanos().to_le_bytes());
        add(timeout.as_ref().map(<[u8; 16]>::as_slice));
        add(user_agent.as_deref().map(str::as_bytes));
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Login, Proxy};
    use super::*;

    #[test]
    fn no_two_ways_to_a_server_share_a_client() {
        let plain = Options::default();
        let mut authorities = plain.clone();
        authorities.tls.authorities = Some(b"a".to_vec());
        let mut certificate = plain.clone();
        certificate.tls.certificate = Some(b"a".to_vec());
        let mut key = certificate.clone();
        key.tls.key = Some("k".into());
        let mut other_key = certificate.clone();
        other_key.tls.key = Some("l".into());
        let mut any = plain.clone();
        any.tls.accept_any = true;
        let direct = Options {
            direct: true,
            ..plain.clone()
        };
        let proxied = |login: Option<(&str, &str)>| Options {
            proxy: Some(Proxy {
                address: "http://p".into(),
                login: login.map(|(user, password)| Login {
                    user: user.into(),
                    password: password.into(),
                }),
            }),
            ..Options::default()
        };
        let timed = Options {
            timeout: Some(Duration::from_secs(1)),
            ..plain.clone()
        };
        let named = Options {
            user_agent: Some("a".into()),
            ..plain.clone()
        };
        let all = [
            plain,
            authorities,
            certificate,
            key,
            other_key,
            any,
            direct,
            proxied(None),
            proxied(Some(("a", "bc"))),
            proxied(Some(("ab", "c"))),
            timed,
            named,
        ];
        let mut prints: Vec<_> = all.iter().map(|options| options.fingerprint("")).collect();
        prints.push(all[0].fingerprint("raw"));
        let count = prints.len();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), count);
    }

    #[test]
    fn clients_that_nobody_wants_make_room() {
        let clients = Clients::new();
        let make = || Options::default().client();
        for number in 0..=MOST {
            let mut print = [0; 32];
            print[0] = u8::try_from(number).unwrap();
            clients.get(print, make).unwrap();
            // The first one stays wanted.
            clients
                .get([0; 32], || panic!("the first client was thrown away"))
                .unwrap();
        }
        assert_eq!(format!("{clients:?}"), format!("Clients({MOST})"));
    }
}
