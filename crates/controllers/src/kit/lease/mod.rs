//! One active instance of several, by a Lease of the cluster, as client-go elects a leader.
//!
//! # Flow
//!
//! A candidate looks at the Lease every retry period, with some chance added so that candidates do not meet. It takes it where
//! nobody holds it, or where whoever holds it has not renewed it for the duration that the Lease names. The holder renews it
//! every retry period; where that fails for the renew deadline, or another one is found to hold it, the lease is lost and its
//! process must end.
//!
//! The holder renews it until its last run has ended and its last write was answered, and only then gives it up: see [`Fence`].
//!
//! # Guarantees and assumptions
//!
//! The clocks of candidates may differ: whether a lease has run out is judged by the time since this candidate *saw* it renewed,
//! never by the times written in it. The rates of clocks must agree, as renew deadline and duration are counted on different
//! machines. Two that write at once are told apart by the version of the object.

mod fence;
mod record;

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Client;
use kube::api::{Api, PostParams};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep, timeout};

use super::chain::chain;
use record::Observed;

pub use fence::{Closed, Fence};

/// How much longer than the retry period a wait may get, as a share of it.
const SPREAD: f64 = 1.2;

/// Which lease, held how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// Who wants it; see [`identity`].
    pub identity: String,
    /// How long others wait after they last saw it renewed.
    pub duration: Duration,
    /// How long the holder tries to renew it before it gives up.
    pub renew_deadline: Duration,
    /// The time between two tries.
    pub retry_period: Duration,
}

impl Options {
    /// What is wrong with the times, by the flags that set them.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.duration <= self.renew_deadline {
            problems.push(format!(
                "--leader-election-lease-duration ({:?}) must be greater than --leader-election-renew-deadline ({:?})",
                self.duration, self.renew_deadline
            ));
        }
        if self.renew_deadline <= self.retry_period.mul_f64(SPREAD) {
            problems.push(format!(
                "--leader-election-renew-deadline ({:?}) must be greater than {SPREAD} times \
                 --leader-election-retry-period ({:?})",
                self.renew_deadline, self.retry_period
            ));
        }
        if self.duration < Duration::from_secs(1) || self.retry_period.is_zero() {
            problems.push(
                "--leader-election-lease-duration must be at least 1s, and --leader-election-retry-period \
                 greater than 0"
                    .to_owned(),
            );
        }
        problems
    }
}

/// The name of the lease of a controller. Shards, which look at objects with some labels only, run side by side: each has one
/// of its own.
pub fn lease_name(controller: &str, label_selector: Option<&str>) -> String {
    let base = format!("{controller}-leader-election");
    let Some(selector) = label_selector.filter(|selector| !selector.is_empty()) else {
        return base;
    };
    let hash = Sha256::digest(selector.as_bytes());
    let hex: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{base}-{hex}")
}

