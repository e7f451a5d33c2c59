//! `sluice version`

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::found;
use crate::commands::objects::{Place, yaml_of};
use crate::commands::pflag;

/// Show the versions of this program and of what is installed in the cluster
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only that of this program
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    client: bool,

    /// How to print
    #[arg(long, short, value_enum, default_value = "yaml")]
    output: Output,

    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Output {
    Json,
    Yaml,
}

/// The version of this program.
const OWN: &str = concat!("v", env!("CARGO_PKG_VERSION"));

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let mut distribution = None;
    let mut controllers = BTreeMap::new();
    if !args.client {
        let client = args.place.reach().await?;
        let namespace = &args.place.namespace;
        let work = async {
            let installation = found::installation(&client).await?;
            Ok((installation, found::deployments(&client, namespace).await?))
        };
        let (installation, deployments) = args.place.limited(work).await?;
        distribution = installation
            .map(|found| found.distribution)
            .filter(|text| !text.is_empty());
        if deployments.is_empty() {
            bail!(
                "no deployments found in {namespace} namespace: --client shows the version of this program alone"
            );
        }
        for image in deployments.iter().flat_map(found::images) {
            let (name, tag) = split(image).with_context(|| format!("missing image tag in image {image}"))?;
            controllers.insert(name.to_owned(), tag.to_owned());
        }
    }
    match args.output {
        Output::Yaml => {
            // In this order, which is none of the alphabet.
            print!("{}", yaml_of(&json!({"sluice": OWN}))?);
            if let Some(distribution) = distribution {
                print!("{}", yaml_of(&json!({"distribution": distribution}))?);
            }
            if !controllers.is_empty() {
                print!("{}", yaml_of(&json!(controllers))?);
            }
        }
        Output::Json => {
            controllers.insert("sluice".to_owned(), OWN.to_owned());
            controllers.extend(distribution.map(|text| ("distribution".to_owned(), text)));
            println!("{}", serde_json::to_string_pretty(&controllers)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The last part of an image's name, and its tag.
fn split(image: &str) -> Option<(&str, &str)> {
    let last = image.rsplit_once('/').map_or(image, |(_, last)| last);
    last.split_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_a_name_and_a_tag() {
        for (image, expected) in [
            (
                "ghcr.io/fluxcd/source-controller:v1.8.5",
                Some(("source-controller", "v1.8.5")),
            ),
            ("localhost:5000/a:1", Some(("a", "1"))),
            ("a:1@sha256:0", Some(("a", "1@sha256:0"))),
            ("localhost:5000/a", None),
        ] {
            assert_eq!(split(image), expected);
        }
    }
}
