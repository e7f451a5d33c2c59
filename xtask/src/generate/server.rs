//! A running API server that facts are read from.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use model::{Value, json};

/// Where the server is.
#[derive(clap::Args)]
pub(super) struct Server {
    /// Kubeconfig of the API server to read from
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The kubectl program
    #[arg(long, default_value = "kubectl")]
    kubectl: PathBuf,
}

impl Server {
    /// kubectl, talking to this server.
    pub(super) fn kubectl(&self) -> Command {
        let mut command = Command::new(&self.kubectl);
        if let Some(kubeconfig) = &self.kubeconfig {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        command
    }

    /// What the server answers to a GET.
    pub(super) fn get(&self, path: &str) -> Result<Value> {
        let output = self.kubectl().args(["get", "--raw", path]).output();
        let output = output.with_context(|| format!("failed to run {}", self.kubectl.display()))?;
        ensure!(
            output.status.success(),
            "GET {path}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        json::parse(&output.stdout).with_context(|| format!("GET {path} is not JSON"))
    }
}
