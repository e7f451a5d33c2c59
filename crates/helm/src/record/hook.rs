//! Hooks with what became of them.

use super::Time;
use crate::manifest::{self, Event};

/// What became of a hook, as Helm writes it.
pub mod phase {
    /// It cannot be told.
    pub const UNKNOWN: &str = "Unknown";
    /// It was begun.
    pub const RUNNING: &str = "Running";
    /// It went well.
    pub const SUCCEEDED: &str = "Succeeded";
    /// It did not.
    pub const FAILED: &str = "Failed";
}

/// A hook of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hook {
    /// The name of the object.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The path of the template it comes from.
    pub path: String,
    /// The text.
    pub manifest: String,
    /// When it runs, as written: other versions of Helm may know other events.
    pub events: Vec<String>,
    /// The last time it ran.
    pub last_run: Execution,
    /// Those with less weight run first.
    pub weight: i64,
    /// When it is deleted, as written.
    pub delete_policies: Vec<String>,
    /// When its log is shown, as written.
    pub output_log_policies: Vec<String>,
}

/// One run of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub completed_at: Option<Time>,
    /// What became of it, see [`phase`]; empty if it never ran.
    pub phase: String,
}

impl Hook {
    /// Whether it runs at an event.
    pub fn is_for(&self, event: Event) -> bool {
        self.events.iter().any(|name| name == event.name())
    }
}

impl From<&manifest::Hook> for Hook {
    fn from(hook: &manifest::Hook) -> Self {
        Hook {
            name: hook.name.clone(),
            kind: hook.kind.clone(),
            path: hook.path.clone(),
            manifest: hook.manifest.clone(),
            events: hook.events.iter().map(|event| event.name().to_owned()).collect(),
            last_run: Execution::default(),
            weight: hook.weight,
            delete_policies: hook.delete_policies.clone(),
            output_log_policies: hook.output_log_policies.clone(),
        }
    }
}
