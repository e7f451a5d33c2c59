//! `sluice controller helm`: what Flux's helm-controller is.

mod flags;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use ::source::store::Store;
use controllers::helm_releases::{HelmReleases, Settings, Shared};
use controllers::kit::Group;

use super::applying::Applying;
use super::flags::Common;
use super::listing::Problems;
use super::part::Part;
use super::process::{Leader, Process, Serving};
use super::settings::{self as common, Surroundings};
use super::start::Program;

pub(crate) use flags::{Args, Release};

pub(super) const PART: Part = Part {
    name: "helm-controller",
    concurrent: 4,
    gates: settings::GATES,
};

/// How long releases that are worked on may go on once the process shall end, as with Flux: one that is cut off is begun anew.
const LAST_RUNS: Duration = Duration::from_secs(600);

impl Program for Args {
    type Work = Releasers;

    const PARTS: &'static [Part] = &[PART];

    fn common(&self) -> &Common {
        &self.common
    }

    fn last_runs(&self, problems: &mut Problems) -> Duration {
        self.release.last_runs(problems).unwrap_or(LAST_RUNS)
    }

    fn work(&self, common: &common::Settings, _: &Surroundings, problems: &mut Problems) -> Releasers {
        let applying = self.applying.resolve(common, problems);
        Releasers::new(&self.release, applying, common, problems)
    }
}

/// The controller of HelmReleases.
pub(super) struct Releasers {
    settings: Settings,
}

impl Releasers {
    /// As the flags say. What is wrong is noted.
    pub(super) fn new(
        flags: &Release,
        applying: Applying,
        common: &common::Settings,
        problems: &mut Problems,
    ) -> Self {
        Releasers {
            settings: settings::resolve(flags, applying, common, problems),
        }
    }

    /// Starts it. What the store has is read from there; all other artifacts are fetched.
    pub(super) fn begin(self, process: &Process, group: &mut Group, store: Option<Arc<Store>>) {
        let shared = Shared {
            client: process.client.clone(),
            store,
            settings: self.settings,
        };
        let releases = HelmReleases::new(shared).fenced_by(&process.fence);
        process.begin(group, PART, releases);
    }
}

impl Leader for Releasers {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        self.begin(process, group, None);
        Ok(Serving::nothing())
    }
}
