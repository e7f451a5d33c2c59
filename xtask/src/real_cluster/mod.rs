//! A real Kubernetes control plane on loopback, for tests that must hold on more than our own server.
//!
//! etcd, kube-apiserver and kube-controller-manager are built from the Go module registry, kept outside the
//! checkout and run as ordinary processes: no container engine, no root. With `--nodes` a scheduler and a
//! simulated node join, so that Pods become ready although nothing runs them.
//!
//! Reading order: [`home`] says where things are, [`build`] makes the programs, [`start`] runs them.

mod build;
mod certificates;
mod etcd;
mod exec;
mod home;
mod kubeconfig;
mod pins;
mod process;
mod start;
mod stop;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use home::Home;

/// `cargo xtask real-cluster ...`
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build the programs and stop there; about 6 minutes on two free cores the first time
    Build {
        /// Also build what `start --nodes` needs
        #[arg(long)]
        nodes: bool,
    },
    /// Start a cluster, or what is missing of it, and wait until it is ready
    Start {
        #[command(flatten)]
        name: Name,
        #[command(flatten)]
        options: start::Options,
    },
    /// Stop a cluster and keep its data
    Stop {
        #[command(flatten)]
        name: Name,
    },
    /// Show which programs of which clusters run
    Status,
    /// Stop a cluster and delete its data
    Reset {
        #[command(flatten)]
        name: Name,
    },
    /// Print the path of a cluster's kubeconfig (contexts: admin, admin-token, nobody)
    Kubeconfig {
        #[command(flatten)]
        name: Name,
    },
    /// Run a command against a fresh cluster, named to it by SLUICE_TEST_KUBECONFIG, and tear the cluster down
    Exec {
        #[command(flatten)]
        options: start::Options,
        /// The command and its arguments, after `--`
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

/// Which of the clusters that may run side by side.
#[derive(Args)]
pub(crate) struct Name {
    /// Name of the cluster; each has its own ports and data
    #[arg(long, default_value = "default", value_parser = home::parse_name)]
    name: String,
}

/// Runs one subcommand.
pub(crate) fn run(command: Command) -> anyhow::Result<()> {
    let home = Home::from_environment()?;
    match command {
        Command::Build { nodes } => {
            let programs = build::programs(&home, pins::needed(nodes))?;
            for path in programs.values() {
                println!("{}", path.display());
            }
            Ok(())
        }
        Command::Start { name, options } => {
            let kubeconfig = start::start(&home, &name.name, &options)?;
            println!("export KUBECONFIG={}", kubeconfig.display());
            Ok(())
        }
        Command::Stop { name } => stop::stop(&home.cluster(&name.name), stop::How::Gently),
        Command::Reset { name } => stop::reset(&home.cluster(&name.name)),
        Command::Status => status(&home),
        Command::Kubeconfig { name } => {
            println!("{}", existing_kubeconfig(&home, &name.name)?.display());
            Ok(())
        }
        Command::Exec { options, command } => exec::exec(&home, &options, &command),
    }
}

fn existing_kubeconfig(home: &Home, name: &str) -> anyhow::Result<PathBuf> {
    let path = home.cluster(name).kubeconfig();
    anyhow::ensure!(
        path.exists(),
        "cluster {name:?} was never started; run `cargo xtask real-cluster start --name {name}`"
    );
    Ok(path)
}

fn status(home: &Home) -> anyhow::Result<()> {
    let clusters = home.clusters()?;
    if clusters.is_empty() {
        println!("no cluster; `cargo xtask real-cluster start` starts one");
    }
    for cluster in clusters {
        println!("{}", cluster.name());
        for part in pins::PARTS {
            match process::Record::read(&cluster.record(part))?.filter(process::Record::is_alive) {
                Some(record) => {
                    println!(
                        "  {part:<24} pid {:<8} {} MiB",
                        record.pid,
                        record.resident_mebibytes()
                    )
                }
                None => println!("  {part:<24} down"),
            }
        }
    }
    Ok(())
}
