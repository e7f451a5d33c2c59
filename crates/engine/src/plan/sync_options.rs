//! Sync options in Argo CD's words: those of single objects, and those of a whole unit.

use super::metadata::Metadata;
use super::options::{CreateNamespace, Options, PruneOption};
use super::steps::Propagation;

const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";

/// What an object asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SyncOptions {
    pub(super) prune: Option<PruneOption>,
    pub(super) delete: Option<PruneOption>,
    pub(super) prune_last: bool,
    pub(super) replace: bool,
    pub(super) force: bool,
    pub(super) unchecked: bool,
    pub(super) skip_missing_kind: bool,
}

impl SyncOptions {
    /// What is written in the annotation. Options that are unknown or have another value say nothing.
    pub(super) fn of(object: &impl Metadata) -> Self {
        let mut options = SyncOptions::default();
        for option in object.annotation_list(SYNC_OPTIONS) {
            // The first of several values counts.
            match option.split_once('=') {
                Some(("Prune", value)) => options.prune = options.prune.or(Some(prune_option(value))),
                Some(("Delete", value)) => options.delete = options.delete.or(Some(prune_option(value))),
                Some(("PruneLast", "true")) => options.prune_last = true,
                Some(("Replace", "true")) => options.replace = true,
                Some(("Force", "true")) => options.force = true,
                Some(("Validate", "false")) => options.unchecked = true,
                Some(("SkipDryRunOnMissingResource", "true")) => options.skip_missing_kind = true,
                _ => {}
            }
        }
        options
    }
}

/// A sync option that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no sync option: see Argo CD's documentation for those there are")]
pub struct UnknownOption(pub String);

impl Options {
    /// What a unit of Argo CD asks for by its sync options, such as `Prune=confirm` and `CreateNamespace=true`. They count for units
    /// whose [strategy](super::Strategy::hooks) has hooks.
    ///
    /// # Errors
    /// The first option that is unknown.
    pub fn of_argo<'a>(sync_options: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownOption> {
        let mut options = Options {
            propagation: Propagation::Foreground,
            ..Options::default()
        };
        for option in sync_options {
            options.ask(option)?;
        }
        Ok(options)
    }

    fn ask(&mut self, option: &str) -> Result<(), UnknownOption> {
        let unknown = || UnknownOption(option.to_owned());
        let (name, value) = option.trim().split_once('=').ok_or_else(unknown)?;
        let is = value == "true";
        let argo = &mut self.argo;
        match name {
            "Prune" => argo.prune = prune_option(value),
            "Delete" => argo.delete = prune_option(value),
            "PruneLast" => argo.prune_last = is,
            "PrunePropagationPolicy" => {
                self.propagation = match value {
                    "foreground" => Propagation::Foreground,
                    "background" => Propagation::Background,
                    "orphan" => Propagation::Orphan,
                    _ => return Err(unknown()),
                }
            }
            "Validate" => argo.unchecked = value == "false",
            "SkipDryRunOnMissingResource" => argo.skip_missing_kinds = is,
            "Replace" => argo.replace = is,
            "Force" => self.force = is,
            // All is applied by the server, and what kubectl has applied is taken over as the unit's policy says.
            "ServerSideApply" | "ClientSideApplyMigration" => {}
            "ApplyOutOfSyncOnly" => argo.out_of_sync_only = is,
            "CreateNamespace" => argo.create_namespace = is.then(CreateNamespace::default),
            "RespectIgnoreDifferences" => argo.respect_ignored = is,
            "FailOnSharedResource" => argo.fail_on_shared = is,
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

fn prune_option(value: &str) -> PruneOption {
    match value {
        "false" => PruneOption::Disabled,
        "confirm" => PruneOption::Confirm,
        _ => PruneOption::Allowed,
    }
}
