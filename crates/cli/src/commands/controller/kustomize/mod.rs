//! `sluice controller kustomize`: what Flux's kustomize-controller is.

mod flags;
mod settings;

use std::process::ExitCode;

use ::source::git::Cache;
use ::source::http;
use ::source::identity::{self, Environment, Identities, Limits};
use anyhow::Context as _;
use controllers::kit::Group;
use controllers::kustomizations::{Kustomizations, Settings, Shared};

use super::listing::Problems;
use super::process::{self, Failed, Leader, Process, Serving};
use super::settings::{Surroundings, logging, resolve};
use settings::GATES;

pub(crate) use flags::Args;

const NAME: &str = "kustomize-controller";

pub(super) async fn run(args: Args) -> ExitCode {
    let mut problems = Problems::default();
    let (level, encoding) = logging(&args.common.logs, &mut problems);
    process::start_logs(level, encoding);
    process::ended(start(args, problems).await)
}

async fn start(args: Args, mut problems: Problems) -> Result<(), Failed> {
    let around = Surroundings::read();
    let common = resolve(NAME, &args.common, GATES, &around, &mut problems);
    let settings = settings::resolve(&args, &common, &around, &mut problems);
    let tokens = common.tokens;
    let prepared = Process::prepare(common, &mut problems).await;
    let Some(process) = prepared.filter(|_| problems.is_empty()) else {
        return Err(Failed::ToStart(problems));
    };
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "starting manager");
    let appliers = Appliers { settings, tokens };
    process.run(appliers).await.map_err(Failed::ToGoOn)
}

/// The controller of Kustomizations.
struct Appliers {
    settings: Settings,
    tokens: Limits,
}

impl Leader for Appliers {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        let scratch = std::env::temp_dir();
        let usable = tempfile::tempfile_in(&scratch).map(drop);
        usable.with_context(|| format!("unable to unpack artifacts in {}; set TMPDIR", scratch.display()))?;
        // Remote bases are kept between builds, in a directory that goes with the process.
        let kept = scratch.join(format!("sluice-bases-{}", std::process::id()));
        let repositories = Cache::open(kept).context("unable to keep Git repositories")?;
        let identities = identity::Settings {
            limits: self.tokens,
            ..identity::Settings::new(Environment::of_process())
        };
        let shared = Shared {
            client: process.client.clone(),
            store: None,
            scratch,
            repositories,
            identities: Identities::new(identities),
            http: http::Options::default(),
            settings: self.settings,
        };
        process.begin(group, Kustomizations::new(shared));
        Ok(Serving::nothing())
    }
}
