//! Temporary keys.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};

use super::super::store::Error;
use super::super::{escape, xml};
use super::Key;
use crate::helm::address::without_secrets;
use crate::http::Options;

/// Who to be for a token service.
#[derive(Clone)]
pub enum Identity {
    /// A user of a directory (`AssumeRoleWithLDAPIdentity` of MinIO).
    Ldap {
        /// The user.
        user: String,
        /// The password.
        password: SecretString,
    },
    /// The token of a service account (`AssumeRoleWithWebIdentity` of AWS).
    WebIdentity {
        /// The role to take.
        role: String,
        /// What to call the session.
        session: String,
        /// The token.
        token: SecretString,
    },
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Identity::Ldap { user, .. } => f.debug_struct("Ldap").field("user", user).finish_non_exhaustive(),
            Identity::WebIdentity { role, .. } => f
                .debug_struct("WebIdentity")
                .field("role", role)
                .finish_non_exhaustive(),
        }
    }
}

/// A token service.
#[derive(Clone, Debug)]
pub struct Sts {
    /// Its address.
    pub endpoint: String,
    /// Authorities, client certificate, proxy, time limit.
    pub http: Options,
    /// Who to be.
    pub identity: Identity,
}

/// A key with its end.
#[derive(Clone, Debug)]
pub(super) struct Temporary {
    pub(super) key: Key,
    expires: Option<Timestamp>,
}

impl Temporary {
    /// Whether the key is good for some minutes more.
    pub(super) fn is_good(&self, now: Timestamp) -> bool {
        let soon = now.saturating_add(SignedDuration::from_mins(5)).unwrap_or(now);
        self.expires.is_none_or(|end| end > soon)
    }
}

impl Sts {
    /// Gets a temporary key.
    pub(super) async fn key(&self, client: &Client) -> Result<Temporary, Error> {
        let endpoint = without_secrets(&self.endpoint);
        let mut form = vec![("Version", "2011-06-15")];
        match &self.identity {
            Identity::Ldap { user, password } => form.extend([
                ("Action", "AssumeRoleWithLDAPIdentity"),
                ("LDAPUsername", user),
                ("LDAPPassword", password.expose_secret()),
            ]),
            Identity::WebIdentity { role, session, token } => form.extend([
                ("Action", "AssumeRoleWithWebIdentity"),
                ("RoleArn", role),
                ("RoleSessionName", session),
                ("WebIdentityToken", token.expose_secret()),
            ]),
        }
        let pairs: Vec<(&str, String)> = form
            .into_iter()
            .map(|(name, value)| (name, value.to_owned()))
            .collect();
        let failed = |source: reqwest::Error| Error::StsRequest {
            endpoint: endpoint.clone(),
            source: source.without_url(),
        };
        let response = client
            .post(&self.endpoint)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(escape::query(&pairs))
            .send()
            .await
            .map_err(failed)?;
        let status = response.status();
        let text = response.text().await.map_err(failed)?;
        let refused = |code: String| Error::Sts {
            endpoint: endpoint.clone(),
            code,
        };
        if !status.is_success() {
            return Err(refused(
                xml::text(&text, "Code").unwrap_or_else(|| status.to_string()),
            ));
        }
        let part = |name| xml::text(&text, name).filter(|text| !text.is_empty());
        let (Some(id), Some(secret)) = (part("AccessKeyId"), part("SecretAccessKey")) else {
            return Err(refused("the answer has no key".to_owned()));
        };
        Ok(Temporary {
            key: Key {
                id,
                secret: secret.into(),
                session: part("SessionToken").map(SecretString::from),
            },
            expires: part("Expiration").and_then(|time| time.parse().ok()),
        })
    }
}
