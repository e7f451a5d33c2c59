//! Why a chart was not built.

use model::semver;

use crate::helm::chart::{LoadError, PackError, values};
use crate::helm::dependencies;
use crate::helm::fetcher::FetchError;

/// Why a chart was not built. Each variant has the reason that the status of a HelmChart shows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name or path is none.
    #[error("invalid chart reference: {0}")]
    Reference(String),
    /// There is no such chart.
    #[error("invalid chart reference: failed to get chart version for remote reference")]
    NotFound(#[source] FetchError),
    /// What is at the path is no chart.
    #[error("invalid chart reference: there is no valid chart at '{path}': correct the path, or the chart")]
    NoChart {
        /// The path.
        path: String,
        /// What is wrong.
        source: LoadError,
    },
    /// The repository refused the credentials, or its certificate is not trusted.
    #[error("failed to authenticate with the Helm repository")]
    Authentication(#[source] FetchError),
    /// The chart was not fetched.
    #[error("chart pull error: failed to download chart for remote reference")]
    Pull(#[source] FetchError),
    /// What was fetched is no chart.
    #[error("chart pull error: what was downloaded is no valid chart")]
    Pulled(#[source] LoadError),
    /// The signature of the chart is missing or wrong.
    #[error("chart verification error")]
    Verification(#[source] FetchError),
    /// The version cannot have metadata.
    #[error("chart metadata patch error: the version '{version}' cannot get metadata")]
    MetadataPatch {
        /// The version of the chart.
        version: String,
        /// Why not.
        source: semver::Error,
    },
    /// A values file is not there.
    #[error(
        "values files merge error: no values file found at path '{path}' (reference '{reference}'): correct the list of values files, or let missing ones be ignored"
    )]
    NoValuesFile {
        /// Where it was looked for.
        path: String,
        /// What was written.
        reference: String,
    },
    /// A values file cannot be read.
    #[error("values files merge error: could not read values from file '{path}': correct it")]
    ReadValues {
        /// The file.
        path: String,
        /// Why not.
        source: crate::helm::chart::files::Error,
    },
    /// A values file is no map.
    #[error("values files merge error: unmarshaling values from '{path}' failed: correct it")]
    Values {
        /// The file.
        path: String,
        /// What is wrong.
        source: values::Error,
    },
    /// The chart has no `values.yaml` to replace.
    #[error(
        "values files merge error: chart '{0}' has no values.yaml that merged values could replace: add one"
    )]
    NoValues(String),
    /// A dependency was not found or not fetched.
    #[error("dependency build error")]
    Dependency(#[source] Box<dependencies::Error>),
    /// The chart cannot be read.
    #[error("chart package error: the chart cannot be loaded")]
    Load(#[source] LoadError),
    /// The chart cannot be packed.
    #[error("chart package error")]
    Pack(#[source] PackError),
}

impl Error {
    /// The reason, as statuses show it.
    pub fn reason(&self) -> &'static str {
        match self {
            Error::Reference(_) | Error::NotFound(_) | Error::NoChart { .. } => "InvalidChartReference",
            Error::Authentication(_) => "AuthenticationFailed",
            Error::Pull(_) | Error::Pulled(_) => "ChartPullError",
            Error::Verification(_) => "ChartVerificationError",
            Error::MetadataPatch { .. } => "MetadataPatchError",
            Error::NoValuesFile { .. }
            | Error::ReadValues { .. }
            | Error::Values { .. }
            | Error::NoValues(_) => "ValuesFilesError",
            Error::Dependency(_) => "DependencyBuildError",
            Error::Load(_) | Error::Pack(_) => "ChartPackageError",
        }
    }

    /// Whether trying again is of no use until something is changed.
    pub fn is_stalling(&self) -> bool {
        matches!(
            self.reason(),
            "InvalidChartReference" | "MetadataPatchError" | "ValuesFilesError"
        )
    }
}
