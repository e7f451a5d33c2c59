//! Hooks: manifests that are not installed with the others, but at certain times.

use super::Head;

const HOOK: &str = "helm.sh/hook";
const WEIGHT: &str = "helm.sh/hook-weight";
const DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
const OUTPUT_LOG_POLICY: &str = "helm.sh/hook-output-log-policy";

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Event {
    PreInstall,
    PostInstall,
    PreDelete,
    PostDelete,
    PreUpgrade,
    PostUpgrade,
    PreRollback,
    PostRollback,
    Test,
}

impl Event {
    /// The event of a name; `test-success` is what Helm 2 called tests.
    pub fn parse(name: &str) -> Option<Event> {
        Some(match name {
            "pre-install" => Event::PreInstall,
            "post-install" => Event::PostInstall,
            "pre-delete" => Event::PreDelete,
            "post-delete" => Event::PostDelete,
            "pre-upgrade" => Event::PreUpgrade,
            "post-upgrade" => Event::PostUpgrade,
            "pre-rollback" => Event::PreRollback,
            "post-rollback" => Event::PostRollback,
            "test" | "test-success" => Event::Test,
            _ => return None,
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Event::PreInstall => "pre-install",
            Event::PostInstall => "post-install",
            Event::PreDelete => "pre-delete",
            Event::PostDelete => "post-delete",
            Event::PreUpgrade => "pre-upgrade",
            Event::PostUpgrade => "post-upgrade",
            Event::PreRollback => "pre-rollback",
            Event::PostRollback => "post-rollback",
            Event::Test => "test",
        }
    }
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The name of the object.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The path of the template it comes from.
    pub path: String,
    /// The text.
    pub manifest: String,
    /// When it runs.
    pub events: Vec<Event>,
    /// Those with less weight run first.
    pub weight: i64,
    /// When it is deleted, as written: `before-hook-creation`, `hook-succeeded`, `hook-failed`.
    pub delete_policies: Vec<String>,
    /// When its log is shown, as written: `hook-succeeded`, `hook-failed`.
    pub output_log_policies: Vec<String>,
}

impl Hook {
    /// Whether it is a test.
    pub fn is_test(&self) -> bool {
        self.events.contains(&Event::Test)
    }
}

/// What the annotations of a document make of it.
pub(super) enum Found {
    None,
    Hook(Hook),
    /// A hook for events of which at least one is unknown.
    Unknown(String),
}

pub(super) fn find(path: &str, document: &str, head: &Head) -> Found {
    let Some(written) = head.annotation(HOOK) else {
        return Found::None;
    };
    let events: Option<Vec<Event>> = words(written).map(|word| Event::parse(&word)).collect();
    let Some(events) = events else {
        return Found::Unknown(written.to_owned());
    };
    let list = |annotation| -> Option<Vec<String>> { Some(words(head.annotation(annotation)?).collect()) };
    let weight = head.annotation(WEIGHT).and_then(|weight| weight.parse().ok());
    Found::Hook(Hook {
        name: head.name.clone(),
        kind: head.kind.clone(),
        path: path.to_owned(),
        manifest: document.to_owned(),
        events,
        weight: weight.unwrap_or_default(),
        delete_policies: list(DELETE_POLICY).unwrap_or_default(),
        output_log_policies: list(OUTPUT_LOG_POLICY).unwrap_or_default(),
    })
}

fn words(written: &str) -> impl Iterator<Item = String> {
    written.split(',').map(|word| word.trim().to_lowercase())
}
