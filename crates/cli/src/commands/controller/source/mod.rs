//! `sluice controller source`: what Flux's source-controller is.

mod flags;
mod settings;

use std::sync::Arc;

use ::source::git::Cache;
use ::source::identity::Identities;
use ::source::store::{self, Store};
use anyhow::Context as _;
use controllers::kit::{Group, listen};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories, Shared};
use futures::FutureExt as _;
use tokio::sync::oneshot;

use super::flags::Common;
use super::listing::Problems;
use super::part::Part;
use super::process::{Leader, Process, Serving};
use super::settings::{self as common, Surroundings};
use super::start::Program;
use settings::Settings;

pub(crate) use flags::{Args, Own};
pub(super) use settings::OBJECT_IDENTITY;

pub(super) const PART: Part = Part {
    name: "source-controller",
    concurrent: 2,
    gates: settings::GATES,
};

/// Where Git repositories are kept between fetches, in the directory of artifacts. Names with a dot in front are not served.
const GIT_CACHE: &str = ".git-cache";

impl Program for Args {
    type Work = Sources;

    const PARTS: &'static [Part] = &[PART];

    fn common(&self) -> &Common {
        &self.common
    }

    fn work(&self, common: &common::Settings, around: &Surroundings, problems: &mut Problems) -> Sources {
        Sources::new(&self.own, common, around, problems)
    }
}

/// The controllers of sources, and the server of their artifacts.
pub(super) struct Sources {
    settings: Settings,
}

impl Sources {
    /// As the flags say. What is wrong is noted.
    pub(super) fn new(
        flags: &Own,
        common: &common::Settings,
        around: &Surroundings,
        problems: &mut Problems,
    ) -> Self {
        let settings = settings::resolve(flags, common, around, problems);
        settings.check_storage(problems);
        Sources { settings }
    }

    /// Starts them all. Others of the process can read artifacts from the store.
    pub(super) async fn begin(
        self,
        process: &Process,
        group: &mut Group,
        identities: Identities,
    ) -> anyhow::Result<(Arc<Store>, Serving)> {
        let Settings {
            address,
            path,
            mut store,
            sources,
            sigstore,
        } = self.settings;
        let listener = listen(&address).await.with_context(|| {
            format!("unable to serve artifacts on {address:?}; choose another with --storage-addr")
        })?;
        if let Some(host) = store.advertised_host.strip_suffix(":0") {
            // The system has chosen a port.
            store.advertised_host = format!("{host}:{}", listener.local_addr()?.port());
        }
        let root = path.clone();
        let opened = tokio::task::spawn_blocking(move || -> anyhow::Result<(Store, Cache)> {
            let clock: store::Clock = Arc::new(jiff::Timestamp::now);
            let opened = Store::open(&root, store, clock).context("unable to configure artifact storage")?;
            let cache = Cache::open(root.join(GIT_CACHE)).context("unable to keep Git repositories")?;
            Ok((opened, cache))
        });
        let (store, cache) = opened.await??;
        let store = Arc::new(store);
        tracing::info!(address, "starting artifact server");
        let shared = Shared {
            settings: sources,
            identities,
            sigstore,
            ..Shared::new(process.client.clone(), Arc::clone(&store), cache)
        };
        process.metrics.tell_indexes(shared.index_lookups.clone());
        process.begin(group, PART, GitRepositories::new(shared.clone()));
        process.begin(group, PART, OciRepositories::new(shared.clone()));
        process.begin(group, PART, HelmRepositories::new(shared.clone()));
        process.begin(group, PART, HelmCharts::new(shared.clone()));
        process.begin(group, PART, Buckets::new(shared));
        let (stop, stopped) = oneshot::channel();
        let running = async move {
            // Whoever could tell it to stop may be gone too.
            let served = store::serve(path, listener, stopped.map(drop)).await;
            served.context("unable to serve artifacts")
        };
        let running = running.boxed();
        Ok((store, Serving { running, stop }))
    }
}

impl Leader for Sources {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        let (_, serving) = self.begin(process, group, process.identities()).await?;
        Ok(serving)
    }
}
