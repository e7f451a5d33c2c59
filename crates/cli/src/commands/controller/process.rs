//! What all controllers of a process stand on: logs, the cluster, the servers beside the work, the lease, the signals.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use controllers::kit::{
    Endpoint, Group, Metrics, Options, Reconcile, Recorder, Runner, WaitedFor, lease, listen, logs,
};
use futures::future::BoxFuture;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt as _;

use super::listing::Problems;
use super::settings::Settings;

/// How long runs that go on may take once the process shall end. Pods are killed after ten seconds.
const LAST_RUNS: Duration = Duration::from_secs(4);
/// How long each of the rest may take: downloads, events that are not told yet, the lease.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// Logs from now on.
pub(super) fn start_logs(level: Level, encoding: logs::Encoding) {
    let logs = logs::Logs::new(level, encoding, io::stderr());
    let subscriber = tracing_subscriber::registry().with(logs);
    // A test may have set one already.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Why a process ended that should go on.
pub(super) enum Failed {
    /// It could not begin: all that is wrong.
    ToStart(Problems),
    /// It could not go on.
    ToGoOn(anyhow::Error),
}

/// Tells how a process ended.
pub(super) fn ended(result: Result<(), Failed>) -> ExitCode {
    match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failed::ToStart(problems)) => problems.log(),
        Err(Failed::ToGoOn(error)) => {
            tracing::error!(error = format!("{error:#}"), "problem running manager");
        }
    }
    ExitCode::FAILURE
}

/// A process that can begin to work.
pub(super) struct Process {
    pub(super) client: Client,
    pub(super) metrics: Metrics,
    pub(super) recorder: Recorder,
    waited_for: WaitedFor,
    settings: Settings,
    endpoints: Vec<(Endpoint, TcpListener)>,
    signals: Signals,
}

impl Process {
    /// Reaches for all that is needed. What is missing is noted.
    pub(super) async fn prepare(settings: Settings, problems: &mut Problems) -> Option<Self> {
        let metrics = Metrics::new();
        let signals = problems.take("unable to listen to signals", Signals::new());
        let config = config(&settings).await.map_err(|error| format!("{error:#}"));
        let config = problems.take("unable to find a cluster", config);
        let mut endpoints = Vec::new();
        for (what, address, endpoint) in [
            (
                "metrics",
                &settings.metrics_address,
                Endpoint::Metrics(metrics.clone()),
            ),
            ("health", &settings.health_address, Endpoint::Health),
        ] {
            let Some(address) = address else { continue };
            let listener = listen(address)
                .await
                .map_err(|error| format!("{error}: address {address:?}; choose another with --{what}-addr"));
            let listener = problems.take(&format!("unable to serve {what}"), listener);
            endpoints.extend(listener.map(|listener| (endpoint, listener)));
        }
        let config = config?;
        let host = config.cluster_url.authority().map(ToString::to_string);
        let client = engine::cluster::connect_patiently(config)
            .map_err(|error| format!("{:#}", anyhow::Error::from(error)));
        let client = problems.take("unable to make a client of the cluster", client)?;
        let client = metrics.counting(client, host.unwrap_or_default());
        let recorder = Recorder::new(
            client.clone(),
            settings.controller,
            settings.events_address.clone(),
        );
        Some(Process {
            client,
            metrics,
            recorder,
            waited_for: WaitedFor::default(),
            settings,
            endpoints,
            signals: signals?,
        })
    }

    /// Has a controller work.
    pub(super) fn begin<R: Reconcile>(&self, group: &mut Group, reconciler: R) {
        let (client, recorder) = (self.client.clone(), self.recorder.clone());
        group.start(&Runner::new(reconciler, client, recorder, self.options()));
    }

    /// How its controllers run.
    pub(super) fn options(&self) -> Options {
        let settings = &self.settings;
        Options {
            concurrent: settings.concurrent,
            backoff: settings.backoff,
            jitter: settings.jitter,
            label_selector: settings.label_selector.clone(),
            namespace: settings.namespace.clone(),
            metrics: self.metrics.clone(),
            waited_for: self.waited_for.clone(),
            ..Options::new(settings.controller)
        }
    }

