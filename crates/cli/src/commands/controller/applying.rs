//! What the controllers have in common that apply what sources have: flags and their meaning.

use super::listing::Problems;
use super::settings::{Settings, number};

/// The gate that lets objects use service accounts.
const IDENTITY: &str = "ObjectLevelWorkloadIdentity";

/// Flags of the controllers that apply what sources have.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Applying")]
pub(super) struct ApplyingFlags {
    /// How often an artifact that cannot be fetched is tried again
    #[arg(long, default_value = "9", value_name = "COUNT")]
    http_retry: String,

    /// The service account of kubeConfig.configMapRef that name none; needs the gate ObjectLevelWorkloadIdentity
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    default_kubeconfig_service_account: String,

    /// A field manager whose fields are taken over, besides kubectl and, of releases, helm; can be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    override_manager: Vec<String>,
}

/// What they mean.
#[derive(Clone, Debug)]
pub(super) struct Applying {
    pub(super) http_retry: u32,
    pub(super) override_managers: Vec<String>,
    pub(super) default_kubeconfig_service_account: Option<String>,
    /// The host, with its port, to fetch artifacts from instead of the one that they name.
    pub(super) source_host: Option<String>,
}

impl ApplyingFlags {
    /// The meaning of the flags. What is wrong is noted, and something stands in its place.
    pub(super) fn resolve(&self, common: &Settings, problems: &mut Problems) -> Applying {
        let retries = number("--http-retry", &self.http_retry, 0, problems);
        Applying {
            http_retry: u32::try_from(retries).unwrap_or(u32::MAX),
            override_managers: self.override_manager.clone(),
            default_kubeconfig_service_account: account(
                "--default-kubeconfig-service-account",
                &self.default_kubeconfig_service_account,
                common,
                problems,
            ),
            source_host: std::env::var("SOURCE_CONTROLLER_LOCALHOST")
                .ok()
                .filter(|host| !host.is_empty()),
        }
    }
}

/// A service account for objects that name none, where there is one. It needs the gate, as with Flux.
pub(super) fn account(flag: &str, name: &str, common: &Settings, problems: &mut Problems) -> Option<String> {
    let gate = common.gates.get(IDENTITY).copied().unwrap_or_default();
    let name = Some(name).filter(|name| !name.is_empty())?;
    if !gate {
        let why =
            format!("cannot set default service accounts when the feature gate {IDENTITY} is not enabled");
        problems.add(format!("invalid {flag}"), why);
    }
    Some(name.to_owned())
}
