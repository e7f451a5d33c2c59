//! `sluice trace`: by whom and from where an object came into the cluster.

mod find;
mod owner;
mod report;

use std::process::ExitCode;

use anyhow::bail;
use kube::Client;
use serde_json::Value;

use crate::commands::objects::Place;
use crate::commands::served::Served;

/// Show by which Kustomization or HelmRelease, and from which source, objects came into the cluster
#[derive(clap::Args)]
#[command(after_help = "Examples:
  sluice trace -n apps deployment my-app
  sluice trace -n redis pod/redis-0 cm/redis
  sluice trace redis --kind=HelmRelease --api-version=helm.toolkit.fluxcd.io/v2 -n redis")]
pub(crate) struct Args {
    /// The objects: TYPE NAME..., or TYPE/NAME...; with --kind and --api-version one NAME
    #[arg(value_name = "OBJECT")]
    objects: Vec<String>,

    /// The kind of the object, such as Deployment
    #[arg(long)]
    kind: Option<String>,

    /// The API version of the object, such as apps/v1
    #[arg(long)]
    api_version: Option<String>,

    #[command(flatten)]
    place: Place,
}

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    args.place.limited(traced(&client, &args)).await?;
    Ok(ExitCode::SUCCESS)
}

async fn traced(client: &Client, args: &Args) -> anyhow::Result<()> {
    let served = Served::by(client).await?;
    let objects = find::objects(client, &served, args).await?;
    for (number, object) in objects.iter().enumerate() {
        if number > 0 {
            println!("---");
        }
        match one(client, &served, object).await {
            Ok(report) => print!("{report}"),
            // The others are traced all the same.
            Err(error) => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let metadata = &object["metadata"];
                eprintln!(
                    "failed to trace {}/{} in namespace {}: {error:#}",
                    text(&object["kind"]),
                    text(&metadata["name"]),
                    text(&metadata["namespace"])
                );
            }
        }
    }
    Ok(())
}

async fn one(client: &Client, served: &Served, object: &Value) -> anyhow::Result<String> {
    let of = |group| owner::managed_by(client, served, object, group);
    if let Some((namespace, name)) = of(api::kustomize::GROUP).await {
        return report::of_kustomization(client, object, &namespace, &name).await;
    }
    if let Some((namespace, name)) = of(api::helm::GROUP).await {
        return report::of_release(client, object, &namespace, &name).await;
    }
    bail!("object not managed by Flux")
}
