//! `sluice suspend`

use std::process::ExitCode;

use super::api::Place;
use super::change::{self, Change, Which};
use super::choice::{Choice, Verb};
use super::kinds::Kind;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    place: Place,
}

impl Verb for Args {
    const DOES: &'static str = "Suspend";

    fn suits(kind: &Kind) -> bool {
        kind.suspends
    }
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, mut args, .. } = choice;
    let change = Change {
        doing: "suspending",
        done: "suspended",
        suspend: true,
        waits: false,
    };
    change::all(kinds, &args.which, &mut args.place, &change).await
}
