//! `sluice controller helm`: what Flux's helm-controller is.

mod flags;
mod settings;

use controllers::helm_releases::{HelmReleases, Settings, Shared};
use controllers::kit::Group;

use super::flags::Common;
use super::listing::Problems;
use super::part::Part;
use super::process::{Leader, Process, Serving};
use super::settings::{self as common, Surroundings};
use super::start::Program;

pub(crate) use flags::Args;

const PART: Part = Part {
    name: "helm-controller",
    concurrent: 4,
    gates: settings::GATES,
};

impl Program for Args {
    type Work = Releasers;

    const PARTS: &'static [Part] = &[PART];

    fn common(&self) -> &Common {
        &self.common
    }

    fn work(&self, common: &common::Settings, _: &Surroundings, problems: &mut Problems) -> Releasers {
        Releasers {
            settings: settings::resolve(&self.release, &self.common, common, problems),
        }
    }
}

/// The controller of HelmReleases.
pub(super) struct Releasers {
    settings: Settings,
}

impl Leader for Releasers {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        let shared = Shared {
            client: process.client.clone(),
            store: None,
            settings: self.settings,
        };
        process.begin(group, PART, HelmReleases::new(shared));
        Ok(Serving::nothing())
    }
}
