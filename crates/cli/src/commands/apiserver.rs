//! `sluice apiserver`: the embedded Kubernetes API alone.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use apiserver::Server;
use apiserver::auth::User;
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
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("failed to listen on {}", args.listen))?;
    let token = args
        .token
        .unwrap_or_else(|| format!("{:032x}", std::process::id()));
    let server = Server::builder()
        .token(token.as_str(), User::new("admin", &["system:masters"]))
        .start();
    let listening = server.listen(listener)?;
    let mut text = Vec::new();
    json::write_pretty(&listening.kubeconfig(&token), 2, &mut text);
    text.push(b'\n');
    match &args.kubeconfig {
        Some(file) => {
            std::fs::write(file, text).with_context(|| format!("failed to write {}", file.display()))?
        }
        None => print!("{}", String::from_utf8_lossy(&text)),
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
