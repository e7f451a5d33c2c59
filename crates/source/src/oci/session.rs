//! What is learned about registries and kept for the next request.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use secrecy::SecretString;

use super::challenge::Challenge;
use crate::trust::{Fingerprint, TrustScope};

/// How many tokens are kept. Past this, expired ones go first, then the least recently used one.
const MAX_TOKENS: usize = 1024;
/// How many registries are remembered, by each way of trusting them.
const MAX_REGISTRIES: usize = 1024;

/// What is known of registries: how they are reached, what they ask for, and the tokens they gave. Cheap to clone; clones
/// share what they know. One per process is meant, so that many objects of one registry need one token.
#[derive(Clone, Default)]
pub struct Session(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    registries: HashMap<Way, (Registry, u64)>,
    tokens: HashMap<TokenKey, (Slot, u64)>,
    /// Counts uses: the smallest number is the least recently used one.
    used: u64,
}

/// How somebody reaches a registry: its name, and the fingerprint of the trust settings. What one has learnt who trusts anyone
/// says nothing to another who does not.
pub(super) type Way = (String, Fingerprint);

/// A place for a token.
pub(super) type Slot = Arc<TokenSlot>;

/// A token, and the turn to fetch one. The token can be read while somebody fetches the next one.
#[derive(Default)]
pub(super) struct TokenSlot {
    pub(super) token: Mutex<Option<Token>>,
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl TokenSlot {
    /// The token, as long as it is good.
    pub(super) fn good(&self, now: Instant) -> Option<SecretString> {
        let token = self.token.lock();
        let good = token.as_ref().filter(|token| token.good_until > now);
        good.map(|token| token.text.clone())
    }
}

/// What is known of one registry.
#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    pub(super) scheme: Option<&'static str>,
    pub(super) challenge: Option<Challenge>,
}

/// What a token is good for, and who may use it: a token server that one client trusts may be an impostor to another.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct TokenKey {
    pub(super) registry: String,
    pub(super) scope: String,
    pub(super) trust: TrustScope,
}

/// A token of a registry.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) text: SecretString,
    pub(super) good_until: Instant,
}

impl Session {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Session::default()
    }

    pub(super) fn registry(&self, way: &Way) -> Registry {
        let mut known = self.0.lock();
        let used = known.next_use();
        match known.registries.get_mut(way) {
            Some((registry, last)) => {
                *last = used;
                registry.clone()
            }
            None => Registry::default(),
        }
    }

    pub(super) fn learn_scheme(&self, way: Way, scheme: &'static str) {
        self.0.lock().learn(way).scheme = Some(scheme);
    }

    /// Forgets how a registry is reached, and what it asks for: it was not, that way. What is shown without being asked for is
    /// shown to nobody else.
    pub(super) fn forget(&self, way: &Way) {
        self.0.lock().registries.remove(way);
    }

    /// Forgets what a registry asks for, and says what that was.
    pub(super) fn forget_challenge(&self, way: &Way) -> Option<Challenge> {
        let mut known = self.0.lock();
        let (registry, _) = known.registries.get_mut(way)?;
        registry.challenge.take()
    }

    pub(super) fn learn_challenge(&self, way: Way, challenge: Challenge) {
        self.0.lock().learn(way).challenge = Some(challenge);
    }

    /// The place of a token, empty where there is none yet.
    pub(super) fn slot(&self, key: TokenKey, now: Instant) -> Slot {
        let mut known = self.0.lock();
        let used = known.next_use();
        if known.tokens.len() >= MAX_TOKENS && !known.tokens.contains_key(&key) {
            // A slot that somebody holds is being filled right now.
            known
                .tokens
                .retain(|_, (slot, _)| Arc::strong_count(slot) > 1 || slot.good(now).is_some());
            evict(&mut known.tokens, MAX_TOKENS);
        }
        let (slot, last) = known.tokens.entry(key).or_default();
        *last = used;
        slot.clone()
    }
}

impl Known {
    fn next_use(&mut self) -> u64 {
        self.used += 1;
        self.used
    }

    /// What is known of a registry, to be changed.
    fn learn(&mut self, way: Way) -> &mut Registry {
        let used = self.next_use();
        if !self.registries.contains_key(&way) {
            evict(&mut self.registries, MAX_REGISTRIES);
        }
        let (registry, last) = self.registries.entry(way).or_default();
        *last = used;
        registry
    }
}

/// Makes room for one more: removes the least recently used entries.
fn evict<K: Clone + Eq + Hash, V>(entries: &mut HashMap<K, (V, u64)>, max: usize) {
    while entries.len() >= max {
        let oldest = entries.iter().min_by_key(|(_, (_, last))| *last);
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
            return;
        };
        entries.remove(&oldest);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.lock();
        f.debug_struct("Session")
            .field("registries", &known.registries.len())
            .field("tokens", &known.tokens.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn fingerprint(text: &str) -> Fingerprint {
        Fingerprint::builder("test").text(text).build()
    }

    fn key(number: usize) -> TokenKey {
        TokenKey {
            registry: "r".into(),
            scope: number.to_string(),
            trust: TrustScope::new(&fingerprint("identity"), &fingerprint("trust")),
        }
    }

    fn token(good_until: Instant) -> Option<Token> {
        Some(Token {
            text: "t".into(),
            good_until,
        })
    }

    #[test]
    fn tokens_that_are_no_longer_good_make_room() {
        let session = Session::new();
        let now = Instant::now();
        for number in 0..MAX_TOKENS {
            let good_until = if number == 0 {
                now + Duration::from_secs(60)
            } else {
                now
            };
            *session.slot(key(number), now).token.lock() = token(good_until);
        }
        session.slot(key(MAX_TOKENS), now);
        assert_eq!(session.0.lock().tokens.len(), 2);
        assert!(session.slot(key(0), now).good(now).is_some());
    }

    #[test]
    fn tokens_are_bounded_even_if_all_are_good() {
        let session = Session::new();
        let now = Instant::now();
        for number in 0..MAX_TOKENS * 2 {
            let slot = session.slot(key(number), now);
            *slot.token.lock() = token(now + Duration::from_secs(60));
            // The first one stays wanted.
            assert!(session.slot(key(0), now).good(now).is_some());
        }
        assert_eq!(session.0.lock().tokens.len(), MAX_TOKENS);
    }

    #[test]
    fn registries_are_bounded() {
        let session = Session::new();
        let way = |number: usize| (format!("r{number}"), fingerprint("trust"));
        for number in 0..MAX_REGISTRIES * 2 {
            session.learn_scheme(way(number), "http");
            session.learn_challenge(way(number), Challenge::Basic);
            assert_eq!(session.registry(&way(0)).scheme, Some("http"));
        }
        assert_eq!(session.0.lock().registries.len(), MAX_REGISTRIES);
    }
}