    /// Runs what `lead` starts once this instance may work, until a signal comes or it may not work any more.
    ///
    /// # Errors
    /// Where the work cannot begin, ends by itself, or the lease is lost.
    pub(super) async fn run<L: Leader>(mut self, lead: L) -> anyhow::Result<()> {
        for (endpoint, listener) in std::mem::take(&mut self.endpoints) {
            tokio::spawn(endpoint.serve(listener));
        }
        let mut elector = self.elector();
        if let Some(elector) = &mut elector {
            tracing::info!("attempting to acquire leader lease");
            tokio::select! {
                () = elector.acquire() => tracing::info!("successfully acquired lease"),
                () = self.signals.next() => return Ok(()),
            }
            self.note_lease(true);
        }
        let ended = self.work(lead, elector.as_mut()).await;
        let words = self.recorder.drain();
        if tokio::time::timeout(LAST_WORDS, words).await.is_err() {
            tracing::error!("some events were not told in time");
        }
        // A lease that was lost is another's already.
        if let (true, Some(elector)) = (self.settings.release_on_end, &mut elector) {
            let released = tokio::time::timeout(LAST_WORDS, elector.release()).await;
            if !matches!(released, Ok(Ok(()))) {
                tracing::error!("the lease was not released: the next instance waits until it runs out");
            }
        }
        ended
    }

    async fn work<L: Leader>(&mut self, lead: L, elector: Option<&mut lease::Elector>) -> anyhow::Result<()> {
        let mut group = Group::new();
        let mut serving = lead.start(self, &mut group).await?;
        let held = async {
            match elector {
                Some(elector) => elector.hold().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Another instance may be at work by now.
            lost = held => return Err(lost.into()),
            ended = &mut serving.running => return ended.context("the artifact server ended"),
            () = group.ended() => anyhow::bail!("a controller ended"),
            () = self.signals.next() => {}
        }
        tracing::info!("shutting down: waiting for what is being worked on");
        tokio::select! {
            () = drain(group, serving) => Ok(()),
            () = self.signals.next() => {
                tracing::error!("told twice: ending at once");
                std::process::exit(1);
            }
        }
    }

    fn elector(&self) -> Option<lease::Elector> {
        let mut options = self.settings.lease.clone()?;
        if options.namespace.is_empty() {
            options.namespace = self.client.default_namespace().to_owned();
        }
        self.note_lease(false);
        Some(lease::Elector::new(self.client.clone(), options))
    }

    fn note_lease(&self, leads: bool) {
        if let Some(lease) = &self.settings.lease {
            self.metrics.set_leader(&lease.name, leads);
        }
    }
}

/// Lets what goes on come to its end. What is stored is served meanwhile, and downloads that have begun end.
async fn drain(mut group: Group, serving: Serving) {
    let runs = async {
        if !group.stop(LAST_RUNS).await {
            tracing::info!("what was being worked on is cut off; the next start goes on with it");
        }
        let _ = serving.stop.send(());
    };
    let served = tokio::time::timeout(LAST_RUNS + LAST_WORDS, serving.running);
    // A server that fails now would have ended anyway.
    let _ = tokio::join!(runs, served);
}

/// The server that belongs to what was started.
pub(super) struct Serving {
    /// Runs until it fails or was told to stop.
    pub(super) running: BoxFuture<'static, anyhow::Result<()>>,
    /// Has it answer what is under way and end.
    pub(super) stop: oneshot::Sender<()>,
}

impl Serving {
    /// None: there is nothing to serve.
    pub(super) fn nothing() -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let running = async move {
            // Whoever could tell it to stop may be gone too.
            let _ = stopped.await;
            Ok(())
        };
        Serving {
            running: Box::pin(running),
            stop,
        }
    }
}

/// What an instance does once it may work.
pub(super) trait Leader {
    /// Starts controllers, and the server that belongs to them.
    fn start(self, process: &Process, group: &mut Group) -> impl Future<Output = anyhow::Result<Serving>>;
}

/// How the cluster is reached: by the kubeconfig that is named, else as usual.
async fn config(settings: &Settings) -> anyhow::Result<Config> {
    let Some(path) = &settings.kubeconfig else {
        return Config::infer().await.context(
            "there is neither a kubeconfig nor a service account; run in a pod, or name a file with --kubeconfig",
        );
    };
    let unusable = || format!("the kubeconfig {} cannot be used", path.display());
    let kubeconfig = Kubeconfig::read_from(path).with_context(unusable)?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .with_context(unusable)
}

/// What tells a process to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
