//! `sluice apiserver`: the embedded Kubernetes API alone.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use apiserver::auth::User;
use apiserver::{Listening, Server, simulator};
use model::json;
use tokio::net::TcpListener;

/// Run the embedded Kubernetes API alone
///
/// It keeps everything in memory and is for development: it runs no containers, and what it holds is gone when it ends.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Write the kubeconfig to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The administrator's bearer token; a random one where none is given
    #[arg(
        long,
        env = "SLUICE_APISERVER_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    token: Option<String>,

    /// Let workloads come up as if there were nodes; no container runs
    #[arg(long)]
    simulate: bool,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("failed to listen on {}", args.listen))?;
    let token = args.token.unwrap_or_else(new_token);
    let mut builder = Server::builder().token(token.as_str(), User::new("admin", &["system:masters"]));
    if args.simulate {
        builder = builder.simulator(simulator::Options::default());
    }
    let server = builder.start();
    let listening = server.listen(listener)?;
    let kubeconfig = kubeconfig(&listening, &token);
    match &args.kubeconfig {
        Some(file) => write_secret(file, &kubeconfig)?,
        None => print!("{kubeconfig}"),
    }
    eprintln!(
        "Kubernetes API on https://{} (development only: nothing is stored, no container runs). Ctrl-C ends it.",
        listening.address
    );
    tokio::signal::ctrl_c()
        .await
        .context("failed to wait for Ctrl-C")?;
    server.stop();
    Ok(ExitCode::SUCCESS)
}

/// A bearer token nobody can guess.
pub(super) fn new_token() -> String {
    let mut bytes = [0; 24];
    aws_lc_rs::rand::fill(&mut bytes).expect("the system has randomness");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The kubeconfig of the user with this token.
pub(super) fn kubeconfig(listening: &Listening, token: &str) -> String {
    let mut text = Vec::new();
    json::write_pretty(&listening.kubeconfig(token), 2, &mut text);
    text.push(b'\n');
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a file that only its owner may read.
pub(super) fn write_secret(file: &Path, text: &str) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(file)
        .and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.with_context(|| format!("failed to write {}", file.display()))
}
