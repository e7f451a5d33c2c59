//! The workspace's own chores. `cargo xtask --help` lists them.

mod generate;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The workspace's own chores")]
enum Command {
    /// Make a committed file anew
    #[command(subcommand)]
    Generate(generate::Command),
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Generate(command) => generate::run(command),
    }
}
