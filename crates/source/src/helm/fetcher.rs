//! What every place that has charts can do.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;

use crate::trust::TrustScope;

/// A chart in one version, and where to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The name of the chart.
    pub name: String,
    /// The version.
    pub version: String,
    /// Where the archive is: what the index says, or an `oci://` reference.
    pub urls: Vec<String>,
}

/// Why a chart was not found or not fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// What was asked for is not there: asking again does not help.
    #[error(transparent)]
    Reference(Box<dyn Error + Send + Sync>),
    /// The place could not be asked.
    #[error(transparent)]
    External(Box<dyn Error + Send + Sync>),
    /// The place refused the credentials, or its certificate is not trusted.
    #[error(transparent)]
    Authentication(Box<dyn Error + Send + Sync>),
}

impl FetchError {
    /// What was asked for is not there.
    pub fn reference(error: impl Error + Send + Sync + 'static) -> Self {
        FetchError::Reference(Box::new(error))
    }

    /// The place could not be asked.
    pub fn external(error: impl Error + Send + Sync + 'static) -> Self {
        FetchError::External(Box::new(error))
    }
}

/// Whether a chart was verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verified {
    /// Nobody asked for it.
    #[default]
    NotAsked,
    /// The signature was looked at, but a policy does not demand that it is good.
    Ignored,
    /// The signature is good.
    Good,
}

/// A place that has charts: an HTTP repository or an OCI registry.
pub trait ChartFetcher: Send + Sync {
    /// Finds the version of a chart that is meant: exactly that one, or the highest of a range; the highest release where
    /// nothing is given.
    fn find<'a>(&'a self, chart: &'a str, version: &'a str) -> BoxFuture<'a, Result<Found, FetchError>>;

    /// Checks the signature of a chart, where that is wanted. This is done whether or not the chart is stored already.
    fn verify<'a>(&'a self, _chart: &'a Found) -> BoxFuture<'a, Result<Verified, FetchError>> {
        Box::pin(async { Ok(Verified::NotAsked) })
    }

    /// Who reads a chart, and whom they trust to be the place that has it. Only readers of one scope share what was downloaded;
    /// nothing means that nothing is shared.
    fn scope(&self, _chart: &Found) -> Option<TrustScope> {
        None
    }

    /// A name that an archive shares only with the same archive of the same place; nothing where the place gives none. The place
    /// has been asked whether the archive may be read.
    fn identity<'a>(&'a self, _chart: &'a Found) -> BoxFuture<'a, Result<Option<String>, FetchError>> {
        Box::pin(async { Ok(None) })
    }

    /// Gets the archive.
    fn download<'a>(&'a self, chart: &'a Found) -> BoxFuture<'a, Result<Bytes, FetchError>>;
}

/// Knows the repositories that dependencies name, with the credentials they need.
pub trait Repositories: Send + Sync {
    /// The repository with this address, which is in the form that [`super::address::normalise`] gives.
    fn repository<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<dyn ChartFetcher>, FetchError>>;
}

/// No repositories at all: charts whose dependencies are all there need none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRepositories;

/// There is no repository to look into.
#[derive(Debug, thiserror::Error)]
#[error("no chart repository for URL '{0}'")]
pub struct NoRepository(pub String);

impl Repositories for NoRepositories {
    fn repository<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<dyn ChartFetcher>, FetchError>> {
        let error = FetchError::reference(NoRepository(super::address::without_secrets(url)));
        Box::pin(async move { Err(error) })
    }
}
