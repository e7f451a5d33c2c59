//! What the status says of a release, in Flux's words.

use std::collections::BTreeMap;

use api::helm::{HelmReleaseSpec, HelmReleaseStatus, ReleaseAction, Snapshot, TestHook};
use api::{ConditionStatus, ConditionType, Reason, ReconcileStatus};
use helm::decision::message::{self, Told};
use helm::decision::ready::{self, Condition, Conditions as Judged, Truth};
use helm::decision::{self, Counters, History, SnapshotAction, Tests};
use helm::record::Time;
use model::event::Severity;

use crate::kit::{Conditions, Notice, Run, Stamp};

/// The history that a status tells of.
pub(super) fn history(status: &HelmReleaseStatus) -> History {
    History::new(status.history.iter().map(snapshot).collect())
}

/// Has a status tell of a history.
pub(super) fn set_history(status: &mut HelmReleaseStatus, history: &History) {
    status.history = history.snapshots().iter().map(told).collect();
}

fn snapshot(told: &Snapshot) -> decision::Snapshot {
    let tests = told.test_hooks.iter().flatten().map(|(name, hook)| {
        let hook = decision::TestHook {
            last_started: hook.last_started.map(time),
            last_completed: hook.last_completed.map(time),
            phase: hook.phase.clone().unwrap_or_default(),
        };
        (name.clone(), hook)
    });
    let tests: BTreeMap<_, _> = tests.collect();
    decision::Snapshot {
        api_version: told.api_version.clone().unwrap_or_default(),
        digest: told.digest.clone(),
        name: told.name.clone(),
        namespace: told.namespace.clone(),
        version: told.version,
        status: told.status.clone(),
        action: told.action.as_deref().and_then(SnapshotAction::parse),
        chart_name: told.chart_name.clone(),
        chart_version: told.chart_version.clone(),
        app_version: told.app_version.clone().unwrap_or_default(),
        config_digest: told.config_digest.clone(),
        first_deployed: told.first_deployed.map(time),
        last_deployed: told.last_deployed.map(time),
        deleted: told.deleted.map(time),
        // No tests were run is something else than that there are none.
        test_hooks: told.test_hooks.is_some().then_some(tests),
        oci_digest: told.oci_digest.clone().unwrap_or_default(),
    }
}

fn told(snapshot: &decision::Snapshot) -> Snapshot {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let tests = snapshot.test_hooks.iter().flatten().map(|(name, hook)| {
        let hook = TestHook {
            last_started: hook.last_started.map(stamp),
            last_completed: hook.last_completed.map(stamp),
            phase: some(&hook.phase),
        };
        (name.clone(), hook)
    });
    Snapshot {
        api_version: some(&snapshot.api_version),
        digest: snapshot.digest.clone(),
        name: snapshot.name.clone(),
        namespace: snapshot.namespace.clone(),
        version: snapshot.version,
        status: snapshot.status.clone(),
        action: snapshot.action.map(|action| action.as_str().to_owned()),
        chart_name: snapshot.chart_name.clone(),
        chart_version: snapshot.chart_version.clone(),
        app_version: some(&snapshot.app_version),
        config_digest: snapshot.config_digest.clone(),
        first_deployed: snapshot.first_deployed.map(stamp),
        last_deployed: snapshot.last_deployed.map(stamp),
        deleted: snapshot.deleted.map(stamp),
        test_hooks: snapshot.test_hooks.is_some().then(|| tests.collect()),
        oci_digest: some(&snapshot.oci_digest),
    }
}

fn time(time: model::Time) -> Time {
    Time::new(time.timestamp())
}

fn stamp(time: Time) -> model::Time {
    model::Time::new(time.timestamp())
}

/// How often releases of a status have failed.
pub(super) fn counters(status: &HelmReleaseStatus) -> Counters {
    Counters {
        failures: status.failures.unwrap_or_default(),
        install: status.install_failures.unwrap_or_default(),
        upgrade: status.upgrade_failures.unwrap_or_default(),
    }
}

/// Has a status tell how often releases have failed.
pub(super) fn set_counters(status: &mut HelmReleaseStatus, counters: Counters) {
    let some = |count: i64| (count != 0).then_some(count);
    status.failures = some(counters.failures);
    status.install_failures = some(counters.install);
    status.upgrade_failures = some(counters.upgrade);
}

/// Forgets how often they have failed.
pub(super) fn clear_failures(status: &mut HelmReleaseStatus) {
    (status.failures, status.install_failures, status.upgrade_failures) = (None, None, None);
}

/// Counts a failure of what was last tried.
pub(super) fn count_failure(status: &mut HelmReleaseStatus) {
    let counter = match status.last_attempted_release_action {
        Some(ReleaseAction::Install) => &mut status.install_failures,
        Some(ReleaseAction::Upgrade) => &mut status.upgrade_failures,
        _ => return,
    };
    *counter = Some(counter.unwrap_or_default() + 1);
}

