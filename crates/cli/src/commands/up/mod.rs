//! `sluice up`: everything on this machine. At this stage: an embedded Kubernetes API kept in sync with a directory of
//! plain YAML.

mod files;
mod follow;
mod pods;
mod refusal;
mod served;
mod status;
mod sync;
mod view;
mod watches;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use apiserver::Server;
use apiserver::auth::User;
use apiserver::simulator;
use kube::Client;
use tokio::net::TcpListener;

use follow::Follower;
use view::View;

/// Run everything on this machine and keep it in sync with a directory
///
/// Starts an embedded Kubernetes API, applies the YAML files below DIR, and keeps both in sync: saved files are applied,
/// removed ones are pruned, changes that others make to fields in the files are put right. Everything is tried out before
/// anything is changed. Workloads come up as if there were nodes; no container runs. Hidden files and symbolic links are
/// left out.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory with the YAML files
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,

    /// Exit when everything is ready (0) or something has failed (1)
    #[arg(long)]
    once: bool,

    /// How long everything may take with --once, in seconds
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Write a kubeconfig for the embedded API to this file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// How long a simulated pod takes to start, in milliseconds
    #[arg(long, default_value_t = 500, value_name = "MS")]
    start_delay: u64,
}

/// Why it ended.
enum End {
    Decided(ExitCode),
    Late,
    Stopped,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.folder.is_dir() {
        bail!(
            "{} is not a directory\nhint: name the directory that holds your YAML files, for example `sluice up examples/hello`",
            args.folder.display()
        );
    }
    // Set up first, so that no signal that comes from now on is lost.
    let stop = stop_signal()?;
    let options = simulator::Options {
        start_delay: Duration::from_millis(args.start_delay),
        ..Default::default()
    };
    let token = super::apiserver::new_token();
    let server = Server::builder()
        .simulator(options)
        .token(token.as_str(), User::new("admin", &["system:masters"]))
        .start();
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .context("failed to listen on 127.0.0.1")?;
    let listening = server.listen(listener)?;
    let scratch = tempfile::tempdir().context("failed to make a temporary directory")?;
    let kubeconfig = args
        .kubeconfig
        .clone()
        .unwrap_or_else(|| scratch.path().join("kubeconfig"));
    super::apiserver::write_secret(&kubeconfig, &super::apiserver::kubeconfig(&listening, &token))?;
    let mut view = View::new();
    view.say(&view::greeting(&args.folder, &kubeconfig, listening.address));
    let client = Client::new(server.service(), "default");
    let mut follower = Follower::new(args.folder.clone(), args.once, client, view);
    // Whatever the follower is at, it can be ended: all it holds is in the cluster that ends with it.
    let end = tokio::select! {
        biased;
        () = stop => End::Stopped,
        () = tokio::time::sleep(Duration::from_secs(args.timeout)), if args.once => End::Late,
        code = follower.follow() => End::Decided(code),
    };
    server.stop();
    Ok(match end {
        End::Decided(code) => code,
        End::Stopped => ExitCode::SUCCESS,
        End::Late => {
            follower.report_late(args.timeout);
            ExitCode::FAILURE
        }
    })
}

/// Ends when the user or the system asks the program to end.
#[cfg(unix)]
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let watch = |kind| signal(kind).context("failed to watch for signals");
    let mut interrupt = watch(SignalKind::interrupt())?;
    let mut terminate = watch(SignalKind::terminate())?;
    let mut hang_up = watch(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
