//! How every program of controllers begins: logs first, then all that is wrong with its flags and surroundings at once.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use controllers::kit::logs;
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt as _;

use super::flags::Common;
use super::listing::Problems;
use super::part::Part;
use super::process::{Leader, Process};
use super::settings::{LAST_RUNS, Settings, Surroundings, logging, resolve};

/// A program with its flags.
pub(super) trait Program {
    /// What it does once it may work.
    type Work: Leader;

    /// The controllers of Flux that it stands for.
    const PARTS: &'static [Part];

    /// The flags that all programs have.
    fn common(&self) -> &Common;

    /// How long runs that go on may take once the process shall end. What is wrong is noted.
    fn last_runs(&self, _: &mut Problems) -> Duration {
        LAST_RUNS
    }

    /// What its own flags mean. What is wrong is noted, and something stands in its place.
    fn work(&self, common: &Settings, around: &Surroundings, problems: &mut Problems) -> Self::Work;
}

/// Runs a program until it is told to end.
pub(super) async fn run<P: Program>(program: &P) -> ExitCode {
    let mut problems = Problems::default();
    let (level, encoding) = logging(&program.common().logs, &mut problems);
    start_logs(level, encoding);
    let around = Surroundings::read();
    let mut common = resolve(P::PARTS, program.common(), &around, &mut problems);
    common.last_runs = program.last_runs(&mut problems);
    let work = program.work(&common, &around, &mut problems);
    let gates = common.gates.clone();
    let prepared = Process::prepare(common, &mut problems).await;
    let Some(process) = prepared.filter(|_| problems.is_empty()) else {
        problems.log();
        return ExitCode::FAILURE;
    };
    for (gate, on) in &gates {
        tracing::debug!(gate, on, "feature gate");
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "starting manager");
    if let Err(error) = process.run(work).await {
        tracing::error!(error = format!("{error:#}"), "problem running manager");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn start_logs(level: Level, encoding: logs::Encoding) {
    let logs = logs::Logs::new(level, encoding, io::stderr());
    let subscriber = tracing_subscriber::registry().with(logs);
    // A test may have set one already.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
