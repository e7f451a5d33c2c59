//! How a Helm repository is reached, and as whom: from a HelmRepository and its Secrets.

use std::error::Error as StdError;
use std::path::PathBuf;
use std::sync::Arc;

use api::source::{HelmRepositorySpec, HelmRepositoryType, OciProvider};
use api::{Object, Reason};
use futures::future::BoxFuture;
use kube::{Client, ResourceExt};
use model::Digest;
use source::helm::address::{self, AddressError};
use source::helm::registry::ChartVerifier;
use source::helm::repository::{Error as RepositoryError, Options};
use source::helm::{ChartFetcher, Registry, Repository, Verified};
use source::http::Tls;
use source::oci::{self, Credential, Keychain};
use source::store::Presence;
use source::verify::notation::Verdict;

use super::provider;
use super::secrets::{self, Data};
use super::signature::Signatures;
use super::storage;
use super::{Shared, chain, timeout_of};
use crate::kit::{Failure, blocking};

/// Why a repository cannot be reached as its object says.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("failed to get {what} secret")]
    Secret {
        what: &'static str,
        #[source]
        source: secrets::Error,
    },
    #[error("failed to construct Helm client's TLS config")]
    Tls(#[source] secrets::Error),
    #[error("failed to detect authentication methods")]
    Methods(#[source] secrets::Error),
    #[error("failed to configure OCI registry authentication")]
    Registry(#[source] secrets::Error),
    #[error("failed to get credential from '{provider}'")]
    Provider {
        provider: OciProvider,
        #[source]
        source: provider::Error,
    },
    #[error("invalid Helm repository URL")]
    Url(#[from] AddressError),
    #[error("failed to construct Helm client: invalid OCI registry URL: {0}: it must begin with oci://")]
    NoRegistry(String),
    #[error("failed to construct Helm client")]
    Repository(#[source] RepositoryError),
    #[error("failed to construct Helm client")]
    Client(#[source] oci::Error),
}

impl Error {
    /// What it means for whoever wants something from the repository.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Error::Url(_) => Failure::stalled(Reason::URL_INVALID, chain(self)),
            Error::NoRegistry(_) | Error::Repository(_) => Failure::stalled(Reason::FAILED, chain(self)),
            Error::Client(_) => Failure::transient(Reason::FAILED, chain(self)),
            _ => Failure::transient(Reason::AUTHENTICATION_FAILED, chain(self)),
        }
    }
}

/// What the Secrets of a HelmRepository say.
struct Read {
    credentials: Option<Data>,
    tls: Option<Tls>,
    /// What of them cannot be used.
    doubt: Option<String>,
}

async fn read(client: &Client, object: &Object<HelmRepositorySpec>) -> Result<Read, Error> {
    let namespace = object.namespace().unwrap_or_default();
    let get = async |what: &'static str, name: &str| {
        let data = Data::read(client, &namespace, name).await;
        data.map_err(|source| Error::Secret { what, source })
    };
    let mut tls = None;
    if let Some(secret) = &object.spec.cert_secret_ref {
        let data = get("TLS authentication", &secret.name).await?;
        tls = Some(data.tls().map_err(Error::Tls)?);
    }
    let (mut credentials, mut doubt) = (None, None);
    if let Some(secret) = &object.spec.secret_ref {
        let data = get("authentication", &secret.name).await?;
        // Certificates beside the password are an older way to give them.
        if tls.is_none() && data.has_tls() {
            match data.tls() {
                Ok(found) => tls = Some(found),
                // Flux then uses nothing of it.
                Err(error @ secrets::Error::HalfPair { .. }) => doubt = Some(error.to_string()),
                Err(error) => return Err(Error::Methods(error)),
            }
        }
        credentials = Some(data);
    }
    Ok(Read {
        credentials,
        tls,
        doubt,
    })
}

/// How to reach a repository with an index, and what of the Secrets cannot be used for that.
pub(super) async fn options(
    shared: &Shared,
    object: &Object<HelmRepositorySpec>,
) -> Result<(Options, Option<String>), Error> {
    let read = read(&shared.client, object).await?;
    let mut options = Options::new(&object.spec.url);
    options.max_index_size = shared.settings.helm_index_max_size;
    options.max_chart_size = shared.settings.helm_chart_max_size;
    options.scratch = shared.store.root().to_owned();
    options.pass_credentials = object.spec.pass_credentials;
    options.http = shared.http();
    options.http.timeout = Some(timeout_of(object.spec.timeout));
    options.http.tls = read.tls.unwrap_or_default();
    let login = read.credentials.map(|data| data.login()).transpose();
    options.login = login.map_err(Error::Methods)?.flatten();
    Ok((options, read.doubt))
}

/// A client for the registry that a HelmRepository names.
async fn registry_client(shared: &Shared, object: &Object<HelmRepositorySpec>) -> Result<oci::Client, Error> {
    let read = read(&shared.client, object).await?;
    let keychain = match (&read.credentials, &object.spec.provider) {
        (Some(data), _) => keychain(data, &object.spec.url).map_err(Error::Registry)?,
        (None, None | Some(OciProvider::Generic)) => Keychain::anonymous(),
        (None, Some(provider)) => {
            let tls = read.tls.clone().unwrap_or_default();
            of_provider(shared, object, provider, &tls).await?
        }
    };
    let mut options = oci::Options {
        insecure: object.spec.insecure,
        http: shared.http(),
        ..oci::Options::default()
    };
    options.http.timeout = Some(timeout_of(object.spec.timeout));
    options.http.tls = read.tls.unwrap_or_default();
    oci::Client::new(&options, keychain, &shared.registries).map_err(Error::Client)
}

/// Credentials of a registry at one of the clouds.
async fn of_provider(
    shared: &Shared,
    object: &Object<HelmRepositorySpec>,
    provider: &OciProvider,
    tls: &Tls,
) -> Result<Keychain, Error> {
    let charts = format!("{}/charts", object.spec.url.trim_end_matches('/'));
    let Ok(charts) = oci::Repository::parse(&charts) else {
        return Ok(Keychain::anonymous());
    };
    let namespace = object.namespace().unwrap_or_default();
    let login = async {
        let asker = provider::asker(shared, &namespace, None, shared.proxy.clone()).await?;
        let identities = provider::identities(shared, object);
        let reached = provider::Reached {
            insecure: object.spec.insecure,
            tls,
            proxied: false,
        };
        provider::registry(&identities, provider, &asker, &charts, reached).await
    };
    login.await.map_err(|source| Error::Provider {
        provider: provider.clone(),
        source,
    })
}

/// Credentials of a registry: a pull secret, or a name and a password.
fn keychain(data: &Data, url: &str) -> Result<Keychain, secrets::Error> {
    let charts = format!("{}/charts", url.trim_end_matches('/'));
    let Ok(charts) = oci::Repository::parse(&charts) else {
        // What cannot be named is not asked for anything either.
        return Ok(Keychain::anonymous());
    };
    if data.has(".dockerconfigjson") || data.has(".dockercfg") {
        let keychain = data.keychain()?;
        return match keychain.resolve(&charts) {
            Some(_) => Ok(keychain),
            None => Err(data.none_for(charts.registry())),
        };
    }
    Ok(match data.login()? {
        None => Keychain::anonymous(),
        Some(login) => Keychain::for_registry_of(
            &charts,
            Credential::Basic {
                user: login.user,
                password: login.password,
            },
        ),
    })
}

/// The charts of a HelmRepository: those of its stored index, or of its registry. Only in a registry are there signatures that
/// can be asked for.
pub(super) async fn charts(
    shared: &Shared,
    object: &Object<HelmRepositorySpec>,
    signatures: Option<Signatures>,
) -> Result<Arc<dyn ChartFetcher>, Error> {
    let url = address::normalise(&object.spec.url)?;
    let is_oci = url.starts_with("oci://");
    if object.spec.r#type == Some(HelmRepositoryType::Oci) && !is_oci {
        return Err(Error::NoRegistry(address::without_secrets(&url)));
    }
    if is_oci {
        let client = registry_client(shared, object).await?;
        let mut registry =
            Registry::new(&url, client.clone()).with_max_chart_size(shared.settings.helm_chart_max_size);
        if let Some(signatures) = signatures {
            registry = registry.with_verifier(Arc::new(Signed { signatures, client }));
        }
        return Ok(Arc::new(registry));
    }
    let (options, _) = options(shared, object).await?;
    let repository = Repository::new(options).map_err(Error::Repository)?;
    Ok(match index_of(shared, object).await {
        Some(index) => Arc::new(repository.with_index(index)),
        None => Arc::new(repository),
    })
}

/// Checks the signatures of charts.
struct Signed {
    signatures: Signatures,
    client: oci::Client,
}

impl ChartVerifier for Signed {
    fn verify<'a>(
        &'a self,
        repository: &'a oci::Repository,
        digest: Digest,
    ) -> BoxFuture<'a, Result<Verified, Box<dyn StdError + Send + Sync>>> {
        Box::pin(async move {
            let verdict = self.signatures.verify(&self.client, repository, digest).await;
            match verdict {
                Ok(Verdict::Verified) => Ok(Verified::Good),
                Ok(Verdict::Ignored) => Ok(Verified::Ignored),
                Err(why) => Err(why.into()),
            }
        })
    }
}

/// The file of the index that is stored, if it is there and whole.
async fn index_of(shared: &Shared, object: &Object<HelmRepositorySpec>) -> Option<PathBuf> {
    let artifact = object.status.as_ref()?.artifact.clone()?;
    let place = storage::place(object).ok()?;
    let store = Arc::clone(&shared.store);
    blocking(move || {
        let is_there = matches!(store.verify(&place, &artifact), Ok(Presence::Valid));
        is_there.then(|| store.root().join(&artifact.path))
    })
    .await
}
