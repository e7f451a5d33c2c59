//! From the headers of a request to its user.

use std::collections::HashMap;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use model::Str;

use super::Find;
use super::token::{Accepted, Issuer};
use super::user::User;
use crate::error::Error;

/// Knows all credentials.
#[derive(Debug)]
pub struct Authenticator {
    tokens: HashMap<Str, User>,
    issuer: Issuer,
    anonymous: Anonymous,
}

/// What becomes of requests without credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// They are those of the user `system:anonymous`, who may do little.
    Allowed,
    /// They are refused.
    Refused,
}

impl Authenticator {
    /// Knows these tokens, and those of the issuer.
    pub fn new(tokens: impl IntoIterator<Item = (Str, User)>, issuer: Issuer, anonymous: Anonymous) -> Self {
        Authenticator {
            tokens: tokens.into_iter().collect(),
            issuer,
            anonymous,
        }
    }

    /// Who issues the tokens of service accounts.
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// The user of a request. `certificate` is the user that a verified client certificate names; it goes before any
    /// token.
    ///
    /// # Errors
    /// `Unauthorized`, if the token is wrong, or there is none and there has to be one.
    pub fn authenticate(
        &self,
        headers: &HeaderMap,
        certificate: Option<&User>,
        now: Timestamp,
        find: Find<'_>,
    ) -> Result<User, Error> {
        if let Some(user) = certificate {
            let mut user = user.clone();
            user.add_authenticated();
            return Ok(user);
        }
        let header = headers
            .get(AUTHORIZATION)
            .map(|value| String::from_utf8_lossy(value.as_bytes()));
        let accepted = match bearer(header.as_deref().unwrap_or_default()) {
            Some(token) => self.token(token, self.issuer.audiences(), now, find).ok(),
            None => self.without_token(self.issuer.audiences()),
        };
        accepted
            .map(|accepted| accepted.user)
            .ok_or_else(Error::unauthorized)
    }

    /// Whose credentials an `Authorization` header would be that says `Bearer` and then this text.
    ///
    /// # Errors
    /// Why they are not good, as a `TokenReview` shows it; empty where nobody said a thing.
    pub(crate) fn review(
        &self,
        token: &str,
        audiences: &[Str],
        now: Timestamp,
        find: Find<'_>,
    ) -> Result<Accepted, String> {
        match bearer(&format!("Bearer {token}")) {
            Some(token) => self.token(token, audiences, now, find),
            None => self.without_token(audiences).ok_or_else(String::new),
        }
    }

    fn token(
        &self,
        token: &str,
        audiences: &[Str],
        now: Timestamp,
        find: Find<'_>,
    ) -> Result<Accepted, String> {
        const INVALID: &str = "invalid bearer token";
        let own = self.issuer.audiences();
        let common: Vec<Str> = audiences
            .iter()
            .filter(|wanted| own.contains(wanted))
            .cloned()
            .collect();
        let fixed = self.tokens.get(token).filter(|_| !common.is_empty());
        let mut accepted = match fixed {
            Some(user) => Accepted {
                user: user.clone(),
                audiences: common,
            },
            None => match self.issuer.accept(token, audiences, now, find) {
                Ok(Some(accepted)) => accepted,
                Ok(None) => return Err(INVALID.into()),
                Err(rejected) => return Err(format!("[{INVALID}, {rejected}]")),
            },
        };
        accepted.user.add_authenticated();
        Ok(accepted)
    }

    fn without_token(&self, audiences: &[Str]) -> Option<Accepted> {
        let allowed = self.anonymous == Anonymous::Allowed;
        allowed.then(|| Accepted {
            user: User::anonymous(),
            audiences: audiences.to_vec(),
        })
    }
}

/// The token of an `Authorization` header; other schemes, and a token that is empty, count as none.
fn bearer(header: &str) -> Option<&str> {
    let mut words = header.trim().splitn(3, ' ');
    let scheme = words.next()?;
    let token = words.next()?;
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_header_with_a_token_has_one() {
        assert_eq!(bearer("Bearer x"), Some("x"));
        assert_eq!(bearer(" bearer x y "), Some("x"));
        for other in ["", "Bearer", "Bearer ", "Bearer  x", "Basic x", "x"] {
            assert_eq!(bearer(other), None, "{other:?}");
        }
    }
}
