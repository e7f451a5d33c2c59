//! `sluice suspend`

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::bail;
use kube::api::ListParams;
use serde_json::{Value, json};

use super::api::{Objects, Place};
use super::choice::{Choice, Verb};
use super::kinds::Kind;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) which: Which,

    #[command(flatten)]
    place: Place,
}

/// The objects a verb is about.
#[derive(clap::Args)]
pub(crate) struct Which {
    /// The names of the objects
    pub(super) names: Vec<String>,

    /// All objects of the namespace
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    pub(super) all: bool,
}

impl Verb for Args {
    fn suits(kind: &Kind) -> bool {
        kind.suspends
    }
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, mut args, .. } = choice;
    let client = args.place.reach().await?;
    let mut code = ExitCode::SUCCESS;
    for kind in kinds {
        let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
        let suspended = args.place.limited(async {
            let (found, missing) = args.which.find(&objects, &args.place.namespace).await?;
            for name in &found {
                eprintln!(
                    "► suspending {} {name} in {} namespace",
                    kind.human, args.place.namespace
                );
                objects.patch(name, &json!({"spec": {"suspend": true}})).await?;
                eprintln!("✔ {} suspended", kind.human);
            }
            Ok(missing)
        });
        for problem in suspended.await? {
            eprintln!("✗ {problem}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

impl Which {
    /// The names of those that are there, each once, and what is to be said of the others.
    pub(super) async fn find(
        &self,
        objects: &Objects,
        namespace: &str,
    ) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let kind = objects.kind;
        if self.names.is_empty() && !self.all {
            bail!("{} name is required, or --all", kind.human);
        }
        let listed = objects.list(&ListParams::default()).await?.unwrap_or_default();
        let name_of = |object: &Value| object["metadata"]["name"].as_str().map(str::to_owned);
        let there: BTreeSet<String> = listed.iter().filter_map(name_of).collect();
        if self.names.is_empty() {
            let problem = format!("no {} objects found in {namespace} namespace", kind.names.kind);
            let problems = if there.is_empty() {
                vec![problem]
            } else {
                Vec::new()
            };
            return Ok((there.into_iter().collect(), problems));
        }
        let mut seen = BTreeSet::new();
        let wanted = self.names.iter().filter(|name| seen.insert(name.as_str()));
        let (found, missing): (Vec<_>, Vec<_>) = wanted.cloned().partition(|name| there.contains(name));
        let missing = missing
            .into_iter()
            .map(|name| format!("{} {name} not found in {namespace} namespace", kind.names.kind));
        Ok((found, missing.collect()))
    }
}
