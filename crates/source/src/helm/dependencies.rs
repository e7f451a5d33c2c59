//! The charts that a chart needs and does not bring along.
//!
//! `Chart.lock` counts before `Chart.yaml`. A dependency with an address is fetched from that repository, one with `file://`
//! or nothing lies in the same source, and nowhere else.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::semver::{self, Constraint, Version};
use percent_encoding::percent_decode_str;

use super::address::{self, AddressError};
use super::build::inside;
use super::build::{Place, place};
use super::chart::{Chart, ChartTree, Dependency, Limits, LoadError, files};
use super::fetcher::{ChartFetcher, FetchError, Repositories};
use crate::archive::Tree;

/// The most dependencies that are added to a chart.
const MOST: usize = 256;

/// Why a dependency is missing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There are more of them than are added.
    #[error(
        "the chart needs more than {MOST} charts that it does not contain: commit some of them below charts/"
    )]
    TooMany,
    /// The chart with all its dependencies is larger than a chart may be.
    #[error(
        "failed to add dependency '{name}': the chart with its dependencies has more than {limit} bytes: split the chart"
    )]
    TooLarge {
        /// The dependency that is too much.
        name: String,
        /// The most bytes that a chart may have.
        limit: u64,
    },
    /// It should lie in the source.
    #[error("failed to add local dependency '{name}'")]
    Local {
        /// The dependency.
        name: String,
        /// What is wrong.
        source: Box<LocalError>,
    },
    /// It should be in a repository.
    #[error("failed to add remote dependency '{name}'")]
    Remote {
        /// The dependency.
        name: String,
        /// What is wrong.
        source: Box<RemoteError>,
    },
}

/// What is wrong with a dependency in the source.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// There is nothing.
    #[error(
        "no chart found at '/{path}' (reference '{reference}'): correct 'repository' of the dependency in Chart.yaml"
    )]
    NotFound {
        /// Where it was looked for.
        path: String,
        /// What was written.
        reference: String,
    },
    /// What is there is no chart.
    #[error("failed to load chart from '/{path}' (reference '{reference}')")]
    Load {
        /// Where it is.
        path: String,
        /// What was written.
        reference: String,
        /// What is wrong.
        source: LoadError,
    },
    /// The wanted version is no range.
    #[error("invalid version/constraint format '{0}'; write a range like '1.x' or '>=1.2.0 <2.0.0'")]
    Range(String, #[source] semver::ConstraintError),
    /// The version of the chart is none.
    #[error("the chart has the version '{0}'")]
    Version(String, #[source] semver::Error),
    /// The chart there has another version.
    #[error(
        "can't get a valid version for constraint '{0}': correct the version of the dependency in Chart.yaml"
    )]
    NoMatch(String),
}

