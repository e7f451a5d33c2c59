//! `sluice resume`

use std::process::ExitCode;

use serde_json::json;

use super::api::{Objects, Place};
use super::choice::{Choice, Verb};
use super::kinds::Kind;
use super::suspend::Which;
use super::wait;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,

    /// Wait until the objects are ready; a single one is waited for anyway
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    wait: bool,

    #[command(flatten)]
    place: Place,
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
        let resumed = args.place.limited(async {
            let (found, mut problems) = args.which.find(&objects, &args.place.namespace).await?;
            for name in &found {
                eprintln!(
                    "► resuming {} {name} in {} namespace",
                    kind.human, args.place.namespace
                );
                objects.patch(name, &json!({"spec": {"suspend": false}})).await?;
                eprintln!("✔ {} resumed", kind.human);
            }
            if (args.wait || args.which.names.len() == 1) && kind.is_worked_on {
                problems.extend(waited(&objects, &found).await);
            }
            Ok(problems)
        });
        for problem in resumed.await? {
            eprintln!("✗ {problem}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

async fn waited(objects: &Objects, names: &[String]) -> Vec<String> {
    let kind = objects.kind.names.kind;
    eprintln!("◎ waiting for {kind} reconciliation");
    let waits = names
        .iter()
        .map(|name| wait::until_ready(objects, name, |_| true));
    let mut problems = Vec::new();
    for (name, waited) in names.iter().zip(futures::future::join_all(waits).await) {
        match waited {
            Ok(object) => {
                eprintln!("✔ {kind} {name} reconciliation completed");
                eprintln!("✔ {}", wait::told(&object));
            }
            Err(error) => problems.push(format!("{kind} {name} reconciliation failed: {error:#}")),
        }
    }
    problems
}
