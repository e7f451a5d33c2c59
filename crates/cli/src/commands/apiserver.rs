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
    let token = args.token.unwrap_or_else(new_token);
    check_token(&token)?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("failed to listen on {}", args.listen))?;
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
        listening.reachable()
    );
    if listening.address.ip().is_unspecified() {
        eprintln!(
            "It listens on all interfaces, so other machines can reach it. Its certificate is for localhost only."
        );
    }
    tokio::signal::ctrl_c()
        .await
        .context("failed to wait for Ctrl-C")?;
    server.stop();
    Ok(ExitCode::SUCCESS)
}

/// Refuses tokens that no header can carry. The token itself is a secret and is not shown.
fn check_token(token: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        !token.is_empty(),
        "the token is empty; leave out --token and SLUICE_APISERVER_TOKEN to get a random one"
    );
    anyhow::ensure!(
        token.bytes().all(|byte| byte.is_ascii_graphic()),
        "the token has spaces, control characters or letters that are not ASCII; \
         use letters, digits and signs such as - and _ only"
    );
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_no_header_can_carry_is_refused_without_being_shown() {
        for token in ["", " ", "a b", "a\n", "a\0", "secr\u{e9}t"] {
            let message = check_token(token).unwrap_err().to_string();
            assert!(message.starts_with("the token "), "{message}");
            assert!(token.trim().is_empty() || !message.contains(token), "{message}");
        }
        check_token(&new_token()).unwrap();
        check_token("abc-DEF_123.~+/=").unwrap();
    }

    #[tokio::test]
    async fn a_kubeconfig_names_an_address_that_clients_can_reach() {
        let server = Server::builder().start();
        for (bound, named) in [
            ("0.0.0.0:0", "https://127.0.0.1:"),
            ("127.0.0.1:0", "https://127.0.0.1:"),
        ] {
            let listener = TcpListener::bind(bound).await.unwrap();
            let listening = server.listen(listener).unwrap();
            let text = kubeconfig(&listening, "t");
            assert!(
                text.contains(&format!("{named}{}\"", listening.address.port())),
                "{text}"
            );
        }
        server.stop();
    }
}
