//! What a HelmRelease is to Helm: names, namespaces, times, and what the user wants done when something fails.

use std::time::Duration;

use api::Reason;
use api::helm::{
    ApplyMethod, DriftMode, HelmRelease, Install, PostRenderStrategy, Remediation as Remedy, Strategy,
    Upgrade,
};
use helm::decision::{self, ActionPolicy, Filter, Policy, Remediation, ServerSideApply, Tests};
use helm::record::Record;
use kube::ResourceExt;

use super::Settings;
use crate::kit::{Failure, chain, named};

/// How long an action of Helm may take where nothing is said.
const TIMEOUT: Duration = Duration::from_secs(300);
/// How many records are kept where nothing is said.
const HISTORY: i64 = 5;

/// The namespace of the object itself.
pub(super) fn own_namespace(object: &HelmRelease) -> String {
    object.namespace().unwrap_or_default()
}

/// The namespace that is installed to.
pub(super) fn namespace(object: &HelmRelease) -> String {
    let target = object.spec.target_namespace.clone();
    target
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| own_namespace(object))
}

/// The namespace of the records.
pub(super) fn storage_namespace(object: &HelmRelease) -> String {
    let storage = object.spec.storage_namespace.clone();
    storage
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| own_namespace(object))
}

/// The name of the release, as Helm takes it.
pub(super) fn release_name(object: &HelmRelease) -> String {
    let given = object.spec.release_name.as_deref().unwrap_or_default();
    let target = object.spec.target_namespace.as_deref().unwrap_or_default();
    helm::release::release_name(given, target, &object.name_any())
}

/// Checks that the names of the spec can be part of requests.
///
/// # Errors
/// Where they cannot.
pub(super) fn check_names(object: &HelmRelease) -> Result<(), Failure> {
    let checked = named::check("spec.storageNamespace", &storage_namespace(object))
        .and_then(|()| named::check("spec.targetNamespace", &namespace(object)))
        .and_then(|()| named::check("spec.releaseName", &release_name(object)));
    checked.map_err(|error| Failure::stalled(Reason::INVALID_SPEC, chain(&error)))
}

/// How many records are kept; 0 is all.
pub(super) fn max_history(object: &HelmRelease) -> i64 {
    object.spec.max_history.unwrap_or(HISTORY)
}

/// How long one action may take.
pub(super) fn timeout(object: &HelmRelease, of_action: Option<api::Duration>) -> Duration {
    let given = of_action.or(object.spec.timeout);
    given.map_or(TIMEOUT, |given| given.to_std())
}

/// How long each action may take.
pub(super) fn timeout_of(object: &HelmRelease, action: decision::Action) -> Duration {
    let spec = &object.spec;
    let of_action = match action {
        decision::Action::Install => spec.install.as_ref().and_then(|install| install.timeout),
        decision::Action::Upgrade => spec.upgrade.as_ref().and_then(|upgrade| upgrade.timeout),
        decision::Action::Test => spec.test.as_ref().and_then(|test| test.timeout),
        decision::Action::Rollback { .. } => spec.rollback.as_ref().and_then(|rollback| rollback.timeout),
        decision::Action::UninstallRemediation => {
            spec.uninstall.as_ref().and_then(|uninstall| uninstall.timeout)
        }
        decision::Action::Unlock | decision::Action::CorrectDrift => None,
    };
    timeout(object, of_action)
}

/// How post-renderers see hooks.
pub(super) fn post_render_strategy(object: &HelmRelease, helm3_defaults: bool) -> helm::release::Strategy {
    match object.spec.post_render_strategy {
        Some(PostRenderStrategy::NoHooks) => helm::release::Strategy::NoHooks,
        Some(PostRenderStrategy::Separate) => helm::release::Strategy::Separate,
        None if helm3_defaults => helm::release::Strategy::NoHooks,
        _ => helm::release::Strategy::Combined,
    }
}

/// What the record of a release says of how it is applied: as the one before, unless the user wants it otherwise.
pub(super) fn is_server_side(method: Option<&ApplyMethod>, before: &Record) -> bool {
    let choice = match method {
        Some(ApplyMethod::Enabled) => ServerSideApply::Enabled,
        Some(ApplyMethod::Disabled) => ServerSideApply::Disabled,
        _ => ServerSideApply::Auto,
    };
    decision::applies_server_side(choice, before)
}

/// What the user wants done when something fails.
pub(super) fn policy(object: &HelmRelease, settings: &Settings) -> Policy {
    let spec = &object.spec;
    Policy {
        install: spec.install.as_ref().map(install_policy).unwrap_or_default(),
        upgrade: spec.upgrade.as_ref().map(upgrade_policy).unwrap_or_default(),
        tests: tests(object),
        drift: match spec
            .drift_detection
            .as_ref()
            .and_then(|drift| drift.mode.as_ref())
        {
            Some(DriftMode::Enabled) => decision::DriftMode::Enabled,
            Some(DriftMode::Warn) => decision::DriftMode::Warn,
            _ => decision::DriftMode::Disabled,
        },
        retry_by_default: settings.retry_on_failure,
    }
}

/// Which tests are run, and whether they matter.
pub(super) fn tests(object: &HelmRelease) -> Tests {
    let Some(test) = &object.spec.test else {
        return Tests::default();
    };
    let filters = test.filters.iter().map(|filter| Filter {
        name: filter.name.clone(),
        exclude: filter.exclude,
    });
    Tests {
        enabled: test.enable,
        ignore_failures: test.ignore_failures,
        filters: filters.collect(),
    }
}

fn strategy(name: &Strategy, interval: Option<api::Duration>) -> Option<decision::Strategy> {
    match name {
        Strategy::RetryOnFailure => Some(decision::Strategy::RetryOnFailure {
            interval: interval.map(|interval| interval.to_std()),
        }),
        Strategy::RemediateOnFailure => Some(decision::Strategy::RemediateOnFailure),
        _ => None,
    }
}

fn install_policy(install: &Install) -> ActionPolicy {
    let given = install.remediation.as_ref();
    ActionPolicy {
        remediation: Remediation {
            retries: given.and_then(|given| given.retries).unwrap_or_default(),
            ignore_test_failures: given.and_then(|given| given.ignore_test_failures),
            remediate_last_failure: given.and_then(|given| given.remediate_last_failure),
            remedy: decision::Remedy::Uninstall,
        },
        strategy: install
            .strategy
            .as_ref()
            .and_then(|given| strategy(&given.name, given.retry_interval)),
    }
}

fn upgrade_policy(upgrade: &Upgrade) -> ActionPolicy {
    let given = upgrade.remediation.as_ref();
    let remedy = match given.and_then(|given| given.strategy.as_ref()) {
        Some(Remedy::Uninstall) => decision::Remedy::Uninstall,
        _ => decision::Remedy::Rollback,
    };
    ActionPolicy {
        remediation: Remediation {
            retries: given.and_then(|given| given.retries).unwrap_or_default(),
            ignore_test_failures: given.and_then(|given| given.ignore_test_failures),
            remediate_last_failure: given.and_then(|given| given.remediate_last_failure),
            remedy,
        },
        strategy: upgrade
            .strategy
            .as_ref()
            .and_then(|given| strategy(&given.name, given.retry_interval)),
    }
}
