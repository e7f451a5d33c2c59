//! Runs a command against a cluster made for it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

use super::home::Home;
use super::process::Record;
use super::{start, stop};

/// Clusters of this command are named by it and by the process that owns them.
pub(super) const PREFIX: &str = "exec-";

/// Starts a fresh cluster, runs the command, removes the cluster whatever happened, and ends with the command's
/// exit code.
pub(super) fn exec(home: &Home, options: &start::Options, command: &[String]) -> anyhow::Result<()> {
    stop::reset_abandoned(home)?;
    let name = format!("{PREFIX}{}", Record::own()?);
    let outcome = run(home, &name, options, command);
    let torn_down = stop::reset(&home.cluster(&name));
    let status = outcome?;
    torn_down?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => std::process::exit(code),
        None => anyhow::bail!("{} ended by {status}", command[0]),
    }
}

fn run(home: &Home, name: &str, options: &start::Options, command: &[String]) -> anyhow::Result<ExitStatus> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // From here on a Ctrl-C or a termination no longer ends this process before the cluster is removed.
        let mut interrupt = signal(SignalKind::interrupt()).context("failed to listen for signals")?;
        let mut terminate = signal(SignalKind::terminate()).context("failed to listen for signals")?;
        let kubeconfig = start::start(home, name, options)?;
        if tokio::time::timeout(Duration::ZERO, interrupt.recv())
            .await
            .is_ok()
        {
            anyhow::bail!("interrupted");
        }
        let mut child = tokio::process::Command::new(&command[0])
            .args(&command[1..])
            .env("SLUICE_TEST_KUBECONFIG", &kubeconfig)
            .env("PATH", path_with(home.programs())?)
            // Tests need not clean up what goes away with the cluster.
            .env("SLUICE_TEST_CLUSTER_DISPOSABLE", "1")
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("failed to run {}", command[0]))?;
        tokio::select! {
            status = child.wait() => status.context("failed to wait for the command"),
            // The terminal sends Ctrl-C to the command too, which ends in its own way.
            _ = interrupt.recv() => child.wait().await.context("failed to wait for the command"),
            _ = terminate.recv() => anyhow::bail!("terminated"),
        }
    })
}

/// The search path with a folder before it.
fn path_with(folder: PathBuf) -> anyhow::Result<OsString> {
    let old = env::var_os("PATH").unwrap_or_default();
    let all = [folder].into_iter().chain(env::split_paths(&old));
    env::join_paths(all).context("a folder's name cannot be in PATH")
}