/// What was last tried.
pub(super) fn last_action(status: &HelmReleaseStatus) -> Option<decision::ReleaseAction> {
    let last = status.last_attempted_release_action.as_ref()?;
    decision::ReleaseAction::parse(last.as_str())
}

fn kind(of: ready::ConditionType) -> ConditionType {
    match of {
        ready::ConditionType::Released => ConditionType::RELEASED,
        ready::ConditionType::TestSuccess => ConditionType::TEST_SUCCESS,
        ready::ConditionType::Remediated => ConditionType::REMEDIATED,
        ready::ConditionType::Drifted => ConditionType::DRIFTED,
    }
}

/// Sets the condition that something is told by.
pub(super) fn set(status: &mut HelmReleaseStatus, stamp: Stamp, told: &Told) {
    status.set(
        stamp,
        kind(told.condition),
        truth(told.status),
        told.reason,
        &told.message,
    );
}

/// The reason of a name.
pub(super) fn reason(name: &str) -> Reason {
    let known = Reason::ALL.iter().find(|reason| reason.as_str() == name);
    *known.unwrap_or(&Reason::PROGRESSING)
}

/// The notice of something that is told.
pub(super) fn notice(told: &Told, metadata: BTreeMap<String, String>) -> Notice {
    Notice {
        severity: if told.is_warning {
            Severity::Error
        } else {
            Severity::Info
        },
        reason: reason(told.reason),
        message: told.message.clone(),
        metadata,
    }
}

/// A condition, as it is judged by.
fn judged(status: &HelmReleaseStatus, kind: ConditionType) -> Option<Condition> {
    let condition = status.condition(kind)?;
    Some(Condition {
        status: match condition.status {
            ConditionStatus::True => Truth::True,
            ConditionStatus::False => Truth::False,
            _ => Truth::Unknown,
        },
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        observed_generation: condition.observed_generation.unwrap_or_default(),
    })
}

/// Judges by all conditions that make up `Ready`.
fn judging<T>(status: &HelmReleaseStatus, judge: impl FnOnce(&Judged<'_>) -> T) -> T {
    let remediated = judged(status, ConditionType::REMEDIATED);
    let test_success = judged(status, ConditionType::TEST_SUCCESS);
    let released = judged(status, ConditionType::RELEASED);
    judge(&Judged {
        remediated: remediated.as_ref(),
        test_success: test_success.as_ref(),
        released: released.as_ref(),
    })
}

/// A release is what is wanted: what says otherwise is out of date.
pub(super) fn settle(run: &mut Run<'_, HelmReleaseSpec>, latest: &decision::Snapshot) {
    let is_ready = run.status.is_true(ConditionType::READY);
    let told = judging(&run.status, |conditions| {
        message::settled(conditions, is_ready, latest)
    });
    if let Some(told) = told {
        run.status.remove(ConditionType::REMEDIATED);
        set(&mut run.status, run.stamp, &told);
    }
}

/// What was undone is wanted again, and is there: it is about to be tested as any release.
pub(super) fn forget_remedy(run: &mut Run<'_, HelmReleaseSpec>, latest: Option<&decision::Snapshot>) {
    let told = latest.and_then(|latest| {
        judging(&run.status, |conditions| {
            message::settled_after_remediation(conditions, latest)
        })
    });
    if let Some(told) = told {
        run.status.remove(ConditionType::REMEDIATED);
        set(&mut run.status, run.stamp, &told);
    }
}

/// Sets `Ready` to what the other conditions come to.
pub(super) fn summarise(run: &mut Run<'_, HelmReleaseSpec>, tests: &Tests) {
    let (status, stamp) = (&mut run.status, run.stamp);
    if !tests.enabled {
        status.remove(ConditionType::TEST_SUCCESS);
    }
    if let Some(ready) = judging(status, |conditions| ready::summarize(conditions, tests)) {
        let truth = truth(ready.status);
        if truth == ConditionStatus::True {
            status.remove(ConditionType::STALLED);
        }
        status.set(stamp, ConditionType::READY, truth, &ready.reason, &ready.message);
    }
    let digests = super::digests(&run.object.spec);
    let some = |digest: String| (!digest.is_empty()).then_some(digest);
    run.status.observed_post_renderers_digest = some(digests.0);
    run.status.observed_common_metadata_digest = some(digests.1);
}

fn truth(of: Truth) -> ConditionStatus {
    match of {
        Truth::True => ConditionStatus::True,
        Truth::False => ConditionStatus::False,
        Truth::Unknown => ConditionStatus::Unknown,
    }
}
