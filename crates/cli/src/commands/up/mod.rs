//! `sluice up`: everything on this machine. At this stage: an embedded Kubernetes API kept in sync with a directory of
//! plain YAML.

mod files;
mod status;
mod sync;
mod view;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use apiserver::Server;
use apiserver::auth::User;
use apiserver::simulator;
use futures::StreamExt;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::runtime::{WatchStreamExt, watcher};
use model::{ObjectKey, Value, convert};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use files::Fingerprint;
use sync::{Sync, What};
use view::{Row, View};

/// How often the files are looked at. The cluster is watched, not asked.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Run everything on this machine and keep it in sync with a directory
///
/// Starts an embedded Kubernetes API, applies the YAML files below DIR, and keeps both in sync: saved files are applied,
/// removed ones are pruned, changes made by others are put right. Workloads come up as if there were nodes; no
/// container runs.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory with the YAML files
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,

    /// Exit when everything is ready (0) or something has failed (1)
    #[arg(long)]
    once: bool,

    /// How long everything may take with --once, in seconds
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    timeout: u64,

    /// Write a kubeconfig for the embedded API to this file
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// How long a simulated pod takes to start, in milliseconds
    #[arg(long, default_value_t = 500, value_name = "MS")]
    start_delay: u64,
}

/// A change of an object in the cluster.
struct Seen {
    key: ObjectKey,
    live: Option<Value>,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.folder.is_dir() {
        bail!(
            "{} is not a directory\nhint: name the directory that holds your YAML files, for example `sluice up examples/hello`",
            args.folder.display()
        );
    }
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
    let done = follow(&args, Client::new(server.service(), "default"), &mut view).await;
    server.stop();
    done
}

/// Follows files and cluster until Ctrl-C, or with `--once` until all is decided.
async fn follow(args: &Args, client: Client, view: &mut View) -> anyhow::Result<ExitCode> {
    let (sender, mut seen) = mpsc::channel(1024);
    let mut watches = Watches {
        client: client.clone(),
        sender,
        running: HashMap::new(),
    };
    let mut sync = Sync::new(client);
    let mut files = Files::new(args.folder.clone());
    let mut look = tokio::time::interval(LOOK_EVERY);
    let deadline = tokio::time::sleep(Duration::from_secs(args.timeout));
    tokio::pin!(deadline);
    loop {
        tokio::select! {
            _ = look.tick() => {
                let Some(wanted) = files.changed() else { continue };
                match wanted {
                    Ok(wanted) => {
                        let outcomes = sync.run(wanted).await;
                        view.outcomes(&outcomes);
                        watches.cover(&sync);
                        let failed = outcomes.iter().any(|outcome| matches!(outcome.what, What::Failed(_)));
                        if args.once && failed {
                            return Ok(ExitCode::FAILURE);
                        }
                    }
                    Err(problems) => {
                        view.say(&format!("nothing is applied until this is mended:\n  {}", problems.join("\n  ")));
                        if args.once {
                            return Ok(ExitCode::FAILURE);
                        }
                    }
                }
            }
            Some(Seen { key, live }) = seen.recv() => {
                if let Some(live) = &live && sync.applied.contains_key(&key) {
                    let (state, detail) = status::of(live);
                    view.status(&key, Row { state, detail });
                }
                if let Some(outcome) = sync.restore(&key, live.as_ref()).await {
                    view.outcomes(&[outcome]);
                }
            }
            _ = tokio::signal::ctrl_c() => return Ok(ExitCode::SUCCESS),
            () = &mut deadline, if args.once => {
                return Ok(report_late(args, &sync, view));
            }
        }
        if args.once && files.read_once && view.len() >= sync.applied.len() && view.unready().next().is_none()
        {
            view.say(&format!("all {} objects are ready", view.len()));
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn report_late(args: &Args, sync: &Sync, view: &mut View) -> ExitCode {
    let mut text = format!("not ready after {} s:", args.timeout);
    for (key, row) in view.unready() {
        let place = sync
            .applied
            .get(key)
            .map(|applied| format!(" ({})", applied.place))
            .unwrap_or_default();
        text.push_str(&format!("\n  {key}{place}: {} {}", row.state.word(), row.detail));
    }
    view.say(&text);
    ExitCode::FAILURE
}

/// The files, and whether they changed.
struct Files {
    folder: PathBuf,
    last: Option<Result<Fingerprint, String>>,
    read_once: bool,
}

impl Files {
    fn new(folder: PathBuf) -> Self {
        Files {
            folder,
            last: None,
            read_once: false,
        }
    }

    /// What is wanted now, if the files changed since the last call.
    fn changed(&mut self) -> Option<Result<Vec<files::Wanted>, Vec<String>>> {
        let now = files::fingerprint(&self.folder);
        if self.last.as_ref() == Some(&now) {
            return None;
        }
        self.last = Some(now.clone());
        self.read_once = true;
        Some(
            now.map_err(|problem| vec![problem])
                .and_then(|files| files::read(&files)),
        )
    }
}

/// One watch for each kind of object that was applied.
struct Watches {
    client: Client,
    sender: mpsc::Sender<Seen>,
    running: HashMap<(String, String), tokio::task::JoinHandle<()>>,
}

impl Watches {
    /// Starts the watches that are missing.
    fn cover(&mut self, sync: &Sync) {
        for applied in sync.applied.values() {
            let resource = &applied.resource;
            let kind = (resource.api_version.clone(), resource.kind.clone());
            if self.running.contains_key(&kind) {
                continue;
            }
            let api: Api<DynamicObject> = Api::all_with(self.client.clone(), resource);
            let task = tokio::spawn(watch(api, resource.clone(), self.sender.clone()));
            self.running.insert(kind, task);
        }
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.running.values().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Passes on every change of every object of one kind.
async fn watch(api: Api<DynamicObject>, resource: kube::discovery::ApiResource, sender: mpsc::Sender<Seen>) {
    let mut events = watcher(api, watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let (object, gone) = match event {
            Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) => (object, false),
            Ok(watcher::Event::Delete(object)) => (object, true),
            // The watcher starts anew by itself.
            Ok(watcher::Event::Init | watcher::Event::InitDone) | Err(_) => continue,
        };
        let Ok(mut live) = convert::from_serde(&object) else {
            continue;
        };
        live.set_at(&["apiVersion"], resource.api_version.as_str());
        live.set_at(&["kind"], resource.kind.as_str());
        let key = ObjectKey::of(&live);
        if sender
            .send(Seen {
                key,
                live: (!gone).then_some(live),
            })
            .await
            .is_err()
        {
            return;
        }
    }
}
