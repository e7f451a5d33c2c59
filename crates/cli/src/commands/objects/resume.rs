//! `sluice resume`

use std::process::ExitCode;

use super::api::Place;
use super::change::{self, Change, Which};
use super::choice::{Choice, Verb};
use super::kinds::Kind;
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
    const DOES: &'static str = "Resume";

    fn suits(kind: &Kind) -> bool {
        kind.suspends
    }
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, mut args, .. } = choice;
    let change = Change {
        doing: "resuming",
        done: "resumed",
        suspend: false,
        waits: args.wait || args.which.names.len() == 1,
    };
    change::all(kinds, &args.which, &mut args.place, &change).await
}
