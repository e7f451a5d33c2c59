//! Hooks and waves as the annotations of Argo CD and Helm ask for them.

use super::metadata::Metadata;
use super::steps::Phase;

pub(super) const HOOK: &str = "argocd.argoproj.io/hook";
const HELM_HOOK: &str = "helm.sh/hook";
const DELETE_POLICY: &str = "argocd.argoproj.io/hook-delete-policy";
const HELM_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
const WAVE: &str = "argocd.argoproj.io/sync-wave";
const HELM_WEIGHT: &str = "helm.sh/hook-weight";

/// The finalizer that Argo CD puts on hooks. We put it on none, as a controller that dies would pin the object with it; but we
/// take it from hooks that Argo CD has left behind.
pub(super) const FINALIZER: &str = "argocd.argoproj.io/hook-finalizer";

/// What an object is among hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Not a hook.
    Plain,
    /// Asks not to be applied, and is not a hook: `Skip` alone.
    Skipped,
    /// A hook of a kind that does not run when objects are applied, such as a test of Helm's, or one for when they are
    /// deleted.
    Ignored,
    /// A hook of these phases, in order.
    Hook(Vec<Phase>),
}

/// When a hook is deleted. None of it is the same as `before_creation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DeletePolicy {
    /// One that is left of an earlier run is deleted before it is created anew.
    pub(super) before_creation: bool,
    /// When the whole sync has succeeded.
    pub(super) succeeded: bool,
    /// When the whole sync has failed.
    pub(super) failed: bool,
}

/// What the annotations make of the object.
pub(super) fn role(object: &impl Metadata) -> Role {
    let words = object.annotation_list(HOOK);
    let mut skip = false;
    let mut phases = Vec::new();
    for word in words {
        match word {
            "PreSync" => phases.push(Phase::PreSync),
            "Sync" => phases.push(Phase::Sync),
            "PostSync" => phases.push(Phase::PostSync),
            "SyncFail" => phases.push(Phase::SyncFail),
            "Skip" => skip = true,
            _ => {}
        }
    }
    if skip && phases.is_empty() {
        return Role::Skipped;
    }
    let of_argo = object.annotation(HOOK).is_some();
    let of_helm = object
        .annotation(HELM_HOOK)
        .is_some_and(|kind| kind != "crd-install");
    if !of_argo && !of_helm {
        return Role::Plain;
    }
    if phases.is_empty() {
        phases = helm_phases(object);
    }
    if phases.is_empty() {
        return Role::Ignored;
    }
    phases.sort_unstable();
    phases.dedup();
    Role::Hook(phases)
}

fn helm_phases(object: &impl Metadata) -> Vec<Phase> {
    let phase = |word| match word {
        "pre-install" | "pre-upgrade" => Some(Phase::PreSync),
        "post-install" | "post-upgrade" => Some(Phase::PostSync),
        _ => None,
    };
    let words = object.annotation_list(HELM_HOOK);
    words.into_iter().filter_map(phase).collect()
}

/// When the object runs as a hook while its unit is deleted.
pub(super) fn deletion_phases(object: &impl Metadata) -> Vec<Phase> {
    let phases = |annotation, before: &str, after: &str| -> Vec<Phase> {
        let phase = |word| match word {
            word if word == before => Some(Phase::PreDelete),
            word if word == after => Some(Phase::PostDelete),
            _ => None,
        };
        let words = object.annotation_list(annotation);
        words.into_iter().filter_map(phase).collect()
    };
    let mut found = phases(HOOK, "PreDelete", "PostDelete");
    let is_argo = |word| matches!(word, "PreSync" | "Sync" | "PostSync" | "SyncFail" | "Skip");
    if found.is_empty() && !object.annotation_list(HOOK).into_iter().any(is_argo) {
        found = phases(HELM_HOOK, "pre-delete", "post-delete");
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// When the hook is deleted.
pub(super) fn delete_policy(object: &impl Metadata) -> DeletePolicy {
    let mut policy = DeletePolicy::default();
    let argo = object.annotation_list(DELETE_POLICY);
    let helm = object.annotation_list(HELM_DELETE_POLICY);
    for word in argo {
        match word {
            "BeforeHookCreation" => policy.before_creation = true,
            "HookSucceeded" => policy.succeeded = true,
            "HookFailed" => policy.failed = true,
            _ => {}
        }
    }
    for word in helm {
        match word {
            "before-hook-creation" => policy.before_creation = true,
            "hook-succeeded" => policy.succeeded = true,
            "hook-failed" => policy.failed = true,
            _ => {}
        }
    }
    if policy == DeletePolicy::default() {
        policy.before_creation = true;
    }
    policy
}

/// The wave an object is in: the annotation, or the weight of a Helm hook, or 0.
pub(super) fn wave(object: &impl Metadata) -> i64 {
    let number = |key| object.annotation(key).and_then(|text| text.parse().ok());
    number(WAVE).or_else(|| number(HELM_WEIGHT)).unwrap_or(0)
}