/// A name that no other instance has, even on the same host: the host and a random UUID.
pub fn identity(host: &str) -> String {
    let random = fastrand::u128(..);
    // Version 4, variant 1, as those that read UUIDs expect.
    let bits = (random & !(0xf << 76) & !(0b11 << 62)) | (4 << 76) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    format!(
        "{host}_{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

/// Why the lease is not held any more.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// It could not be renewed for too long.
    #[error("leader election lost: the lease {lease} was not renewed within {deadline:?}")]
    NotRenewed {
        /// Namespace and name.
        lease: String,
        /// What is too long.
        deadline: Duration,
        /// The last failure.
        #[source]
        last: Option<kube::Error>,
    },
    /// Another one has taken it, as from a process that was paused.
    #[error("leader election lost: the lease {lease} is held by {holder}")]
    Taken {
        /// Namespace and name.
        lease: String,
        /// Who has it.
        holder: String,
    },
}

/// A candidate for a lease, and later its holder.
pub struct Elector {
    api: Api<Lease>,
    options: Options,
    observed: Observed,
    /// Lets no writes pass once the lease has run out.
    fence: Fence,
}

impl Elector {
    /// A candidate that has not looked yet.
    pub fn new(client: Client, options: Options, fence: Fence) -> Self {
        Elector {
            fence,
            api: Api::namespaced(client, &options.namespace),
            observed: Observed::default(),
            options,
        }
    }

    /// Waits until the lease is held.
    pub async fn acquire(&mut self) {
        let mut told = None;
        loop {
            let problem = match timeout(self.options.renew_deadline, self.attempt()).await {
                Ok(Ok(true)) => return,
                Ok(Ok(false)) => None,
                Ok(Err(error)) => Some(chain(&error)),
                Err(_) => Some("the cluster does not answer".to_owned()),
            };
            // Nothing is done without the lease: whoever wonders why is told, but not over and over.
            if problem != told {
                if let Some(problem) = &problem {
                    tracing::error!(
                        error = problem,
                        "failed to take the lease {}/{}: it is tried again",
                        self.options.namespace,
                        self.options.name
                    );
                }
                told = problem;
            }
            let spread = 1.0 + SPREAD * fastrand::f64();
            sleep(self.options.retry_period.mul_f64(spread)).await;
        }
    }

    /// Takes note of signs of life of whoever holds the lease, and takes it from nobody. Who has looked on while another lease was waited for
    /// does not begin to wait for this one then.
    pub async fn look_on(&mut self) {
        loop {
            let seen = timeout(self.options.renew_deadline, self.api.get_opt(&self.options.name)).await;
            // What cannot be read now is told when the lease is to be taken.
            if let Ok(Ok(Some(lease))) = seen {
                self.observed.see(&lease.spec.unwrap_or_default(), Instant::now());
            }
            sleep(self.options.retry_period).await;
        }
    }

    /// Renews the lease for as long as that goes well.
    pub async fn hold(&mut self) -> Lost {
        loop {
            let deadline = Instant::now() + self.options.renew_deadline;
            let mut last = None;
            loop {
                let left = deadline.saturating_duration_since(Instant::now());
                match timeout(left, self.attempt()).await {
                    Ok(Ok(true)) => break,
                    Ok(Ok(false)) => {
                        if let Some(holder) = self.observed.other_than(&self.options.identity) {
                            let (lease, holder) = (self.lease(), holder.to_owned());
                            return Lost::Taken { lease, holder };
                        }
                    }
                    Ok(Err(error)) => {
                        tracing::debug!(
                            "failed to renew the lease {}: {}",
                            self.options.name,
                            chain(&error)
                        );
                        last = Some(error);
                    }
                    Err(_) => {
                        return Lost::NotRenewed {
                            lease: self.lease(),
                            deadline: self.options.renew_deadline,
                            last,
                        };
                    }
                }
                let left = deadline.saturating_duration_since(Instant::now());
                sleep(self.options.retry_period.min(left)).await;
            }
            sleep(self.options.retry_period).await;
        }
    }

    /// Gives the lease up, so that the next holder need not wait for it to run out. Does nothing where another holds it.
    ///
    /// # Errors
    /// Where the cluster does not take it.
    pub async fn release(&mut self) -> kube::Result<()> {
        let Some(mut lease) = self.api.get_opt(&self.options.name).await? else {
            return Ok(());
        };
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() != Some(&self.options.identity) {
            return Ok(());
        }
        let now = MicroTime(jiff::Timestamp::now());
        // What client-go writes: held by nobody, and soon run out for those who only read the times.
        spec.holder_identity = Some(String::new());
        spec.lease_duration_seconds = Some(1);
        spec.renew_time = Some(now.clone());
        spec.acquire_time = Some(now);
        self.api
            .replace(&self.options.name, &PostParams::default(), &lease)
            .await
            .map(drop)
    }

    /// One try to take or renew the lease; whether it is held now.
    async fn attempt(&mut self) -> kube::Result<bool> {
        let (name, sent) = (self.options.name.clone(), Instant::now());
        let parameters = PostParams::default();
        let Some(mut lease) = self.api.get_opt(&name).await? else {
            let lease = Lease {
                metadata: ObjectMeta {
                    name: Some(name),
                    namespace: Some(self.options.namespace.clone()),
                    ..ObjectMeta::default()
                },
                spec: Some(self.claim(None)),
            };
            let made = self.api.create(&parameters, &lease).await;
            return self.judge(made, sent);
        };
        let spec = lease.spec.clone().unwrap_or_default();
        self.observed.see(&spec, Instant::now());
        if !self.observed.is_free_for(&self.options.identity, Instant::now()) {
            return Ok(false);
        }
        lease.spec = Some(self.claim(Some(&spec)));
        let replaced = self.api.replace(&name, &parameters, &lease).await;
        self.judge(replaced, sent)
    }

    /// What the Lease says when this one holds it.
    fn claim(&self, before: Option<&LeaseSpec>) -> LeaseSpec {
        let now = MicroTime(jiff::Timestamp::now());
        let mut spec = before.cloned().unwrap_or_default();
        let is_ours = spec.holder_identity.as_deref() == Some(&self.options.identity);
        let transitions = spec.lease_transitions.unwrap_or_default();
        if !is_ours {
            spec.acquire_time = Some(now.clone());
            spec.lease_transitions = Some(if before.is_some() { transitions + 1 } else { 0 });
        }
        spec.holder_identity = Some(self.options.identity.clone());
        let seconds = i32::try_from(self.options.duration.as_secs()).unwrap_or(i32::MAX);
        spec.lease_duration_seconds = Some(seconds);
        spec.renew_time = Some(now);
        spec
    }

    fn judge(&mut self, written: kube::Result<Lease>, sent: Instant) -> kube::Result<bool> {
        match written {
            Ok(lease) => {
                let spec = lease.spec.unwrap_or_default();
                self.observed.see(&spec, Instant::now());
                self.fence
                    .held_until(&self.options.name, sent + self.options.duration);
                Ok(true)
            }
            // Another candidate was quicker.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The namespace and name of the Lease.
    fn lease(&self) -> String {
        format!("{}/{}", self.options.namespace, self.options.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D6: the name of a shard's lease is what Flux's `leaderelection.GenerateID` makes of the same selector.
    #[test]
    fn a_shard_has_a_lease_of_its_own() {
        assert_eq!(
            lease_name("source-controller", None),
            "source-controller-leader-election"
        );
        assert_eq!(
            lease_name("source-controller", Some("")),
            lease_name("source-controller", None)
        );
        // printf sharding.fluxcd.io/key=shard1 | sha256sum
        assert_eq!(
            lease_name("source-controller", Some("sharding.fluxcd.io/key=shard1")),
            "source-controller-leader-election-73fdc1be"
        );
    }

    #[test]
    fn an_identity_is_the_host_and_a_uuid() {
        let (one, other) = (identity("pod-1"), identity("pod-1"));
        assert_ne!(one, other);
        let uuid = one.strip_prefix("pod-1_").unwrap();
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uuid.as_bytes()[19]));
    }

    #[test]
    fn times_that_cannot_work_are_told_all_at_once() {
        let seconds = Duration::from_secs;
        let mut options = Options {
            namespace: "flux-system".into(),
            name: "source-controller-leader-election".into(),
            identity: "a".into(),
            duration: seconds(35),
            renew_deadline: seconds(30),
            retry_period: seconds(5),
        };
        assert_eq!(options.problems(), Vec::<String>::new());
        options.duration = seconds(30);
        options.retry_period = seconds(25);
        assert_eq!(options.problems().len(), 2);
    }
}
