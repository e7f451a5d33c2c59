//! One measurement: controllers on a fresh cluster, with one count.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde::{Deserialize, Serialize};
use testkit::Cluster;

use super::audit::{self, Counts};
use super::bare::{self, Rates};
use super::chain::{self, Hops};
use super::clock::{Begun, Window};
use super::controllers::Controllers;
use super::options::{Options, Who};
use super::shape::Shape;
use super::watched::{Seen, Watched};
use super::workload::{Workload, name};

/// How long one phase may take.
const LIMIT: Duration = Duration::from_secs(900);

/// Who the controllers are to the cluster: nobody else acts as this user.
const USER: &str = "admin-token";

/// What one measurement came to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) who: Who,
    pub(crate) shape: Shape,
    pub(crate) count: usize,
    pub(crate) bare: Rates,
    pub(crate) phases: Vec<Phase>,
    pub(crate) hops: Option<Hops>,
    /// What each controller has once all is installed and nothing goes on, in MiB.
    pub(crate) at_rest: Vec<u64>,
}

impl Figures {
    /// What a phase came to.
    pub(crate) fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

/// What one phase came to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Phase {
    pub(crate) name: String,
    pub(crate) took: Duration,
    /// How long it took to ask for it.
    pub(crate) asked: Duration,
    /// Processor time of the controllers and of the API server.
    pub(crate) cpu: Duration,
    pub(crate) server_cpu: Duration,
    /// The most memory of each controller, in MiB.
    pub(crate) memory: Vec<u64>,
    pub(crate) requests: Counts,
}

struct Bench {
    work: Workload,
    controllers: Controllers,
    watched: Watched,
    names: Vec<String>,
    phases: Vec<Phase>,
    windows: Vec<Window>,
}

/// Measures in the cluster that the environment names.
pub(crate) async fn measure(options: &Options) -> anyhow::Result<Figures> {
    let cluster = cluster(options).await?;
    let kubeconfig = cluster.kubeconfig().await;
    for definition in api::definitions() {
        let definition = serde_json::to_value(definition.to_value())?;
        cluster.serve(&definition).await;
    }
    for number in 0..options.definitions {
        cluster.serve(&super::definitions::definition(number)).await;
    }
    let client = client(&kubeconfig).await?;
    let count = *options.counts.first().context("no count is given")?;
    let bare = bare::measure(&client, count).await?;
    let who = options.who().next().context("nobody is to be measured")?;
    let mut bench = Bench::start(options, who, client, &kubeconfig, count).await?;
    bench.install().await?;
    let at_rest = bench.controllers.memory_now();
    let mut hops = None;
    if !options.only_install {
        bench.upgrade().await?;
        bench.force().await?;
        if options.shape() == Shape::Kustomizations {
            hops = Some(chain::measure(&bench.work, &bench.watched, options.chain).await?);
        }
    }
    if let Some(server) = cluster.server() {
        eprintln!("{}", server.requests().snapshot());
    } else {
        bench.count_requests(kubeconfig.parent().context("the kubeconfig is in no folder")?)?;
    }
    Ok(Figures {
        who,
        shape: options.shape(),
        count,
        bare,
        phases: bench.phases,
        hops,
        at_rest,
    })
}

async fn cluster(options: &Options) -> anyhow::Result<Cluster> {
    if options.embedded {
        let simulator = apiserver::simulator::Options::default();
        return Ok(Cluster::embedded(
            apiserver::Server::builder().simulator(simulator),
        ));
    }
    let cluster = Cluster::start().await;
    ensure!(
        cluster.is_real(),
        "a real cluster is needed: `bench/mttp` brings one"
    );
    Ok(cluster)
}

/// A client that speaks HTTP/2 over TLS, as controllers do.
async fn client(kubeconfig: &Path) -> anyhow::Result<kube::Client> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    config.proxy_url = None;
    Ok(engine::cluster::connect(config)?)
}

/// The kubeconfig of another user of the same cluster.
fn kubeconfig_of(kubeconfig: &Path, user: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let text = std::fs::read_to_string(kubeconfig)?;
    let (before, after) = ("current-context: admin\n", format!("current-context: {user}\n"));
    ensure!(
        text.contains(before),
        "{} is not the kubeconfig of `cargo xtask real-cluster`",
        kubeconfig.display()
    );
    let path = folder.join("kubeconfig");
    std::fs::write(&path, text.replace(before, &after))?;
    Ok(path)
}

