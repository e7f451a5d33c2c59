//! `sluice controller source`: what Flux's source-controller is.

mod flags;
mod settings;

use std::process::ExitCode;
use std::sync::Arc;

use ::source::git::Cache;
use ::source::identity::{self, Environment, Identities};
use ::source::store::{self, Store};
use anyhow::Context as _;
use controllers::kit::{Group, listen};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories, Shared};
use futures::FutureExt as _;
use tokio::sync::oneshot;

use super::listing::Problems;
use super::process::{self, Failed, Leader, Process, Serving};
use super::settings::{Surroundings, logging, resolve};
use settings::{GATES, Settings};

pub(crate) use flags::Args;

const NAME: &str = "source-controller";

/// Where Git repositories are kept between fetches, in the directory of artifacts. Names with a dot in front are not served.
const GIT_CACHE: &str = ".git-cache";

pub(super) async fn run(args: Args) -> ExitCode {
    let mut problems = Problems::default();
    let (level, encoding) = logging(&args.common.logs, &mut problems);
    process::start_logs(level, encoding);
    process::ended(start(args, problems).await)
}

async fn start(args: Args, mut problems: Problems) -> Result<(), Failed> {
    let around = Surroundings::read();
    let common = resolve(NAME, &args.common, GATES, &around, &mut problems);
    let gates = common.gates.clone();
    let settings = settings::resolve(&args, &common, &around, &mut problems);
    let prepared = Process::prepare(common, &mut problems).await;
    settings.check_storage(&mut problems);
    let Some(process) = prepared.filter(|_| problems.is_empty()) else {
        return Err(Failed::ToStart(problems));
    };
    for (gate, on) in &gates {
        tracing::debug!(gate, on, "feature gate");
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "starting manager");
    process.run(Sources { settings }).await.map_err(Failed::ToGoOn)
}

/// The controllers of sources, and the server of their artifacts.
struct Sources {
    settings: Settings,
}

impl Leader for Sources {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        let Settings {
            address,
            path,
            store,
            sources,
            tokens,
        } = self.settings;
        let root = path.clone();
        let opened = tokio::task::spawn_blocking(move || -> anyhow::Result<(Store, Cache)> {
            let clock: store::Clock = Arc::new(jiff::Timestamp::now);
            let opened = Store::open(&root, store, clock).context("unable to configure artifact storage")?;
            let cache = Cache::open(root.join(GIT_CACHE)).context("unable to keep Git repositories")?;
            Ok((opened, cache))
        });
        let (store, cache) = opened.await??;
        let listener = listen(&address).await.with_context(|| {
            format!("unable to serve artifacts on {address:?}; choose another with --storage-addr")
        })?;
        tracing::info!(address, "starting artifact server");
        let identities = identity::Settings {
            limits: tokens,
            ..identity::Settings::new(Environment::of_process())
        };
        let identities = Identities::new(identities);
        let kept = identities.clone();
        process.metrics.tell_tokens(move || kept.tally());
        let shared = Shared {
            settings: sources,
            identities,
            ..Shared::new(process.client.clone(), Arc::new(store), cache)
        };
        process.metrics.tell_indexes(shared.index_lookups.clone());
        process.begin(group, GitRepositories::new(shared.clone()));
        process.begin(group, OciRepositories::new(shared.clone()));
        process.begin(group, HelmRepositories::new(shared.clone()));
        process.begin(group, HelmCharts::new(shared.clone()));
        process.begin(group, Buckets::new(shared));
        let (stop, stopped) = oneshot::channel();
        let running = async move {
            // Whoever could tell it to stop may be gone too.
            let served = store::serve(path, listener, stopped.map(drop)).await;
            served.context("unable to serve artifacts")
        };
        let running = running.boxed();
        Ok(Serving { running, stop })
    }
}
