//! The workspace's own chores. `cargo xtask --help` lists them.

mod built_tests;
mod compare_crds;
mod generate;
mod real_cluster;
mod real_programs;
mod tidy;

use clap::Parser;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The workspace's own chores")]
enum Command {
    /// Run tests of some crates out of the build of all of them
    BuiltTests(built_tests::Args),
    /// Our CustomResourceDefinitions beside upstream's, field by field
    CompareCrds(compare_crds::Args),
    /// Make a committed file anew
    #[command(subcommand)]
    Generate(generate::Command),
    /// A real Kubernetes control plane on loopback, for tests
    #[command(subcommand)]
    RealCluster(real_cluster::Command),
    /// The real programs for Git, registries and charts, for tests
    #[command(subcommand)]
    RealPrograms(real_programs::Command),
    /// Check the rules of the repository
    Tidy,
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::BuiltTests(args) => built_tests::run(&args),
        Command::CompareCrds(args) => compare_crds::run(&args),
        Command::Generate(command) => generate::run(command),
        Command::RealCluster(command) => real_cluster::run(command),
        Command::RealPrograms(command) => real_programs::run(command),
        Command::Tidy => tidy::run(),
    }
}
