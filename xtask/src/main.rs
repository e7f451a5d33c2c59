//! The workspace's own chores. `cargo xtask --help` lists them.

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The workspace's own chores")]
enum Command {}

fn main() -> anyhow::Result<()> {
    match Command::parse() {}
}
