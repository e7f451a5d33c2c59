//! What all controllers of a process stand on: the cluster, the servers beside the work, leases, signals.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use controllers::kit::{
    Endpoint, Group, Metrics, Options, Reconcile, Recorder, Runner, WaitedFor, lease, listen,
};
use futures::future::{BoxFuture, join_all, select_all};
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use source::identity::{self, Environment, Identities};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::listing::Problems;
use super::part::Part;
use super::settings::Settings;

/// How long each of the rest may take once the process shall end: downloads, events that are not told yet, the lease.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// How long the server may take to answer the last writes. Until then the leases are renewed.
const LAST_WRITES: Duration = Duration::from_secs(10);

/// A candidate for the lease of a name.
type Elector = (String, lease::Elector);

/// A process that can begin to work.
pub(super) struct Process {
    pub(super) client: Client,
    pub(super) metrics: Metrics,
    /// Who tells what happened, by the name of the part.
    recorders: BTreeMap<&'static str, Recorder>,
    waited_for: WaitedFor,
    settings: Settings,
    endpoints: Vec<(Endpoint, TcpListener)>,
    /// Where artifacts are unpacked.
    pub(super) scratch: PathBuf,
    end: End,
    /// The client that leases are held with. The writes of all others pass the fence.
    unfenced: Client,
    pub(super) fence: lease::Fence,
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
        let client =
            engine::cluster::connect(config).map_err(|error| format!("{:#}", anyhow::Error::from(error)));
        let client = problems.take("unable to make a client of the cluster", client)?;
        let client = metrics.counting(client, host.unwrap_or_default());
        Some(Process {
            endpoints,
            ..Process::new(client, metrics, settings, End::Signals(signals?))
        })
    }

    /// A process on a cluster that is reached already, with nothing served beside the work, until it is told to end.
    pub(super) fn within(
        client: Client,
        settings: Settings,
        scratch: PathBuf,
        told: oneshot::Receiver<()>,
    ) -> Self {
        Process {
            scratch,
            ..Process::new(client, Metrics::new(), settings, End::Told(Some(told)))
        }
    }

    fn new(unfenced: Client, metrics: Metrics, settings: Settings, end: End) -> Self {
        let fence = lease::Fence::default();
        // A request that is sent again passes the fence again: the lease may be lost since.
        let client = engine::cluster::patient(fence.guard(unfenced.clone()));
        let recorders = settings.parts.iter().map(|part| {
            let address = settings.events_address.clone();
            (part.name, Recorder::new(client.clone(), part.name, address))
        });
        Process {
            recorders: recorders.collect(),
            client,
            metrics,
            waited_for: WaitedFor::default(),
            settings,
            endpoints: Vec::new(),
            scratch: std::env::temp_dir(),
            end,
            unfenced: engine::cluster::patient(unfenced),
            fence,
        }
    }

    /// Has a controller of a part work.
    pub(super) fn begin<R: Reconcile>(&self, group: &mut Group, part: Part, reconciler: R) {
        let recorder = self.recorders.get(part.name).cloned().unwrap_or_else(|| {
            let address = self.settings.events_address.clone();
            Recorder::new(self.client.clone(), part.name, address)
        });
        let runner = Runner::new(reconciler, self.client.clone(), recorder, self.options(part));
        group.start(&runner);
    }

    /// Who the process and its objects are to the clouds. There is one of it for all parts, whose tokens are kept together and
    /// counted.
    pub(super) fn identities(&self) -> Identities {
        let identities = Identities::new(identity::Settings {
            limits: self.settings.tokens,
            trusted: self.settings.trusted_endpoints.clone(),
            ..identity::Settings::new(Environment::of_process())
        });
        let kept = identities.clone();
        self.metrics.tell_tokens(move || kept.tally());
        identities
    }

    /// How the controllers of a part run.
    fn options(&self, part: Part) -> Options {
        let settings = &self.settings;
        Options {
            concurrent: settings.concurrent.unwrap_or(part.concurrent),
            backoff: settings.backoff,
            jitter: settings.jitter,
            label_selector: settings.label_selector.clone(),
            namespace: settings.namespace.clone(),
            metrics: self.metrics.clone(),
            waited_for: self.waited_for.clone(),
            ..Options::new(part.name)
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
        let mut electors = self.electors();
        let acquired = tokio::select! {
            acquired = acquire(&mut electors, &self.metrics) => Some(acquired),
            () = self.end.next() => None,
        };
        let (ended, is_over) = match acquired {
            Some(Ok(())) => self.lead(lead, &mut electors).await,
            Some(Err(lost)) => (Err(lost.into()), true),
            None => (Ok(()), true),
        };
        if self.settings.release_on_end && is_over {
            // A lease that was lost is another's already.
            let released = join_all(electors.iter_mut().map(|(_, elector)| elector.release()));
            let released = tokio::time::timeout(LAST_WORDS, released).await;
            if !released.is_ok_and(|released| released.iter().all(Result::is_ok)) {
                tracing::error!("a lease was not released: the next instance waits until it runs out");
            }
        }
        ended
    }

    /// Works and ends the work, with all leases held until the last write was answered. Also returns whether it was.
    async fn lead<L: Leader>(&mut self, lead: L, electors: &mut [Elector]) -> (anyhow::Result<()>, bool) {
        let fence = self.fence.clone();
        let work = async {
            let ended = self.work(lead).await;
            self.say_last_words().await;
            ended
        };
        let ended = tokio::select! {
            // Another instance may be at work by now. What is being worked on is cut off.
            lost = hold(electors) => Err(lost),
            ended = work => Ok(ended),
        };
        fence.close();
        let quiet = fence.quiet(LAST_WRITES);
        let (ended, is_quiet) = match ended {
            Ok(ended) => tokio::select! {
                is_quiet = quiet => (ended, is_quiet),
                lost = hold(electors) => (Err(lost.into()), true),
            },
            Err(lost) => (Err(lost.into()), quiet.await),
        };
        if !is_quiet {
            tracing::error!("a write was not answered in time: the leases are left to run out");
        }
        (ended, is_quiet)
    }

    /// Waits a while for events that are not sent yet.
    async fn say_last_words(&self) {
        let words = join_all(self.recorders.values().map(Recorder::drain));
        if tokio::time::timeout(LAST_WORDS, words).await.is_err() {
            tracing::error!("some events were not told in time");
        }
    }

    async fn work<L: Leader>(&mut self, lead: L) -> anyhow::Result<()> {
        let mut group = Group::new();
        let mut serving = lead.start(self, &mut group).await?;
        tokio::select! {
            ended = &mut serving.running => return ended.context("the artifact server ended"),
            () = group.ended() => anyhow::bail!("a controller ended"),
            () = self.end.next() => {}
        }
        tracing::info!("shutting down: waiting for what is being worked on");
        tokio::select! {
            () = drain(group, serving, self.settings.last_runs) => Ok(()),
            () = self.end.next() => {
                tracing::error!("told twice: ending at once");
                std::process::exit(1);
            }
        }
    }

    fn electors(&self) -> Vec<Elector> {
        let leases = self.settings.leases.iter().cloned();
        let electors = leases.map(|mut options| {
            if options.namespace.is_empty() {
                options.namespace = self.client.default_namespace().to_owned();
            }
            self.metrics.set_leader(&options.name, false);
            let name = options.name.clone();
            (
                name,
                lease::Elector::new(self.unfenced.clone(), options, self.fence.clone()),
            )
        });
        electors.collect()
    }
}

