//! Who works on a release. The record of an operation says so, and a lease says whether that one is still alive.
//!
//! A record that is pending without a word of who works on it is as good as left behind, as it is to Flux: helm leaves them when it is ended. One of a process of
//! our own is left alone for as long as that process holds its lease, and unlocked once it does not.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;

use crate::kit::named;

/// The annotation of a record that says who works on it.
pub(super) const ANNOTATION: &str = "sluice.dev/operator";

/// How soon a release is looked at again that another one works on.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// A process that works on releases for as long as it holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Where the lease is.
    pub namespace: String,
    /// The name of the lease.
    pub lease: String,
    /// Who holds it.
    pub identity: String,
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.namespace, self.lease, self.identity)
    }
}

impl Operator {
    /// The one that a record names.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '/').map(str::to_owned);
        Some(Operator {
            namespace: parts.next()?,
            lease: parts.next()?,
            identity: parts.next()?,
        })
    }

    /// When to look again whether it is still at work; nothing where it is not. Where nobody can say it is not: a release must not wait for
    /// something that nobody can tell.
    pub(super) async fn is_at_work(&self, client: &Client) -> Option<Duration> {
        // The record is the tenant's to write.
        let lease: Lease = named::get(client, &self.namespace, &self.lease).await.ok()?;
        let left = self.left(&lease, Timestamp::now())?;
        Some(left.min(LOOK_AGAIN))
    }

    /// For how long it still holds the lease.
    fn left(&self, lease: &Lease, now: Timestamp) -> Option<Duration> {
        let spec = lease.spec.as_ref()?;
        if spec.holder_identity.as_deref() != Some(&self.identity) {
            return None;
        }
        let lasts = u64::try_from(spec.lease_duration_seconds?).ok()?;
        let renewed = spec.renew_time.as_ref()?.0;
        let ends = renewed.checked_add(Duration::from_secs(lasts)).ok()?;
        let left = Duration::try_from(ends.duration_since(now)).ok()?;
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whoever_holds_a_lease_that_has_not_run_out_is_at_work() {
        let operator = Operator::parse("flux-system/helm-controller-leader-election/pod-1_a/b").unwrap();
        assert_eq!(operator.identity, "pod-1_a/b");
        assert_eq!(Operator::parse(&operator.to_string()), Some(operator.clone()));
        assert_eq!(Operator::parse("nobody"), None);
        let lease = |holder: &str| -> Lease {
            let spec = json!({
                "holderIdentity": holder, "leaseDurationSeconds": 35, "renewTime": "2026-11-17T10:00:00.000000Z",
            });
            serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": spec})).unwrap()
        };
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let left = |holder: &str, now: &str| operator.left(&lease(holder), at(now));
        let soon = Some(Duration::from_secs(5));
        assert_eq!(left("pod-1_a/b", "2026-11-17T10:00:30Z"), soon);
        assert_eq!(left("pod-1_a/b", "2026-11-17T10:00:35Z"), None);
        assert_eq!(left("pod-1_a/b", "2026-11-17T11:00:00Z"), None);
        assert_eq!(left("pod-2_c", "2026-11-17T10:00:30Z"), None);
        assert_eq!(operator.left(&Lease::default(), at("2026-11-17T10:00:00Z")), None);
    }
}
