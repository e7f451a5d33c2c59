//! Clients that are kept, so that connections are: a client that is made anew for each poll shakes hands anew each time.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::Client;
use secrecy::ExposeSecret;

use super::{Error, Options};
use crate::trust::Fingerprint;

/// How many clients are kept. Objects that are reached in the same way share one, so that this is many.
const MOST: usize = 64;

/// Clients by what they were made of. Cheap to clone; clones share the clients. One per process is meant.
#[derive(Clone, Default)]
pub struct Clients(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    clients: HashMap<Fingerprint, (Client, u64)>,
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
        fingerprint: Fingerprint,
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
    /// Identifies a client by everything it is made of.
    pub(crate) fn fingerprint(&self, variant: &str) -> Fingerprint {
        let timeout = self.timeout.map(|timeout| timeout.as_nanos().to_le_bytes());
        Fingerprint::builder("client")
            .text(variant)
            .fingerprint(&self.trust())
            .optional(timeout.as_ref().map(<[u8; 16]>::as_slice))
            .optional(self.user_agent.as_deref().map(str::as_bytes))
            .build()
    }

    /// Identifies what decides which server answers and who it takes us for: authorities, client certificate, proxy.
    pub fn trust(&self) -> Fingerprint {
        let Options {
            tls,
            proxy,
            timeout: _,
            user_agent: _,
            direct,
            unrestricted,
            clients: _,
        } = self;
        let key = tls.key.as_ref().map(|key| key.expose_secret().as_bytes());
        let login = proxy.as_ref().and_then(|proxy| proxy.login.as_ref());
        Fingerprint::builder("trust")
            .optional(tls.authorities.as_deref())
            .optional(tls.certificate.as_deref())
            .optional(key)
            .flag(tls.accept_any)
            .flag(*direct)
            .flag(*unrestricted)
            .optional(proxy.as_ref().map(|proxy| proxy.address.as_bytes()))
            .optional(login.map(|login| login.user.as_bytes()))
            .optional(login.map(|login| login.password.expose_secret().as_bytes()))
            .build()
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
        let unrestricted = Options {
            unrestricted: true,
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
            unrestricted,
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
    fn how_long_one_waits_says_nothing_of_whom_one_trusts() {
        let plain = Options::default();
        let patient = Options {
            timeout: Some(Duration::from_secs(1)),
            user_agent: Some("a".into()),
            ..plain.clone()
        };
        assert_eq!(plain.trust(), patient.trust());
        let direct = Options {
            direct: true,
            ..plain.clone()
        };
        assert_ne!(plain.trust(), direct.trust());
    }

    #[test]
    fn clients_that_nobody_wants_make_room() {
        let clients = Clients::new();
        let make = || Options::default().client();
        for number in 0..=MOST {
            let print = |number: usize| Fingerprint::builder("test").text(&number.to_string()).build();
            clients.get(print(number), make).unwrap();
            // The first one stays wanted.
            clients
                .get(print(0), || panic!("the first client was thrown away"))
                .unwrap();
        }
        assert_eq!(format!("{clients:?}"), format!("Clients({MOST})"));
    }
}