/// What is wrong with a dependency in a repository.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The repository is named in a way that cannot be followed.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The repository is not known.
    #[error("failed to get chart repository for URL '{0}'")]
    Repository(String, #[source] FetchError),
    /// The repository does not have it.
    #[error("failed to get chart '{name}' version '{version}' from '{repository}'")]
    Find {
        /// The chart.
        name: String,
        /// The version or range.
        version: String,
        /// The repository.
        repository: String,
        /// Why not.
        source: FetchError,
    },
    /// It was not fetched.
    #[error("chart download of version '{0}' failed")]
    Download(String, #[source] FetchError),
    /// What was fetched is no chart.
    #[error("failed to load downloaded archive of version '{0}'")]
    Load(String, #[source] LoadError),
}

/// Adds the missing dependencies to a chart that lies at `path` of the tree. Says how many they were.
pub(super) async fn add(
    chart: &mut Chart,
    tree: &(dyn Tree + Sync),
    path: &str,
    repositories: &dyn Repositories,
    limits: &Limits,
) -> Result<usize, Error> {
    let missing = missing(chart);
    if missing.len() > MOST {
        return Err(Error::TooMany);
    }
    // Who unpacks the chart takes no more than this with all charts in it.
    let mut bytes_left = limits.unpacked.saturating_sub(size(chart));
    let mut known: BTreeMap<String, Arc<dyn ChartFetcher>> = BTreeMap::new();
    for dependency in &missing {
        let name = dependency.local_name().to_owned();
        let is_local = dependency.repository.is_empty() || dependency.repository.starts_with("file://");
        let added = if is_local {
            local(tree, path, dependency, limits).map_err(|error| Error::Local {
                name: name.clone(),
                source: Box::new(error),
            })
        } else {
            let fetched = remote(&mut known, repositories, dependency, limits).await;
            fetched.map_err(|error| Error::Remote {
                name: name.clone(),
                source: Box::new(error),
            })
        };
        let mut added = added?;
        bytes_left = match bytes_left.checked_sub(size(&added)) {
            Some(left) => left,
            None => {
                let limit = limits.unpacked;
                return Err(Error::TooLarge { name, limit });
            }
        };
        if !dependency.alias.is_empty() {
            added.metadata.name.clone_from(&dependency.alias);
        }
        chart.dependencies.push(added);
    }
    Ok(missing.len())
}

/// The bytes of all files of a chart and of the charts in it.
fn size(chart: &Chart) -> u64 {
    let own = chart.files.iter().map(|file| file.content.len() as u64);
    own.sum::<u64>() + chart.dependencies.iter().map(size).sum::<u64>()
}

/// The dependencies that are asked for and not there, up to one more than are added. If there are as many as asked for, none is missing.
fn missing(chart: &Chart) -> Vec<Dependency> {
    let wanted = match &chart.lock {
        Some(lock) => &lock.dependencies,
        None => &chart.metadata.dependencies,
    };
    if wanted.len() == chart.dependencies.len() {
        return Vec::new();
    }
    let mut missing: Vec<Dependency> = Vec::new();
    for dependency in wanted.iter().flatten() {
        let name = dependency.local_name();
        let is_there = chart.dependencies.iter().any(|there| there.metadata.name == name);
        if !is_there {
            missing.retain(|other| other.local_name() != name);
            missing.push(dependency.clone());
        }
        if missing.len() > MOST {
            break;
        }
    }
    missing
}

fn local(
    tree: &dyn Tree,
    chart: &str,
    dependency: &Dependency,
    limits: &Limits,
) -> Result<Chart, LocalError> {
    let path = match dependency.repository.strip_prefix("file://") {
        Some(path) => inside(chart, &percent_decode_str(path).decode_utf8_lossy()),
        None => inside(chart, &format!("charts/{}", dependency.name)),
    };
    let reference = dependency.repository.clone();
    let unreadable = |source| {
        LoadError::Files(files::Error::Read {
            path: path.clone(),
            source,
        })
    };
    let place = place(tree, &path).map_err(|error| LocalError::Load {
        path: path.clone(),
        reference: reference.clone(),
        source: unreadable(error),
    })?;
    if place == Place::Nothing {
        return Err(LocalError::NotFound { path, reference });
    }
    let wanted = &dependency.version;
    let range = Constraint::parse(wanted).map_err(|error| LocalError::Range(wanted.clone(), error))?;
    let loaded = if place == Place::Directory {
        Chart::from_tree(&ChartTree(tree), &path, limits)
    } else {
        files::read(&ChartTree(tree), &path, &path, limits.archive)
            .map_err(LoadError::Files)
            .and_then(|archive| Chart::from_archive(&archive, limits))
    };
    let loaded = loaded.map_err(|source| LocalError::Load {
        path,
        reference,
        source,
    })?;
    let version = &loaded.metadata.version;
    let parsed = Version::parse(version).map_err(|error| LocalError::Version(version.clone(), error))?;
    if !range.matches(&parsed) {
        return Err(LocalError::NoMatch(wanted.clone()));
    }
    Ok(loaded)
}

async fn remote(
    known: &mut BTreeMap<String, Arc<dyn ChartFetcher>>,
    repositories: &dyn Repositories,
    dependency: &Dependency,
    limits: &Limits,
) -> Result<Chart, RemoteError> {
    // An alias is no address, so it must be found before an address is made of it.
    address::check_dependency(&dependency.repository)?;
    let url = address::normalise(&dependency.repository)?;
    let shown = address::without_secrets(&url);
    let fetcher = match known.get(&url) {
        Some(fetcher) => fetcher.clone(),
        None => {
            let found = repositories.repository(&url).await;
            let fetcher = found.map_err(|error| RemoteError::Repository(shown.clone(), error))?;
            known.insert(url, fetcher.clone());
            fetcher
        }
    };
    let found = fetcher.find(&dependency.name, &dependency.version).await;
    let found = found.map_err(|source| RemoteError::Find {
        name: dependency.name.clone(),
        version: dependency.version.clone(),
        repository: shown,
        source,
    })?;
    let archive = fetcher.download(&found).await;
    let archive = archive.map_err(|error| RemoteError::Download(found.version.clone(), error))?;
    Chart::from_archive(&archive, limits).map_err(|error| RemoteError::Load(found.version, error))
}
