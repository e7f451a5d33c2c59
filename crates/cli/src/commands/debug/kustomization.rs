//! `sluice debug kustomization`

use std::process::ExitCode;

use anyhow::Context as _;
use api::kustomize::PostBuild;
use serde_json::json;

use super::or;
use crate::commands::objects::{Objects, Place, named, yaml_of};
use crate::commands::pflag;

#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["show_status", "show_vars", "show_history"])))]
pub(crate) struct Args {
    /// The name of the object
    name: String,

    /// The status
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    show_status: Option<bool>,

    /// The variables that are substituted, as NAME=VALUE
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    show_vars: Option<bool>,

    /// What was applied before
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    show_history: Option<bool>,

    #[command(flatten)]
    place: Place,
}

const STATUS: &str = "# Status documentation: https://fluxcd.io/flux/components/kustomize/kustomizations/#kustomization-status";
const HISTORY: &str =
    "# History documentation: https://fluxcd.io/flux/components/kustomize/kustomizations/#history";

pub(super) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    let kind = named("Kustomization").context("there is no such kind")?;
    let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
    let object = args.place.limited(objects.get(&args.name)).await?;
    if args.show_status == Some(true) {
        print!("{STATUS}\n{}", yaml_of(&or(&object["status"], json!({})))?);
    }
    if args.show_history == Some(true) {
        print!(
            "{HISTORY}\n{}",
            yaml_of(&or(&object["status"]["history"], json!([])))?
        );
    }
    if args.show_vars == Some(true) {
        let post_build = &object["spec"]["postBuild"];
        let post_build: Option<PostBuild> = serde_json::from_value(post_build.clone())?;
        let post_build = post_build.context("no post build substitutions found")?;
        let work = async {
            let namespace = &args.place.namespace;
            let found = controllers::kustomizations::variables(Some(&client), namespace, &post_build, false);
            Ok(found.await?)
        };
        let found = args.place.limited(work).await?;
        for (name, value) in found.variables.iter() {
            println!("{name}={value}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
