//! `sluice controller` by itself: all controllers in one process.
//!
//! What one of them has and another needs goes no detour: artifacts are read from the store of this process, tokens of clouds are
//! kept once. In everything that others see each controller is the one of Flux: its events, its fields, its lease.

use std::sync::Arc;
use std::time::Duration;

use controllers::kit::Group;

use super::applying;
use super::flags::Common;
use super::listing::Problems;
use super::part::Part;
use super::process::{Leader, Process, Serving};
use super::settings::{self as common, Surroundings};
use super::start::Program;
use super::{helm, kustomize, source};

#[derive(clap::Args)]
pub(crate) struct Flags {
    #[command(flatten)]
    sources: source::Own,
    #[command(flatten)]
    apply: kustomize::Apply,
    #[command(flatten)]
    release: helm::Release,
    #[command(flatten)]
    applying: applying::ApplyingFlags,
    #[command(flatten)]
    common: Common,
}

impl Program for Flags {
    type Work = All;

    const PARTS: &'static [Part] = &[source::PART, kustomize::PART, helm::PART];

    fn common(&self) -> &Common {
        &self.common
    }

    fn last_runs(&self, problems: &mut Problems) -> Duration {
        self.release.last_runs(problems).unwrap_or(common::LAST_RUNS)
    }

    fn work(&self, common: &common::Settings, around: &Surroundings, problems: &mut Problems) -> All {
        let sources = source::Sources::new(&self.sources, &of_sources(common), around, problems);
        let applying = self.applying.resolve(common, problems);
        All {
            sources,
            appliers: kustomize::Appliers::new(&self.apply, applying.clone(), common, around, problems),
            releasers: helm::Releasers::new(&self.release, applying, common, problems),
        }
    }
}

/// What the flags say to sources. The ServiceAccount that Kustomizations and HelmReleases are applied as is none that sources are fetched as, unless
/// they may have identities of their own.
fn of_sources(common: &common::Settings) -> common::Settings {
    let mut settings = common.clone();
    let have_identities = common.gates.get(source::OBJECT_IDENTITY).copied();
    if !have_identities.unwrap_or_default() {
        settings.default_service_account = None;
    }
    settings
}

/// All controllers.
pub(super) struct All {
    sources: source::Sources,
    appliers: kustomize::Appliers,
    releasers: helm::Releasers,
}

impl All {
    /// Has objects of Kustomizations that name no namespace go to this one, instead of being refused.
    pub(super) fn with_default_namespace(mut self, namespace: &str) -> Self {
        self.appliers = self.appliers.with_default_namespace(namespace);
        self
    }
}

impl Leader for All {
    async fn start(self, process: &Process, group: &mut Group) -> anyhow::Result<Serving> {
        let identities = process.identities();
        let (store, serving) = self.sources.begin(process, group, identities.clone()).await?;
        let releases = Some(Arc::clone(&store));
        self.appliers.begin(process, group, identities, Some(store))?;
        self.releasers.begin(process, group, releases);
        Ok(serving)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::settings::resolve;
    use super::*;

    // As the program itself.
    #[derive(Parser)]
    #[command(args_override_self = true)]
    struct Typed {
        #[command(flatten)]
        flags: Flags,
    }

    fn resolved(flags: &[&str]) -> (common::Settings, Vec<String>) {
        let typed = Typed::parse_from([&["sluice"], flags].concat());
        let mut problems = Problems::default();
        let around = Surroundings {
            namespace: Some("flux-system".into()),
            host: "pod-1".into(),
        };
        let parts = <Flags as Program>::PARTS;
        let common = resolve(parts, typed.flags.common(), &around, &mut problems);
        (common, problems.texts())
    }

    /// D6: no controller of Flux works beside the one that stands for it.
    #[test]
    fn it_holds_the_leases_of_all_controllers_it_stands_for() {
        let (common, problems) = resolved(&["--enable-leader-election"]);
        assert_eq!(problems, Vec::<String>::new());
        let names: Vec<&str> = common.leases.iter().map(|lease| lease.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "source-controller-leader-election",
                "kustomize-controller-leader-election",
                "helm-controller-leader-election",
            ]
        );
        let identities = common.leases.iter().map(|lease| &lease.identity);
        assert_eq!(
            identities.collect::<std::collections::BTreeSet<_>>().len(),
            1,
            "one holds them"
        );
        assert!(resolved(&[]).0.leases.is_empty());
    }

    /// D5: the switches of all controllers are known, and no others.
    #[test]
    fn it_takes_the_gates_of_all_controllers() {
        let gates = "--feature-gates=ObjectLevelWorkloadIdentity=true,GroupChangeLog=true,CacheSecretsAndConfigMaps=true,DefaultToRetryOnFailure=true";
        let (common, problems) = resolved(&[gates]);
        assert_eq!(problems, Vec::<String>::new());
        assert!(common.gates["GroupChangeLog"] && common.gates["ObjectLevelWorkloadIdentity"]);
        assert!(common.gates["DefaultToRetryOnFailure"]);
        let (_, problems) = resolved(&["--feature-gates=Nothing=true"]);
        assert_eq!(
            problems,
            ["unable to load feature gates: feature-gate 'Nothing' not supported"]
        );
    }

    /// A tenant's default account is one to apply with: sources have no use for it without identities of their own.
    #[test]
    fn the_default_account_of_kustomizations_is_none_of_sources() {
        let account = "--default-service-account=tenant";
        let (common, _) = resolved(&[account]);
        assert_eq!(common.default_service_account.as_deref(), Some("tenant"));
        assert_eq!(of_sources(&common).default_service_account, None);
        let (common, _) = resolved(&[account, "--feature-gates=ObjectLevelWorkloadIdentity=true"]);
        assert_eq!(
            of_sources(&common).default_service_account.as_deref(),
            Some("tenant")
        );
    }
}
