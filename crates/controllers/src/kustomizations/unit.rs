//! A Kustomization as a unit of the engine.

use std::time::Duration;

use api::health::HealthCheckExpr;
use api::kustomize::{DeletionPolicy, Kustomization, KustomizationSpec, ObjectReference};
use api::{ConditionType, ReconcileStatus, patch};
use engine::cache::OwnRules;
use engine::diff::ignore::{self, Target};
use engine::diff::{IgnoreRule, IgnoreRules, Takeover};
use engine::health::cel;
use engine::plan::{Health, Options};
use engine::unit::{Destination, Operation, Policy, Source, Status, SyncUnit};
use kube::ResourceExt;
use model::ObjectKey;
use model::object_key::split_api_version;

use super::Settings;
use super::beyond::{Asks, strategy};
use super::source::retry_interval;

/// Who fields are written by.
const MANAGER: &str = "kustomize-controller";
const GROUP: &str = api::kustomize::GROUP;
/// What is left of an interval for everything but waiting, and the shortest time that is waited.
const MARGIN: Duration = Duration::from_secs(30);

/// The unit of an object. What cannot be used of its spec is left out: [`problem`] tells of it before anything is done.
pub(super) fn unit(
    object: &Kustomization,
    status: Status,
    operation: Option<Operation>,
    settings: &Settings,
) -> SyncUnit {
    let namespace = object.namespace().unwrap_or_default();
    SyncUnit {
        id: id(object),
        status,
        source: Source::default(),
        destination: Destination {
            cluster: settings.identity(object).to_string(),
            namespace: settings.default_namespace.clone(),
        },
        operation,
        policy: policy(object, &namespace, settings),
    }
}

/// What the engine knows an object by.
pub(super) fn id(object: &Kustomization) -> String {
    format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any())
}

/// How long building, applying and waiting may take.
pub(super) fn timeout(spec: &KustomizationSpec) -> Duration {
    let timeout = spec.timeout.map(|timeout| timeout.to_std());
    timeout
        .unwrap_or_else(|| spec.interval.to_std().saturating_sub(MARGIN))
        .max(MARGIN)
}

/// What is wrong with expressions of the spec: nothing can be done before they are corrected.
pub(super) fn problem(spec: &KustomizationSpec) -> Option<cel::Error> {
    cel::Checks::new(&checks(spec)).err()
}

/// Whether the health of something is waited for.
pub(super) fn waits(spec: &KustomizationSpec) -> bool {
    spec.wait || !spec.health_checks.is_empty()
}

fn policy(object: &Kustomization, namespace: &str, settings: &Settings) -> Policy {
    let spec = &object.spec;
    let name = object.name_any();
    let asks = Asks::or_careful(object);
    let strategy = strategy(&asks, &name, namespace, settings);
    let others = settings.override_managers.iter().map(String::as_str);
    Policy {
        automatic: !asks.observe,
        manager: MANAGER.to_owned(),
        interval: spec.interval.to_std(),
        retry: retry_interval(object),
        takeover: Takeover::flux(MANAGER, GROUP, others),
        ignore: ignored(spec).unwrap_or_default(),
        health: (!spec.health_check_exprs.is_empty())
            .then(|| OwnRules::expressions(&checks(spec)).ok())
            .flatten(),
        strategy,
        options: options(object, namespace, &name, settings),
        ..Policy::default()
    }
}

fn options(object: &Kustomization, namespace: &str, name: &str, settings: &Settings) -> Options {
    let spec = &object.spec;
    let seconds = timeout(spec).as_secs();
    let is_deleting = object.metadata.deletion_timestamp.is_some();
    let wait = match is_deleting {
        // Whoever deletes an object is told when what it has made is gone, if they ask for that.
        true => spec.deletion_policy == Some(DeletionPolicy::WaitForTermination),
        false => waits(spec),
    };
    let objects = (!spec.wait).then(|| spec.health_checks.iter().map(|one| key(one, namespace)).collect());
    Options {
        prune: spec.prune.unwrap_or_default() || is_deleting,
        allow_empty: true,
        force: spec.force,
        wait: wait.then(|| Health {
            objects,
            except: Some(ObjectKey {
                group: GROUP.into(),
                kind: "Kustomization".into(),
                namespace: namespace.into(),
                name: name.into(),
            }),
            seconds,
            fail_fast: settings.fail_fast,
        }),
        ..Options::default()
    }
}

