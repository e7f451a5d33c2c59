//! Credentials that someone gave, and whoever gives them.

use std::fmt;

use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;

use super::Error;
use super::aws::Key;

/// What was given: a token, a user name with a password, or a key of AWS.
#[derive(Clone)]
pub struct Grant {
    /// The user name, or the identifier of a key. A token has none.
    pub name: String,
    /// The token, the password, or the secret part of a key.
    pub secret: SecretString,
    /// The session that a key of AWS belongs to.
    pub session: Option<SecretString>,
    /// Until when it is good; nothing if it does not end.
    pub expires: Option<Timestamp>,
}

impl Grant {
    /// A token.
    pub fn token(secret: SecretString, expires: Option<Timestamp>) -> Self {
        Grant::login(String::new(), secret, expires)
    }

    /// A user name with a password.
    pub fn login(name: impl Into<String>, secret: SecretString, expires: Option<Timestamp>) -> Self {
        Grant {
            name: name.into(),
            secret,
            session: None,
            expires,
        }
    }

    /// It as a key of AWS.
    pub fn key(&self) -> Key {
        Key {
            id: self.name.clone(),
            secret: self.secret.clone(),
            session: self.session.clone(),
        }
    }

    /// Until when it is used: 80 % of its lifetime, so that it does not end while something is fetched with it.
    pub(super) fn renewed_at(&self, now: Timestamp, longest: SignedDuration) -> Timestamp {
        let lifetime = self
            .expires
            .map_or(longest, |end| now.duration_until(end) / 10 * 8);
        let lifetime = lifetime.clamp(SignedDuration::ZERO, longest);
        now.saturating_add(lifetime).unwrap_or(now)
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("name", &self.name)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// Where credentials come from: a key that signs, a secret that is exchanged, or the identity of a workload.
pub trait CredentialSource: Send + Sync + fmt::Debug {
    /// Credentials that are good now.
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>>;
}

/// Keeps what one source gave.
#[derive(Debug, Default)]
pub(crate) struct Kept(tokio::sync::Mutex<Option<(Grant, Timestamp)>>);

impl Kept {
    pub(crate) async fn grant(&self, source: &dyn CredentialSource) -> Result<Grant, Error> {
        let mut kept = self.0.lock().await;
        let now = Timestamp::now();
        if let Some((grant, end)) = kept.as_ref()
            && *end > now
        {
            return Ok(grant.clone());
        }
        let grant = source.grant().await?;
        let end = grant.renewed_at(now, SignedDuration::from_hours(1));
        *kept = Some((grant.clone(), end));
        Ok(grant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_renewed_at_four_fifths_of_its_lifetime_and_nothing_of_it_is_printed() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let hour = SignedDuration::from_hours(1);
        let after = |minutes: Option<i64>| {
            let expires = minutes.map(|minutes| now + SignedDuration::from_mins(minutes));
            let grant = Grant::token("geheim".into(), expires);
            assert!(!format!("{grant:?}").contains("geheim"));
            now.duration_until(grant.renewed_at(now, hour)).as_mins()
        };
        assert_eq!(after(Some(60)), 48);
        assert_eq!(after(Some(720)), 60);
        assert_eq!(after(Some(-5)), 0);
        assert_eq!(after(None), 60);
    }
}