/// Waits until all leases are held: those of the controllers of Flux that this process stands for, so that none of them works
/// beside it. All instances take them in the same order, so that no two wait for each other.
async fn acquire(electors: &mut [Elector], metrics: &Metrics) -> Result<(), lease::Lost> {
    for place in 0..electors.len() {
        let (held, open) = electors.split_at_mut(place);
        let Some(((name, elector), later)) = open.split_first_mut() else {
            break;
        };
        tracing::info!("attempting to acquire leader lease {name}");
        tokio::select! {
            () = elector.acquire() => tracing::info!("successfully acquired lease {name}"),
            lost = hold(held) => return Err(lost),
            () = look_on(later) => {}
        }
        metrics.set_leader(name, true);
    }
    Ok(())
}

/// Looks on at leases that are to be taken later.
async fn look_on(electors: &mut [Elector]) {
    let looking = electors.iter_mut().map(|(_, elector)| elector.look_on());
    join_all(looking).await;
    std::future::pending().await
}

/// Renews leases until one of them is lost.
async fn hold(electors: &mut [Elector]) -> lease::Lost {
    let holding = electors.iter_mut().map(|(_, elector)| Box::pin(elector.hold()));
    let holding: Vec<_> = holding.collect();
    match holding.is_empty() {
        true => std::future::pending().await,
        false => select_all(holding).await.0,
    }
}

/// Lets what goes on come to its end. What is stored is served meanwhile, and downloads that have begun end.
async fn drain(mut group: Group, serving: Serving, last_runs: Duration) {
    let runs = async {
        if !group.stop(last_runs).await {
            tracing::info!("what was being worked on is cut off; the next start goes on with it");
        }
        let _ = serving.stop.send(());
    };
    let served = tokio::time::timeout(last_runs + LAST_WORDS, serving.running);
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
enum End {
    Signals(Signals),
    /// Whoever has started it, once.
    Told(Option<oneshot::Receiver<()>>),
}

impl End {
    async fn next(&mut self) {
        match self {
            End::Signals(signals) => signals.next().await,
            End::Told(told @ Some(_)) => {
                if let Some(told) = told {
                    // Whoever could tell may be gone: then it is time to end, too.
                    let _ = told.await;
                }
                *told = None;
            }
            End::Told(None) => std::future::pending().await,
        }
    }
}

/// What the system and people say.
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