fn key(reference: &ObjectReference, namespace: &str) -> ObjectKey {
    let api_version = reference.api_version.as_deref().unwrap_or("apps/v1");
    let own = reference.namespace.as_deref().unwrap_or(namespace);
    ObjectKey {
        group: split_api_version(api_version).0.into(),
        kind: reference.kind.as_str().into(),
        namespace: own.into(),
        name: reference.name.as_str().into(),
    }
}

fn checks(spec: &KustomizationSpec) -> Vec<cel::Check> {
    spec.health_check_exprs.iter().map(health_check).collect()
}

/// A check of a spec, as the engine has it.
pub(crate) fn health_check(check: &HealthCheckExpr) -> cel::Check {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    cel::Check {
        api_version: check.api_version.clone(),
        kind: text(&check.kind),
        current: check.current.clone(),
        in_progress: text(&check.in_progress),
        failed: text(&check.failed),
    }
}

/// The fields that are left as they are.
///
/// # Errors
/// What is wrong with the rules.
pub fn ignored(spec: &KustomizationSpec) -> Result<IgnoreRules, ignore::Error> {
    let rules: Vec<IgnoreRule> = spec.ignore.iter().map(ignore_rule).collect();
    IgnoreRules::new(&rules)
}

/// A rule of a spec, as the engine has it.
pub(crate) fn ignore_rule(rule: &patch::IgnoreRule) -> IgnoreRule {
    IgnoreRule {
        target: rule.target.as_ref().map(target),
        paths: rule.paths.clone(),
        ..IgnoreRule::default()
    }
}

fn target(selector: &patch::Selector) -> Target {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    Target {
        group: text(&selector.group),
        version: text(&selector.version),
        kind: text(&selector.kind),
        name: text(&selector.name),
        namespace: text(&selector.namespace),
        label_selector: text(&selector.label_selector),
        annotation_selector: text(&selector.annotation_selector),
    }
}

/// What the status of an object says of its unit, to a process that knows nothing else of it.
pub(super) fn first_status(object: &Kustomization) -> Status {
    let Some(status) = &object.status else {
        return Status::default();
    };
    let is_ready = status.condition(ConditionType::READY).is_some_and(|ready| {
        ready.status == api::ConditionStatus::True && status.observed_generation == object.metadata.generation
    });
    let applied = status.last_applied_revision.clone().unwrap_or_default();
    Status {
        // What was not ready is done again, even if it is of the same revision.
        revision: if is_ready { applied } else { String::new() },
        attempted: status.last_attempted_revision.clone().unwrap_or_default(),
        inventory: status.inventory.clone().unwrap_or_default(),
        ..Status::default()
    }
}

/// Whether what an object has made is deleted with it.
pub(super) fn deletes(object: &Kustomization) -> bool {
    let spec = &object.spec;
    let has_some = object
        .status
        .as_ref()
        .and_then(|status| status.inventory.as_ref());
    let has_some = has_some.is_some_and(|inventory| !inventory.entries.is_empty());
    let wants = match &spec.deletion_policy {
        None | Some(DeletionPolicy::MirrorPrune) => spec.prune.unwrap_or_default(),
        Some(DeletionPolicy::Delete | DeletionPolicy::WaitForTermination) => true,
        Some(DeletionPolicy::Orphan | DeletionPolicy::Other(_)) => false,
    };
    // Who changes nothing deletes nothing.
    !spec.suspend && !Asks::or_careful(object).observe && has_some && wants
}
