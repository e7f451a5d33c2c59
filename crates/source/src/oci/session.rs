//! What is learned about registries and kept for the next request.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use secrecy::SecretString;

use super::challenge::Challenge;

/// Past this many tokens those that are no longer good are thrown away.
const MANY_TOKENS: usize = 1024;

/// What is known of registries: how they are reached, what they ask for, and the tokens they gave. Cheap to clone; clones
/// share what they know. One per process is meant, so that many objects of one registry need one token.
#[derive(Clone, Default)]
pub struct Session(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    registries: HashMap<Way, Registry>,
    tokens: HashMap<TokenKey, Slot>,
}

/// How somebody reaches a registry: its name and what tells apart how it is trusted. What one has learnt who trusts anyone says
/// nothing to another who does not.
pub(super) type Way = (String, [u8; 32]);

/// A place for a token. Whoever fetches one holds the lock, and the others wait for it instead of fetching one each.
pub(super) type Slot = Arc<tokio::sync::Mutex<Option<Token>>>;

/// What is known of one registry.
#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    pub(super) scheme: Option<&'static str>,
    pub(super) challenge: Option<Challenge>,
}

/// What a token is good for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct TokenKey {
    pub(super) registry: String,
    pub(super) scope: String,
    pub(super) credential: [u8; 32],
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
        self.0.lock().registries.get(way).cloned().unwrap_or_default()
    }

    pub(super) fn learn_scheme(&self, way: Way, scheme: &'static str) {
        let mut known = self.0.lock();
        known.registries.entry(way).or_default().scheme = Some(scheme);
    }

    /// Forgets how a registry is reached, and what it asks for: it was not, that way. What is shown without being asked for is
    /// shown to nobody else.
    pub(super) fn forget(&self, way: &Way) {
        self.0.lock().registries.remove(way);
    }

    /// Forgets what a registry asks for, and says what that was.
    pub(super) fn forget_challenge(&self, way: &Way) -> Option<Challenge> {
        self.0.lock().registries.get_mut(way)?.challenge.take()
    }

    pub(super) fn learn_challenge(&self, way: Way, challenge: Challenge) {
        let mut known = self.0.lock();
        known.registries.entry(way).or_default().challenge = Some(challenge);
    }

    /// The place of a token, empty where there is none yet.
    pub(super) fn slot(&self, key: TokenKey, now: Instant) -> Slot {
        let mut known = self.0.lock();
        if known.tokens.len() >= MANY_TOKENS && !known.tokens.contains_key(&key) {
            // A slot that is locked is being filled right now.
            known.tokens.retain(|_, slot| match slot.try_lock() {
                Ok(token) => token.as_ref().is_some_and(|token| token.good_until > now),
                Err(_) => true,
            });
        }
        known.tokens.entry(key).or_default().clone()
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

    #[test]
    fn tokens_that_are_no_longer_good_make_room() {
        let session = Session::new();
        let now = Instant::now();
        let key = |number: usize| TokenKey {
            registry: "r".into(),
            scope: number.to_string(),
            credential: [0; 32],
        };
        for number in 0..MANY_TOKENS {
            let good_until = if number == 0 {
                now + Duration::from_secs(60)
            } else {
                now
            };
            let token = Token {
                text: "t".into(),
                good_until,
            };
            *session.slot(key(number), now).try_lock().unwrap() = Some(token);
        }
        session.slot(key(MANY_TOKENS), now);
        assert_eq!(session.0.lock().tokens.len(), 2);
        assert!(session.slot(key(0), now).try_lock().unwrap().is_some());
    }
}
