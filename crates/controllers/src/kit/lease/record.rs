//! What a candidate has seen of a lease, and when by its own clock.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::LeaseSpec;
use tokio::time::Instant;

/// The last state of a lease that was seen, and when it was first seen so.
#[derive(Debug, Default)]
pub(super) struct Observed {
    last: Option<(LeaseSpec, Instant)>,
}

impl Observed {
    /// Takes note of what the lease says now. Only a change counts as a sign of life.
    pub(super) fn see(&mut self, spec: &LeaseSpec, now: Instant) {
        if self.last.as_ref().is_none_or(|(last, _)| last != spec) {
            self.last = Some((spec.clone(), now));
        }
    }

    /// Who else holds it.
    pub(super) fn other_than(&self, identity: &str) -> Option<&str> {
        let holder = self.last.as_ref()?.0.holder_identity.as_deref()?;
        (!holder.is_empty() && holder != identity).then_some(holder)
    }

    /// Whether this candidate may write itself into the lease: it is there already, nobody is, or whoever is has shown no
    /// sign of life for as long as the lease says.
    pub(super) fn is_free_for(&self, identity: &str, now: Instant) -> bool {
        let Some((spec, since)) = &self.last else {
            return true;
        };
        if self.other_than(identity).is_none() {
            return true;
        }
        let seconds = u64::try_from(spec.lease_duration_seconds.unwrap_or_default()).unwrap_or_default();
        now.duration_since(*since) >= Duration::from_secs(seconds)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn held(by: &str, renewed: &str) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(by.into()),
            lease_duration_seconds: Some(35),
            renew_time: Some(MicroTime(renewed.parse().unwrap())),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn a_lease_runs_out_by_the_clock_of_who_looks_not_by_what_is_written() {
        let start = Instant::now();
        let mut observed = Observed::default();
        assert!(observed.is_free_for("b", start), "there is no lease");
        // The holder's clock is years behind.
        observed.see(&held("a", "2001-01-01T00:00:00Z"), start);
        assert!(!observed.is_free_for("b", start));
        assert!(!observed.is_free_for("b", start + 34 * SECOND));
        assert!(observed.is_free_for("b", start + 35 * SECOND));
        assert!(observed.is_free_for("a", start));
        // Seen again unchanged, it is no sign of life; a renewal is.
        observed.see(&held("a", "2001-01-01T00:00:00Z"), start + 20 * SECOND);
        assert!(observed.is_free_for("b", start + 35 * SECOND));
        observed.see(&held("a", "2001-01-01T00:00:05Z"), start + 20 * SECOND);
        assert!(!observed.is_free_for("b", start + 54 * SECOND));
        assert!(observed.is_free_for("b", start + 55 * SECOND));
    }

    #[test]
    fn a_lease_that_was_given_up_is_free_at_once() {
        let start = Instant::now();
        let mut observed = Observed::default();
        observed.see(&held("", "2026-01-01T00:00:00Z"), start);
        assert!(observed.is_free_for("b", start));
    }
}
