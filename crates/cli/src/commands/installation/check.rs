//! `sluice check`

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use engine::health::kstatus;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};
use model::health::State;
use model::semver::{Constraint, Version};

use super::found::{self, PART_OF_FLUX};
use crate::commands::objects::{Place, told};
use crate::commands::pflag;

/// The versions of Kubernetes that will do.
const KUBERNETES: &str = ">=1.33.0-0";

/// Look whether the cluster will do and what is installed in it works
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only what has to be so before an installation
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    pre: bool,

    /// Changes nothing: all controllers that are there are looked at
    #[arg(long, hide = true, value_delimiter = ',')]
    components: Vec<String>,

    /// Changes nothing, as --components
    #[arg(long, hide = true, value_delimiter = ',')]
    components_extra: Vec<String>,

    /// How often is looked whether a controller is ready
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = pflag::duration)]
    poll_interval: Duration,

    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    eprintln!("► checking prerequisites");
    let client = args.place.reach().await?;
    let mut is_good = args.place.limited(kubernetes(&client)).await?;
    if args.pre {
        if is_good {
            eprintln!("✔ prerequisites checks passed");
        }
        return Ok(code(is_good));
    }
    eprintln!("► checking version in cluster");
    is_good &= version(&client, &args.place).await;
    eprintln!("► checking controllers");
    is_good &= controllers(&client, &args).await;
    eprintln!("► checking crds");
    is_good &= definitions(&client, &args.place).await;
    match is_good {
        true => eprintln!("✔ all checks passed"),
        false => eprintln!("✗ check failed"),
    }
    Ok(code(is_good))
}

fn code(is_good: bool) -> ExitCode {
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

async fn kubernetes(client: &Client) -> anyhow::Result<bool> {
    let told_version = match client.apiserver_version().await {
        Ok(version) => version.git_version,
        Err(error) => {
            eprintln!("✗ Kubernetes API call failed: {:#}", told(error));
            return Ok(false);
        }
    };
    let Ok(version) = Version::parse(&told_version) else {
        eprintln!("✗ Kubernetes version can't be determined");
        return Ok(false);
    };
    let is_good = Constraint::parse(KUBERNETES)?.matches(&version);
    match is_good {
        true => eprintln!("✔ Kubernetes {version} {KUBERNETES}"),
        false => eprintln!("✗ Kubernetes version {told_version} does not match {KUBERNETES}"),
    }
    Ok(is_good)
}

async fn version(client: &Client, place: &Place) -> bool {
    match place.limited(found::installation(client)).await {
        Ok(Some(installation)) => {
            if !installation.distribution.is_empty() {
                eprintln!("✔ distribution: {}", installation.distribution);
            }
            eprintln!("✔ bootstrapped: {}", installation.is_bootstrapped);
            true
        }
        Ok(None) => {
            eprintln!("✗ checking failed: the definitions are not installed: `sluice install` brings them");
            false
        }
        Err(error) => {
            eprintln!("✗ checking failed: {error:#}");
            false
        }
    }
}

async fn controllers(client: &Client, args: &Args) -> bool {
    let namespace = &args.place.namespace;
    let deployments = match args.place.limited(found::deployments(client, namespace)).await {
        Ok(deployments) => deployments,
        Err(error) => {
            eprintln!("✗ {error:#}");
            return false;
        }
    };
    if deployments.is_empty() {
        eprintln!(
            "✗ no controllers found in the '{namespace}' namespace with the label selector '{PART_OF_FLUX}'"
        );
        return false;
    }
    let mut is_good = true;
    for deployment in deployments {
        let name = deployment.name_any();
        let limit = args.place.timeout;
        let ready = ready(client, deployment.clone(), args.poll_interval, limit).await;
        match &ready {
            Ok(()) => eprintln!("✔ {name}: deployment ready"),
            Err(error) => eprintln!("✗ {name}: deployment not ready: {error:#}"),
        }
        is_good &= ready.is_ok();
        for image in found::images(&deployment) {
            eprintln!("► {image}");
        }
    }
    is_good
}

/// Waits until a Deployment is as it should be.
///
/// # Errors
/// Why it is not in time.
pub(crate) async fn ready(
    client: &Client,
    mut deployment: Deployment,
    pause: Duration,
    limit: Duration,
) -> anyhow::Result<()> {
    let start = tokio::time::Instant::now();
    let namespace = deployment.namespace().unwrap_or_default();
    let all: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    loop {
        let object = serde_json::to_vec(&deployment)?;
        let health = kstatus::assess(&model::json::parse(&object)?, jiff::Timestamp::now());
        if health.state == State::Healthy {
            return Ok(());
        }
        if start.elapsed() + pause > limit {
            let why = match health.message.as_str() {
                "" => "nothing is told of it",
                why => why,
            };
            bail!("not in {limit:?}: {why}");
        }
        tokio::time::sleep(pause).await;
        deployment = all.get(&deployment.name_any()).await.map_err(told)?;
    }
}

async fn definitions(client: &Client, place: &Place) -> bool {
    let all: Api<CustomResourceDefinition> = Api::all(client.clone());
    let wanted = ListParams::default().labels(PART_OF_FLUX);
    let listed = place
        .limited(async { all.list(&wanted).await.map_err(told) })
        .await;
    let definitions = match listed {
        Ok(listed) => listed.items,
        Err(error) => {
            eprintln!("✗ {error:#}");
            return false;
        }
    };
    if definitions.is_empty() {
        eprintln!("✗ no crds found with the label selector '{PART_OF_FLUX}'");
        return false;
    }
    let mut is_good = true;
    for definition in definitions {
        let name = definition.name_any();
        let stored = definition.status.and_then(|status| status.stored_versions);
        match stored.as_ref().and_then(|versions| versions.last()) {
            Some(version) => eprintln!("✔ {name}/{version}"),
            None => {
                eprintln!("✗ no stored versions for {name}");
                is_good = false;
            }
        }
    }
    is_good
}
