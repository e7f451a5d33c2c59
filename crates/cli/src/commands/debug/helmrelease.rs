//! `sluice debug helmrelease`

use std::process::ExitCode;

use anyhow::Context as _;
use api::helm::HelmRelease;
use serde_json::{Value, json};

use super::or;
use crate::commands::objects::{Objects, Place, named, yaml_of};
use crate::commands::pflag;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["show_status", "show_values", "show_history"])))]
pub(crate) struct Args {
    /// The name of the object
    name: String,

    /// The status
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    show_status: Option<bool>,

    /// The values that the chart gets, those of ConfigMaps and Secrets too
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    show_values: Option<bool>,

    /// What was released before
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    show_history: Option<bool>,

    #[command(flatten)]
    place: Place,
}

const STATUS: &str =
    "# Status documentation: https://fluxcd.io/flux/components/helm/helmreleases/#helmrelease-status";
const HISTORY: &str = "# History documentation: https://fluxcd.io/flux/components/helm/helmreleases/#history";

pub(super) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    let kind = named("HelmRelease").context("there is no such kind")?;
    let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
    let mut object = args.place.limited(objects.get(&args.name)).await?;
    let history = object
        .pointer_mut("/status/history")
        .and_then(Value::as_array_mut);
    for snapshot in history.into_iter().flatten().filter_map(Value::as_object_mut) {
        // So flux shows releases that were not uninstalled.
        snapshot.entry("deleted").or_insert(Value::Null);
    }
    let status = &object["status"];
    if args.show_status == Some(true) {
        print!("{STATUS}\n{}", yaml_of(&or(status, json!({})))?);
    }
    if args.show_history == Some(true) {
        print!("{HISTORY}\n{}", yaml_of(&or(&status["history"], json!([])))?);
    }
    if args.show_values == Some(true) {
        let object: HelmRelease = serde_json::from_value(object).context("the object cannot be read")?;
        let work = async { Ok(controllers::helm_releases::values(&client, &object).await?) };
        let values = args.place.limited(work).await?;
        print!("{}", yaml_of(&serde_json::to_value(values)?)?);
    }
    Ok(ExitCode::SUCCESS)
}
