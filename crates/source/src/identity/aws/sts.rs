//! The token service: temporary keys for who is known otherwise.

use std::fmt;

use futures::future::BoxFuture;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};

use super::super::ask::{Server, form};
use super::super::{CredentialSource, Error, Grant};
use crate::bucket::xml;
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

impl CredentialSource for Sts {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
        Box::pin(async move { exchange(&self.http.client()?, &self.endpoint, &self.identity).await })
    }
}

/// Gets a temporary key.
pub(super) async fn exchange(client: &Client, endpoint: &str, identity: &Identity) -> Result<Grant, Error> {
    let (mut fields, secret) = match identity {
        Identity::Ldap { user, password } => (
            vec![
                ("Action", "AssumeRoleWithLDAPIdentity".to_owned()),
                ("LDAPUsername", user.clone()),
                ("LDAPPassword", password.expose_secret().to_owned()),
            ],
            password,
        ),
        Identity::WebIdentity { role, session, token } => (
            vec![
                ("Action", "AssumeRoleWithWebIdentity".to_owned()),
                ("RoleArn", role.clone()),
                ("RoleSessionName", session.clone()),
                ("WebIdentityToken", token.expose_secret().to_owned()),
            ],
            token,
        ),
    };
    fields.push(("Version", "2011-06-15".to_owned()));
    let server = Server::new(endpoint, [secret]);
    let answer = server.send(form(client.post(endpoint), &fields)).await?;
    let text = String::from_utf8_lossy(&answer.body);
    let part = |name| xml::text(&text, name).filter(|text| !text.is_empty());
    if !answer.status.is_success() {
        let said: Vec<String> = ["Code", "Message"].into_iter().filter_map(part).collect();
        return Err(server.refused(&answer, &said.join(": ")));
    }
    let (Some(id), Some(key)) = (part("AccessKeyId"), part("SecretAccessKey")) else {
        return Err(server.unreadable("key"));
    };
    Ok(Grant {
        name: id,
        secret: key.into(),
        session: part("SessionToken").map(SecretString::from),
        expires: part("Expiration").and_then(|time| time.parse().ok()),
    })
}
