//! `sluice create`.

mod cluster;
mod export;
mod notation;
mod ssh;

use std::process::Output;

const SLUICE: &str = env!("CARGO_BIN_EXE_sluice");

/// Runs a program that needs no cluster.
async fn run(program: &str, arguments: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).kill_on_drop(true).output().await.unwrap()
}

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}
