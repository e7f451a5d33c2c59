//! The sync options that single objects ask for, in Argo CD's words.

use super::metadata::Metadata;
use super::options::PruneOption;

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

fn prune_option(value: &str) -> PruneOption {
    match value {
        "false" => PruneOption::Disabled,
        "confirm" => PruneOption::Confirm,
        _ => PruneOption::Allowed,
    }
}
