//! From the objects to a healthy cluster: N Kustomizations of four objects each that are waited for, each with an OCIRepository of its
//! own, all of one OCI artifact, or N HelmReleases of one chart, as Flux's benchmark has them. `bench/mttp` runs it; `bench/README.md` tells
//! how to read it.
//!
//! Each measurement has a real cluster of its own, made by `cargo xtask real-cluster exec`, inside of which this program runs
//! itself again: [`options`] says which of the two it is, [`measure`] is what happens inside, [`table`] prints what came out.

mod audit;
mod bare;
mod chain;
mod clock;
mod controllers;
mod definitions;
mod manifests;
mod measure;
mod options;
#[path = "../process/mod.rs"]
mod process;
mod published;
mod releases;
mod shape;
mod table;
mod watched;
mod workload;

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, ensure};

use measure::Figures;
use options::{Options, Who};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` only wants to know that it builds.
    if arguments.iter().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    match Options::parse(&arguments).and_then(|options| run(&options)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("mttp: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if options.inside || options.embedded {
        let runtime = tokio::runtime::Runtime::new().context("a runtime cannot be started")?;
        let figures = runtime.block_on(measure::measure(options))?;
        match options.inside {
            true => println!("{}", serde_json::to_string(&figures)?),
            false => table::print(&[figures]),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = Vec::new();
    for count in &options.counts {
        for who in options.who() {
            eprintln!("{count} {}s, {who}", options.shape().kind());
            all.push(in_a_cluster(options, *count, who)?);
        }
    }
    table::print(&all);
    let missed = table::targets(&all);
    Ok(match options.strict && missed > 0 {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// Runs this program again, with a fresh cluster.
fn in_a_cluster(options: &Options, count: usize, who: Who) -> anyhow::Result<Figures> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let output = Command::new("cargo")
        .args(["xtask", "real-cluster", "exec", "--audit", "--"])
        .arg(program)
        .args(options.of_one(count, who))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be run")?;
    ensure!(
        output.status.success(),
        "the measurement failed: {}",
        output.status
    );
    let text = String::from_utf8(output.stdout)?;
    let line = text.lines().last().context("the measurement said nothing")?;
    serde_json::from_str(line).context("the measurement cannot be read")
}
