//! `sluice delete`

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::bail;

use super::api::{Objects, Place};
use super::choice::{Choice, Verb};
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the object
    name: String,

    /// Do not ask
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    silent: bool,

    #[command(flatten)]
    place: Place,
}

impl Verb for Args {
    const DOES: &'static str = "Delete";
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, mut args, .. } = choice;
    let client = args.place.reach().await?;
    for kind in kinds {
        let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
        args.place.limited(objects.get(&args.name)).await?;
        let question = format!("Are you sure you want to delete this {}", kind.human);
        if !args.silent && !is_agreed(&question, "--silent deletes without asking")? {
            bail!("aborting");
        }
        eprintln!(
            "► deleting {} {} in {} namespace",
            kind.human, args.name, args.place.namespace
        );
        args.place.limited(objects.delete(&args.name)).await?;
        eprintln!("✔ {} deleted", kind.human);
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks, and reads the answer from the terminal or a pipe. Where there is none, the way without asking is told.
pub(crate) fn is_agreed(question: &str, otherwise: &str) -> anyhow::Result<bool> {
    eprint!("{question}? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    if std::io::stdin().read_line(&mut answer)? == 0 {
        eprintln!("");
        bail!("there is nobody to ask: {otherwise}");
    }
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
