//! Charts in an OCI registry.
//!
//! Below the address of the repository each chart is a repository of its own, and each version a tag of it. Tags cannot have a
//! `+`, so that charts write `_` for it. A version that is given exactly is not looked up: its tag is known.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use model::Digest;
use model::semver::{Constraint, ConstraintError, Version, parse_tag};
use parking_lot::Mutex;

use super::artifact;
use super::fetcher::{ChartFetcher, FetchError, Found, Verified};
use super::repository::MAX_CHART_SIZE;
use crate::oci;
use crate::trust::TrustScope;

/// Checks the signature of an artifact.
pub trait ChartVerifier: Send + Sync {
    /// Checks the artifact with this digest.
    fn verify<'a>(
        &'a self,
        repository: &'a oci::Repository,
        digest: Digest,
    ) -> BoxFuture<'a, Result<Verified, Box<dyn StdError + Send + Sync>>>;
}

/// Charts in an OCI registry, below an address.
pub struct Registry {
    url: String,
    client: oci::Client,
    verifier: Option<Arc<dyn ChartVerifier>>,
    /// What the tags were that have been checked, so that nothing else is fetched.
    checked: Mutex<BTreeMap<String, Digest>>,
    /// How large a packed chart may be.
    max_chart_size: u64,
}

/// Why no chart was found in a registry.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The registry failed.
    #[error("the chart cannot be read from the registry")]
    Registry(#[source] oci::Error),
    /// The wanted version is no range.
    #[error(
        "the version '{0}' is neither a tag nor a range of versions; write a range like '1.x' or '>=1.2.0 <2.0.0'"
    )]
    Range(String, #[source] ConstraintError),
    /// No tag is a version.
    #[error("unable to locate any tags in provided repository: {0}: check the name of the chart")]
    NoTags(String),
    /// No tag is in the range.
    #[error(
        "could not locate a version matching provided version string {0}: check the version and the tags that there are"
    )]
    NoMatch(String),
    /// The artifact is no chart.
    #[error("'{0}' is no chart: none of its layers has the media type of charts: push one with 'helm push'")]
    NoChart(String),
}

impl Registry {
    /// Charts below an address such as `oci://ghcr.io/org/charts`.
    pub fn new(url: &str, client: oci::Client) -> Self {
        Registry {
            url: url.trim_end_matches('/').to_owned(),
            client,
            verifier: None,
            checked: Mutex::default(),
            max_chart_size: MAX_CHART_SIZE,
        }
    }

    /// Checks charts before they are fetched.
    #[must_use]
    pub fn with_verifier(mut self, verifier: Arc<dyn ChartVerifier>) -> Self {
        self.verifier = Some(verifier);
        self
    }

    /// Takes charts up to this size.
    #[must_use]
    pub fn with_max_chart_size(mut self, bytes: u64) -> Self {
        self.max_chart_size = bytes;
        self
    }

    fn reference(&self, chart: &Found) -> Result<oci::Reference, FetchError> {
        let repository = oci::Repository::parse(&format!("{}/{}", self.url, chart.name));
        let repository = repository.map_err(failed)?;
        if let Some(digest) = self.checked.lock().get(&key(chart)) {
            return Ok(repository.digest(*digest));
        }
        repository.tag(&chart.version.replace('+', "_")).map_err(failed)
    }

    async fn newest(&self, chart: &str, wanted: &str) -> Result<String, FetchError> {
        let repository = oci::Repository::parse(&format!("{}/{chart}", self.url)).map_err(failed)?;
        let tags = self.client.tags(&repository).await.map_err(failed)?;
        // As in Helm only whole versions count, without a `v`.
        let versions: Vec<Version> = tags
            .iter()
            .filter_map(|tag| Version::parse_strict(&tag.replace('_', "+")).ok())
            .collect();
        if versions.is_empty() {
            return Err(FetchError::external(Error::NoTags(chart.to_owned())));
        }
        if versions.iter().any(|version| version.original() == wanted) {
            return Ok(wanted.to_owned());
        }
        let range = if wanted.is_empty() { "*" } else { wanted };
        let range = Constraint::parse(range)
            .map_err(|error| FetchError::external(Error::Range(wanted.to_owned(), error)))?;
        let newest = model::semver::highest(&versions, &range);
        let newest = newest.ok_or_else(|| FetchError::external(Error::NoMatch(wanted.to_owned())))?;
        Ok(newest.original().to_owned())
    }
}

fn key(chart: &Found) -> String {
    format!("{}:{}", chart.name, chart.version)
}

fn failed(error: oci::Error) -> FetchError {
    match error {
        oci::Error::Unauthorized { .. } | oci::Error::Client(_) => {
            FetchError::Authentication(Box::new(Error::Registry(error)))
        }
        error => FetchError::external(Error::Registry(error)),
    }
}

impl ChartFetcher for Registry {
    fn find<'a>(&'a self, chart: &'a str, version: &'a str) -> BoxFuture<'a, Result<Found, FetchError>> {
        Box::pin(async move {
            let version = match parse_tag(version) {
                Ok(_) => version.to_owned(),
                Err(_) => self.newest(chart, version).await?,
            };
            Ok(Found {
                name: chart.to_owned(),
                urls: vec![format!("{}/{chart}:{version}", self.url)],
                version,
            })
        })
    }

    fn verify<'a>(&'a self, chart: &'a Found) -> BoxFuture<'a, Result<Verified, FetchError>> {
        Box::pin(async move {
            let Some(verifier) = &self.verifier else {
                return Ok(Verified::NotAsked);
            };
            let reference = self.reference(chart)?;
            let digest = self.client.digest(&reference).await.map_err(failed)?;
            let verified = verifier.verify(&reference.repository, digest).await;
            let verified = verified.map_err(FetchError::External)?;
            self.checked.lock().insert(key(chart), digest);
            Ok(verified)
        })
    }

    fn scope(&self, chart: &Found) -> Option<TrustScope> {
        let reference = self.reference(chart).ok()?;
        Some(self.client.scope(&reference.repository))
    }

    fn identity<'a>(&'a self, chart: &'a Found) -> BoxFuture<'a, Result<Option<String>, FetchError>> {
        Box::pin(async move {
            let reference = self.reference(chart)?;
            let digest = self.client.digest(&reference).await.map_err(failed)?;
            // What is fetched is what was named, whatever the tag leads to by then.
            self.checked.lock().insert(key(chart), digest);
            Ok(Some(reference.repository.digest(digest).to_string()))
        })
    }

    fn download<'a>(&'a self, chart: &'a Found) -> BoxFuture<'a, Result<Bytes, FetchError>> {
        Box::pin(async move {
            let reference = self.reference(chart)?;
            let pulled = artifact::pull(&self.client, &reference, self.max_chart_size, false).await;
            let pulled = pulled.map_err(failed)?.ok_or_else(|| {
                let name = chart.urls.first().unwrap_or(&chart.name);
                FetchError::external(Error::NoChart(name.clone()))
            })?;
            Ok(pulled.archive)
        })
    }
}
