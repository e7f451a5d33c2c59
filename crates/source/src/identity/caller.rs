//! Who asks a cloud for something.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use regex::Regex;
use secrecy::SecretString;

use super::Error;

/// Who asks.
#[derive(Clone, Debug, Default)]
pub enum Caller {
    /// This process, with what its environment or machine says of it.
    #[default]
    Controller,
    /// A ServiceAccount of the cluster, so that each object has an identity of its own.
    ServiceAccount(ServiceAccount),
}

/// A ServiceAccount that the cluster vouches for.
#[derive(Clone)]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it is to the clouds.
    pub annotations: BTreeMap<String, String>,
    /// Who gives its tokens.
    pub tokens: Arc<dyn ServiceAccountTokens>,
}

/// Gives tokens of a ServiceAccount: the cluster does.
pub trait ServiceAccountTokens: Send + Sync {
    /// A token for one audience.
    fn token<'a>(
        &'a self,
        audience: &'a str,
    ) -> BoxFuture<'a, Result<SecretString, Box<dyn std::error::Error + Send + Sync>>>;
}

impl ServiceAccount {
    /// A token for one audience.
    pub(super) async fn token(&self, audience: &str) -> Result<SecretString, Error> {
        let token = self.tokens.token(audience).await;
        token.map_err(|source| Error::ServiceAccount {
            account: self.shown(),
            source: source.into(),
        })
    }

    /// The account as messages show it.
    pub(super) fn shown(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// What an annotation says, which must match a pattern as a whole. Nothing if it is not there or empty.
    pub(super) fn annotation(
        &self,
        key: &'static str,
        pattern: &'static str,
    ) -> Result<Option<String>, Error> {
        let value = self.annotations.get(key).filter(|value| !value.is_empty());
        let Some(value) = value else {
            return Ok(None);
        };
        let is_match = Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(value));
        match is_match {
            true => Ok(Some(value.clone())),
            false => Err(self.wrong(key, value, pattern)),
        }
    }

    /// An annotation that cannot be used.
    pub(super) fn wrong(&self, key: &'static str, value: &str, pattern: &'static str) -> Error {
        Error::Annotation {
            account: self.shown(),
            key,
            value: value.chars().take(200).collect(),
            pattern,
        }
    }
}

impl Caller {
    /// What tells callers apart in a cache.
    pub(super) fn fingerprint(&self) -> String {
        match self {
            Caller::Controller => "controller".to_owned(),
            Caller::ServiceAccount(account) => {
                // Who may read one annotation may not have what was given for another.
                let annotations: Vec<_> = account
                    .annotations
                    .iter()
                    .filter(|(key, _)| {
                        let mut clouds = [
                            "eks.amazonaws.com/",
                            "azure.workload.identity/",
                            "iam.gke.io/",
                            "gcp.auth.fluxcd.io/",
                        ]
                        .into_iter();
                        clouds.any(|cloud| key.starts_with(cloud))
                    })
                    .collect();
                format!("{:?} {:?} {annotations:?}", account.namespace, account.name)
            }
        }
    }
}

impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServiceAccount({})", self.shown())
    }
}
