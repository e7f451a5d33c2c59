//! Why there is no chart: in which condition it stands, by which reason it is told, and whether it is tried again.

use std::time::Duration;

use api::{ConditionType, Reason};
use source::helm::build;

use super::helm_chart::ChartRun;
use super::helm_chart_source::Missing;
use super::{chain, failed};
use crate::kit::{Conditions, Failure};

/// Notes that there is no source, which is waited for where it may still come.
pub(super) fn without(run: &mut ChartRun<'_>, missing: &Missing, wait: Duration) -> Failure {
    let message = chain(missing);
    let kind = ConditionType::FETCH_FAILED;
    match missing {
        Missing::Artifact { .. } => {
            let failure = Failure::waiting(wait, Reason::NO_SOURCE_ARTIFACT, message);
            failed(run, kind, failure)
        }
        Missing::Object { .. } | Missing::NotListed(_) => {
            let failure = Failure::transient(Reason::SOURCE_UNAVAILABLE, message);
            failed(run, kind, failure)
        }
        Missing::Kind(_) => {
            run.status
                .set_true(run.stamp, kind, Reason::SOURCE_UNAVAILABLE, &message);
            Failure::stalled(Reason::UNSUPPORTED_SOURCE_KIND, message)
        }
    }
}

/// Notes a failure that is none of building a chart: it is told by its reason, and the condition calls it unknown, as Flux does.
pub(super) fn unknown(run: &mut ChartRun<'_>, failure: Failure) -> Failure {
    run.status.remove(ConditionType::BUILD_FAILED);
    let message = format!("unknown build error: {}", failure.message);
    let kind = ConditionType::FETCH_FAILED;
    run.status.set_true(run.stamp, kind, Reason::UNKNOWN, &message);
    failure
}

/// Notes that a signature is missing or wrong.
pub(super) fn unverified(run: &mut ChartRun<'_>, message: String) -> Failure {
    run.status.remove(ConditionType::FETCH_FAILED);
    let kind = ConditionType::SOURCE_VERIFIED;
    run.status
        .set_false(run.stamp, kind, Reason::VERIFICATION_ERROR, &message);
    let failure = Failure::transient(Reason::CHART_VERIFICATION_ERROR, message);
    failed(run, ConditionType::BUILD_FAILED, failure)
}

/// Notes that a chart was not built in time.
pub(super) fn late(run: &mut ChartRun<'_>, limit: Duration) -> Failure {
    run.status.remove(ConditionType::FETCH_FAILED);
    let message = format!(
        "the chart was not built within {limit:?}: check the servers of its dependencies, or commit them below charts/"
    );
    let failure = Failure::transient(Reason::CHART_PACKAGE_ERROR, message);
    failed(run, ConditionType::BUILD_FAILED, failure)
}

/// Notes why a chart was not built, in the condition where it belongs.
pub(super) fn unbuilt(run: &mut ChartRun<'_>, error: &build::Error) -> Failure {
    use build::Error;
    let message = chain(error);
    let reason = match error {
        Error::Reference(_) | Error::NotFound(_) | Error::NoChart { .. } => Reason::INVALID_CHART_REFERENCE,
        Error::Pull(_) | Error::Pulled(_) => Reason::CHART_PULL_ERROR,
        Error::Authentication(_) => {
            return unknown(run, Failure::transient(Reason::AUTHENTICATION_FAILED, message));
        }
        Error::Verification(_) => return unverified(run, message),
        Error::MetadataPatch { .. } => Reason::METADATA_PATCH_ERROR,
        Error::NoValuesFile { .. } | Error::ReadValues { .. } | Error::Values { .. } | Error::NoValues(_) => {
            Reason::VALUES_FILES_ERROR
        }
        Error::Dependency(_) => Reason::DEPENDENCY_BUILD_ERROR,
        Error::Load(_) | Error::Pack(_) => Reason::CHART_PACKAGE_ERROR,
    };
    let (kind, other) = match reason {
        Reason::INVALID_CHART_REFERENCE | Reason::CHART_PULL_ERROR => {
            (ConditionType::FETCH_FAILED, ConditionType::BUILD_FAILED)
        }
        _ => (ConditionType::BUILD_FAILED, ConditionType::FETCH_FAILED),
    };
    run.status.remove(other);
    let failure = match error.is_stalling() {
        true => Failure::stalled(reason, message),
        false => Failure::transient(reason, message),
    };
    failed(run, kind, failure)
}
