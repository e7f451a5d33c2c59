//! Which version of a chart is meant.

use std::cmp::Ordering;

use model::semver::{Constraint, ConstraintError, Version, parse_tag};

use super::ChartVersion;

/// Why no version was picked.
#[derive(Debug, thiserror::Error)]
pub enum PickError {
    /// The index does not have the chart.
    #[error("no chart name found: the repository has no chart '{0}': check its name")]
    NoChart(String),
    /// The index has the chart, but no valid version of it.
    #[error("no chart version found: the repository has no valid version of chart '{0}': publish one")]
    NoVersions(String),
    /// The wanted version is no range.
    #[error(
        "the version '{wanted}' of chart '{chart}' is neither a version of the repository nor a range of versions; write a range \
         like '1.x' or '>=1.2.0 <2.0.0'"
    )]
    Range {
        /// The chart.
        chart: String,
        /// What was wanted.
        wanted: String,
        /// What is wrong with it.
        source: ConstraintError,
    },
    /// No version is in the range.
    #[error(
        "no '{chart}' chart with version matching '{wanted}' found: check the version and those that the repository has"
    )]
    NoMatch {
        /// The chart.
        chart: String,
        /// What was wanted.
        wanted: String,
    },
}

/// Picks the version that is written exactly so, or else the highest in the range. An empty wish means the highest release.
/// Of versions that differ only in build metadata the youngest wins, and of equally old ones the last.
pub fn pick(chart: &str, versions: Vec<ChartVersion>, wanted: &str) -> Result<ChartVersion, PickError> {
    if versions.is_empty() {
        return Err(PickError::NoVersions(chart.to_owned()));
    }
    let is_wanted = |version: &ChartVersion| !wanted.is_empty() && version.metadata.version == wanted;
    if let Some(index) = versions.iter().position(is_wanted) {
        return versions
            .into_iter()
            .nth(index)
            .ok_or_else(|| PickError::NoVersions(chart.to_owned()));
    }
    let range = if wanted.is_empty() { "*" } else { wanted };
    let range = Constraint::parse(range).map_err(|source| PickError::Range {
        chart: chart.to_owned(),
        wanted: wanted.to_owned(),
        source,
    })?;
    let mut best: Option<(Version, ChartVersion)> = None;
    for candidate in versions {
        let Ok(version) = parse_tag(&candidate.metadata.version) else {
            continue;
        };
        let better = |best: &(Version, ChartVersion)| match version.cmp(&best.0) {
            Ordering::Equal => candidate.created_at() >= best.1.created_at(),
            order => order.is_gt(),
        };
        if range.matches(&version) && best.as_ref().is_none_or(better) {
            best = Some((version, candidate));
        }
    }
    best.map(|(_, best)| best).ok_or_else(|| PickError::NoMatch {
        chart: chart.to_owned(),
        wanted: wanted.to_owned(),
    })
}
