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
use crate::kit::jittered;

/// Who fields are written by.
const MANAGER: &str = "kustomize-controller";
const GROUP: &str = api::kustomize::GROUP;
/// What is left of an interval for everything but waiting, and the shortest time that is waited.
const MARGIN: Duration = Duration::from_secs(30);

/// The unit of an object, with its ignore rules. What cannot be used of its spec is left out: [`problem`] tells of it before anything
/// is done.
pub(super) fn unit(
    object: &Kustomization,
    status: Status,
    operation: Option<Operation>,
    settings: &Settings,
    ignore: IgnoreRules,
) -> SyncUnit {
    let namespace = object.namespace().unwrap_or_default();
    SyncUnit {
        id: id(object),
        tenant: namespace.clone(),
        status,
        source: Source::default(),
        destination: Destination {
            cluster: settings.identity(object).to_string(),
            namespace: settings.default_namespace.clone(),
        },
        operation,
        policy: Policy {
            ignore,
            ..policy(object, &namespace, settings)
        },
    }
}

/// A unit whose interval is spread by up to `percent`, so that not all are due at once. How soon a failure is tried again is not
/// spread, as with Flux.
pub(super) fn spread(mut unit: SyncUnit, percent: u8, random: f64) -> SyncUnit {
    unit.policy.interval = jittered(unit.policy.interval, percent, random);
    unit
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

/// Whether the spec has expressions of health, which take time.
pub(super) fn has_expressions(spec: &KustomizationSpec) -> bool {
    !spec.health_check_exprs.is_empty()
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
        observe_within: timeout(spec),
        takeover: Takeover::flux(MANAGER, GROUP, others),
        health: has_expressions(spec)
            .then(|| OwnRules::unparsed_expressions(checks(spec)).of_tenant(namespace)),
        strategy,
        options: options(object, namespace, &name, settings),
        ..Policy::default()
    }
}

fn options(object: &Kustomization, namespace: &str, name: &str, settings: &Settings) -> Options {
    let spec = &object.spec;
    let asks = Asks::or_careful(object);
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
        // What is deleted has nothing left that could be guarded.
        allow_empty: is_deleting || !asks.deny_empty,
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

#[cfg(test)]
mod tests {
    use super::super::beyond::tests::annotated;
    use super::*;

    fn object(interval: &str, more: serde_json::Value) -> Kustomization {
        let mut object = annotated(&[]);
        let mut spec = serde_json::json!({
            "interval": interval, "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"},
        });
        spec.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        object.spec = serde_json::from_value(spec).unwrap();
        object
    }

    /// As `GetTimeout` of Flux has it.
    #[test]
    fn the_time_of_a_run_is_the_interval_less_half_a_minute_if_nothing_else_is_said() {
        let of = |interval: &str, more: serde_json::Value| timeout(&object(interval, more).spec).as_secs();
        assert_eq!(of("10m", serde_json::json!({})), 570);
        assert_eq!(of("45s", serde_json::json!({})), 30, "never less");
        assert_eq!(of("10m", serde_json::json!({"timeout": "2m"})), 120);
        assert_eq!(of("10m", serde_json::json!({"timeout": "5s"})), 30, "never less");
    }

    #[test]
    fn intervals_are_spread_and_retries_are_not() {
        let object = object("10m", serde_json::json!({"retryInterval": "1m"}));
        let of = |percent, random| {
            let made = unit(
                &object,
                Status::default(),
                None,
                &Settings::default(),
                IgnoreRules::default(),
            );
            let made = spread(made, percent, random);
            (made.policy.interval.as_secs(), made.policy.retry.as_secs())
        };
        assert_eq!(of(5, 0.0), (570, 60));
        assert_eq!(of(5, 1.0), (630, 60));
        assert_eq!(of(0, 0.3), (600, 60));
    }
}
