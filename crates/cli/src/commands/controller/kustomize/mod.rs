//! `sluice controller kustomize`: what Flux's kustomize-controller is.

mod flags;
mod settings;

use std::sync::Arc;

use ::source::git::Cache;
use ::source::http;
use ::source::identity::Identities;
use ::source::store::Store;
use anyhow::Context as _;
use controllers::kit::Group;
use controllers::kustomizations::{Kustomizations, Settings, Shared};

use super::applying::Applying;
use super::flags::Common;
use super::listing::Problems;
use super::part::Part;
use super::process::{Leader, Process, Serving};
use super::settings::{self as common, Surroundings};
use super::start::Program;

pub(crate) use flags::{Apply, Args};

pub(super) const PART: Part = Part {
    name: "kustomize-controller",
    concurrent: 4,
    gates: settings::GATES,
};

impl Program for Args {
    type Work = Appliers;

    const PARTS: &'static [Part] = &[PART];

    fn common(&self) -> &Common {
        &self.common
    }

    fn work(&self, common: &common::Settings, around: &Surroundings, problems: &mut Problems) -> Appliers {
        Appliers::new(
            &self.apply,
            self.applying.resolve(common, problems),
            common,
            around,
            problems,
        )
    }
}

/// The controller of Kustomizations.
pub(super) struct Appliers {
    settings: Settings,
}

impl Appliers {
    /// As the flags say. What is wrong is noted.
    pub(super) fn new(
        flags: &Apply,
        applying: Applying,
        common: &common::Settings,
        around: &Surroundings,
        problems: &mut Problems,
    ) -> Self {
        let settings = settings::resolve(flags, applying, common, around, problems);
        Appliers { settings }
    }

    /// Has objects that name no namespace go to this one, instead of being refused.
    pub(super) fn with_default_namespace(mut self, namespace: &str) -> Self {
        self.settings.default_namespace = namespace.to_owned();
        self
    }

    /// Starts it. What the store has is read from there; all other artifacts are fetched.
    pub(super) fn begin(
        self,
        process: &Process,
        group: &mut Group,
        identities: Identities,
        store: Option<Arc<Store>>,
    ) -> anyhow::Result<()> {
        let scratch = process.scratch.clone();
        let usable = tempfile::tempfile_in(&scratch).map(drop);
        usable.with_context(|| format!("unable to unpack artifacts in {}; set TMPDIR", scratch.display()))?;
        // Remote bases are kept between builds, in a directory that goes with the process.
        let repositories = Cache::temporary(&scratch).context("unable to keep Git repositories")?;
        let shared = Shared {
            client: process.client.clone(),
            store,
            scratch,
            repositories,
            identities,
            http: http::Options::default(),
            settings: self.settings,
        };
        let kustomizations = Kustomizations::new(shared).fenced_by(process.fence.clone());
        process.begin(group, PART, kustomizations);
        Ok(())
    }
}

impl Leader for Appliers {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        self.begin(process, group, process.identities(), None)?;
        Ok(Serving::nothing())
    }
}