impl Bench {
    async fn start(
        options: &Options,
        who: Who,
        client: kube::Client,
        kubeconfig: &Path,
        count: usize,
    ) -> anyhow::Result<Self> {
        let watched_by = client.clone();
        let work = Workload::prepare(client, options.shape()).await?;
        let folder = tempfile::tempdir().context("a temporary directory cannot be made")?;
        let theirs = match options.embedded {
            true => kubeconfig.to_owned(),
            false => kubeconfig_of(kubeconfig, USER, folder.path())?,
        };
        let controllers = Controllers::start(options, who, &theirs, folder).await?;
        let mut bench = Bench {
            work,
            controllers,
            watched: Watched::start(watched_by, options.shape()),
            names: (0..count).map(name).collect(),
            phases: Vec::new(),
            windows: Vec::new(),
        };
        bench.settle().await?;
        if let Some(command) = &options.attach {
            bench.controllers.attach(command)?;
        }
        Ok(bench)
    }

    /// All are made, with their sources.
    async fn install(&mut self) -> anyhow::Result<()> {
        let revision = self.work.push(1);
        let count = self.names.len();
        let ready = move |seen: &Seen| seen.is_ready && seen.revision == revision;
        self.phase("install", async |work| work.install(count).await, ready)
            .await
    }

    /// All are to become something else.
    async fn upgrade(&mut self) -> anyhow::Result<()> {
        let revision = self.work.push(2);
        let count = self.names.len();
        let ready = move |seen: &Seen| seen.is_ready && seen.revision == revision;
        let ask = async |work: &Workload| work.upgrade(count).await;
        self.phase("upgrade", ask, ready).await
    }

    /// All are asked for a run that has nothing to do.
    async fn force(&mut self) -> anyhow::Result<()> {
        let count = self.names.len();
        let ready = |seen: &Seen| seen.is_ready && seen.handled == "force";
        let ask = async |work: &Workload| work.reconcile(count, "force").await;
        self.phase("forced no-op", ask, ready).await
    }

    async fn phase(
        &mut self,
        name: &str,
        ask: impl AsyncFnOnce(&Workload) -> anyhow::Result<()>,
        ready: impl Fn(&Seen) -> bool,
    ) -> anyhow::Result<()> {
        self.controllers.count_memory_anew();
        let (cpu, server_cpu) = (self.controllers.cpu(), self.server_cpu().await?);
        let begun = Begun::now();
        ask(&self.work).await?;
        let asked = begun.until(Instant::now()).took();
        let end = self.watched.until(&self.names, LIMIT, ready).await;
        let end = match end {
            Ok(end) => end,
            Err(error) => bail!("{error:#}\n{}", self.controllers.said()),
        };
        let window = begun.until(end);
        // What is told afterwards belongs to it, too.
        self.settle().await?;
        eprintln!("  {name}: {:.2} s", window.took().as_secs_f64());
        self.phases.push(Phase {
            name: name.to_owned(),
            took: window.took(),
            asked,
            cpu: self.controllers.cpu() - cpu,
            server_cpu: self.server_cpu().await?.saturating_sub(server_cpu),
            memory: self.controllers.memory(),
            requests: Counts::new(),
        });
        self.windows.push(Window {
            to: begun.until(Instant::now()).to,
            ..window
        });
        Ok(())
    }

    /// Waits until neither controllers nor the API server have much to do.
    async fn settle(&mut self) -> anyhow::Result<()> {
        const LONGEST: Duration = Duration::from_secs(60);
        const LOOK: Duration = Duration::from_secs(1);
        let begun = Instant::now();
        let mut quiet = 0;
        while quiet < 2 && begun.elapsed() < LONGEST {
            let before = (self.controllers.cpu(), self.server_cpu().await?);
            tokio::time::sleep(LOOK).await;
            let after = (self.controllers.cpu(), self.server_cpu().await?);
            let is_quiet = after.0 - before.0 < LOOK / 20 && after.1.saturating_sub(before.1) < LOOK / 5;
            quiet = if is_quiet { quiet + 1 } else { 0 };
        }
        self.controllers.check()
    }

    /// The processor time that the API server has used.
    async fn server_cpu(&self) -> anyhow::Result<Duration> {
        let request = http::Request::get("/metrics").body(Vec::new())?;
        let Ok(text) = self.work.client.request_text(request).await else {
            // The embedded server has none.
            return Ok(Duration::ZERO);
        };
        let mut lines = text.lines();
        let seconds = lines.find_map(|line| line.strip_prefix("process_cpu_seconds_total "));
        let seconds = seconds.context("the API server does not tell its processor time")?;
        Ok(Duration::from_secs_f64(seconds.trim().parse()?))
    }

    fn count_requests(&mut self, folder: &Path) -> anyhow::Result<()> {
        let counts = audit::count(folder, USER, &self.windows)?;
        for (phase, counts) in self.phases.iter_mut().zip(counts) {
            ensure!(
                !counts.is_empty(),
                "the audit log has no request of {USER}: start the cluster with --audit"
            );
            phase.requests = counts;
        }
        Ok(())
    }
}
