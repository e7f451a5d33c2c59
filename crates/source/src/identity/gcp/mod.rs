//! Google Cloud: tokens of the controller or of a ServiceAccount.

mod federation;
mod key_file;
mod metadata;

use std::sync::LazyLock;

use regex::Regex;

pub use key_file::{KeyError, KeyFile};

use super::caller::{Caller, ServiceAccount};
use super::identities::Context;
use super::{Error, Grant, read_file};
use federation::{Exchange, External};

/// What may be done with tokens.
const SCOPES: [&str; 2] = [
    "https://www.googleapis.com/auth/cloud-platform",
    "https://www.googleapis.com/auth/userinfo.email",
];

/// The user that tokens are used with in registries.
pub(super) const REGISTRY_USER: &str = "oauth2accesstoken";

/// How registries are named.
const REGISTRY_PATTERN: &str = r"^(((.+\.)?gcr\.io)|(.+-docker\.pkg\.dev)|(docker\.s3nsregistry\.fr))$";

/// The account that a ServiceAccount acts as.
const EMAIL: &str = "iam.gke.io/gcp-service-account";
const EMAIL_PATTERN: &str = r"^[a-zA-Z0-9-]{1,100}@[a-zA-Z0-9-]{1,100}\.iam\.gserviceaccount\.com$";

/// Who in Google Cloud trusts the cluster, where it is not GKE.
const PROVIDER: &str = "gcp.auth.fluxcd.io/workload-identity-provider";
const PROVIDER_PATTERN: &str =
    r"^projects/\d{1,30}/locations/global/workloadIdentityPools/[^/]{1,100}/providers/[^/]{1,100}$";

/// Checks that a registry is one of Google Cloud.
pub(super) fn check_registry(registry: &str) -> Result<(), Error> {
    static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(REGISTRY_PATTERN).ok());
    match REGEX.as_ref().is_some_and(|regex| regex.is_match(registry)) {
        true => Ok(()),
        false => Err(Error::Registry {
            cloud: "GCP",
            registry: registry.to_owned(),
            pattern: REGISTRY_PATTERN,
        }),
    }
}

/// A token for whoever asks.
pub(super) async fn access(context: &Context<'_>, caller: &Caller) -> Result<Grant, Error> {
    match caller {
        Caller::Controller => match context.environment.get("GOOGLE_APPLICATION_CREDENTIALS") {
            Some(path) => of_file(context, path).await,
            None => metadata::token(context, &SCOPES).await,
        },
        Caller::ServiceAccount(account) => of_service_account(context, account).await,
    }
}

/// The identity that a file gives: the key of an account, or a token that others renew.
async fn of_file(context: &Context<'_>, path: &str) -> Result<Grant, Error> {
    use secrecy::ExposeSecret;
    let text = read_file(path).await?;
    let bytes = text.expose_secret().as_bytes();
    let wrong = |why: String| Error::KeyFile {
        path: path.to_owned(),
        why,
    };
    match KeyFile::parse(bytes, context.client.clone()) {
        Ok(key) => key.with_scope(SCOPES.join(" ")).token(context.now).await,
        Err(KeyError::Kind(kind)) if kind == "external_account" => {
            let external: External = serde_json::from_slice(bytes)
                .map_err(|_| wrong("it lacks a part of an external account".into()))?;
            external.token(context, path).await
        }
        Err(KeyError::Kind(kind)) => Err(wrong(format!(
            "they are of type '{kind}', and must be of 'service_account' or 'external_account'"
        ))),
        Err(error) => Err(wrong(error.to_string())),
    }
}

async fn of_service_account(context: &Context<'_>, account: &ServiceAccount) -> Result<Grant, Error> {
    let email = account.annotation(EMAIL, EMAIL_PATTERN)?;
    let (issued_for, audience) = match account.annotation(PROVIDER, PROVIDER_PATTERN)? {
        Some(provider) => {
            let audience = format!("//iam.googleapis.com/{provider}");
            (audience.clone(), audience)
        }
        // Without a provider the cluster is one of GKE, which Google trusts by itself.
        None => {
            let cluster = metadata::cluster(context).await?;
            (cluster.pool(), cluster.audience())
        }
    };
    let exchange = Exchange {
        audience,
        token: account.token(&issued_for).await?,
        kind: "urn:ietf:params:oauth:token-type:jwt".to_owned(),
        sts: None,
        act_as: email.map(|email| federation::impersonation_of(context, &email)),
    };
    exchange.token(context).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registries_of_google_are_taken() {
        for name in [
            "gcr.io",
            "eu.gcr.io",
            "europe-west1-docker.pkg.dev",
            "docker.s3nsregistry.fr",
        ] {
            assert!(check_registry(name).is_ok(), "{name}");
        }
        for name in [
            "ghcr.io",
            "evilgcr.io",
            "gcr.io.evil.example",
            "docker.pkg.dev",
            "gcr.io:5000",
        ] {
            assert!(check_registry(name).is_err(), "{name}");
        }
    }
}
