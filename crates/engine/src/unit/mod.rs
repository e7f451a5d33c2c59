//! What is kept in sync: units, where they are kept, what their manifests are made of, and which clusters they go to. These are
//! the things that whoever embeds the engine brings along.

mod credentials;
mod files;
mod generator;
mod operation;
mod seconds;
mod settings;
mod status;
mod store;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use model::Value;
use serde::{Deserialize, Serialize};

pub use credentials::{Access, ClusterEvent, CredentialsStore, OneCluster};
pub use files::FileStore;
pub use generator::{Generated, ManifestGenerator};
pub use operation::{Operation, OperationState, Phase};
pub use settings::{ReconciliationSettings, ResourceFilter, ResourceOverride};
pub use status::{Correction, Place, Status, SyncState};
pub use store::{MemoryStore, SyncUnitStore};

use crate::cache::{OwnRules, Standard};
use crate::diff::{IgnoreRules, Takeover};
use crate::health::Rules;
use crate::plan;

/// What belongs together, comes from one source and goes to one place: a Kustomization, a release, an application.
///
/// Store it as it is, or have it made from whatever it is described by: it is read back as it was, but for
/// [rules of health](Policy::health) in code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SyncUnit {
    /// What it is known by.
    pub id: String,
    /// Who owns it. Units whose manifests take long to generate leave their workers to others; so many of one tenant may take long at
    /// once, its other units wait for them.
    #[serde(default)]
    pub tenant: String,
    /// What has become of it. The engine writes it.
    #[serde(default)]
    pub status: Status,
    /// Where its manifests come from.
    #[serde(default)]
    pub source: Source,
    /// Where its objects go.
    #[serde(default)]
    pub destination: Destination,
    /// What somebody asks to be done now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// How it is kept in sync.
    #[serde(default)]
    pub policy: Policy,
}

impl SyncUnit {
    /// A unit of which nothing else is said: it goes to the cluster without a name, and is looked after as the default
    /// [policy](Policy) says.
    pub fn new(id: impl Into<String>) -> Self {
        SyncUnit {
            id: id.into(),
            tenant: String::new(),
            status: Status::default(),
            source: Source::default(),
            destination: Destination::default(),
            operation: None,
            policy: Policy::default(),
        }
    }

    /// Whether all that it has is to be deleted.
    pub fn is_deleting(&self) -> bool {
        self.operation.as_ref().is_some_and(|operation| operation.delete)
    }
}

/// Where manifests come from. To the engine it is a text and a value; the [`ManifestGenerator`] knows what they mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// The revision that is wanted: a commit, a digest, a branch. May be empty.
    #[serde(default)]
    pub revision: String,
    /// Whatever else the generator needs.
    #[serde(default)]
    pub parameters: Value,
}

/// Where objects go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Destination {
    /// The name of the cluster, for the [`CredentialsStore`].
    #[serde(default)]
    pub cluster: String,
    /// The namespace of objects that need one and have none.
    #[serde(default)]
    pub namespace: String,
}

/// How a unit is kept in sync.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// Whether what differs is put right at once. If not, the difference is only told, until somebody asks for an operation.
    pub automatic: bool,
    /// The field manager that objects are applied by.
    pub manager: String,
    /// How often the source is looked at although nobody said that it changed; every second at most, and
    /// every year at least.
    #[serde(with = "seconds")]
    pub interval: Duration,
    /// How long after a failure it is tried again, a tenth of a second at least.
    #[serde(with = "seconds")]
    pub retry: Duration,
    /// How long its [generator](ManifestGenerator) may take.
    #[serde(with = "seconds")]
    pub generate_within: Duration,
    /// How long the cluster may take to answer what its objects are and what applying them would change, a minute at least and a quarter
    /// of an hour at most.
    #[serde(with = "seconds")]
    pub observe_within: Duration,
    /// Whose fields are taken over when objects are applied.
    pub takeover: Takeover,
    /// Differences of its objects that do not count, besides those of the
    /// [settings](ReconciliationSettings::ignore).
    pub ignore: IgnoreRules,
    /// Rules of its own of how its objects are doing: its waits and its health go by them. Where they say nothing of an object, the
    /// [override](ResourceOverride::health) of its kind counts, and without one the [rules of the
    /// strategy](plan::Strategy::health).
    ///
    /// They may be code, and are not stored: whoever reads a unit gives it its rules again.
    #[serde(skip)]
    pub health: Option<OwnRules>,
    /// Order, ownership, pruning and everything else that plans differ in.
    pub strategy: plan::Strategy,
    /// What each run asks for.
    pub options: plan::Options,
}

impl Default for Policy {
    /// Whatever differs is put right at once; all that was applied is ours, and nothing is taken over. The manager is `sluice`, the
    /// interval ten minutes, the retry one, a generator may take five, and a cluster ten to answer.
    fn default() -> Self {
        Policy {
            automatic: true,
            manager: "sluice".to_owned(),
            interval: Duration::from_secs(600),
            retry: Duration::from_secs(60),
            generate_within: Duration::from_secs(300),
            observe_within: Duration::from_secs(600),
            takeover: Takeover::default(),
            ignore: IgnoreRules::default(),
            health: None,
            strategy: plan::Strategy::helm(),
            options: plan::Options::default(),
        }
    }
}

/// An interval or a pause of nothing would have a unit looked at without end.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);
const LEAST_RETRY: Duration = Duration::from_millis(100);

/// A busy server needs some time also for a small unit, and a slow one must not hold a worker for as long as its owner likes.
const LEAST_OBSERVING: Duration = Duration::from_secs(60);
const MOST_OBSERVING: Duration = Duration::from_secs(15 * 60);

/// A longer one would be beyond the end of the clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl Policy {
    /// How long it is until the unit is looked at again although nobody said that it changed.
    pub(crate) fn interval(&self) -> Duration {
        self.interval.clamp(LEAST_INTERVAL, LONGEST)
    }

    /// How long after a failure it is tried again.
    pub(crate) fn retry(&self) -> Duration {
        self.retry.clamp(LEAST_RETRY, LONGEST)
    }

    /// How long the cluster may take to answer.
    pub(crate) fn observe_within(&self) -> Duration {
        self.observe_within.clamp(LEAST_OBSERVING, MOST_OBSERVING)
    }

    /// By what it is told how the unit's objects are doing.
    pub(crate) fn standard(&self) -> Standard {
        Standard {
            own: self.health.clone(),
            // What most units go by is what caches go by, and costs nothing there.
            rules: Some(self.strategy.health).filter(|rules| *rules != Rules::default()),
        }
    }
}

/// Why something that whoever embeds the engine does has failed. The text tells people what is wrong and what to do about it.
///
/// `?` makes one of any error, for which it is no [`std::error::Error`] itself. `?` also makes a `Box<dyn Error>` of it, so that a program's
/// `main` may return one:
///
/// ```
/// use engine::unit::Failure;
///
/// fn number(text: &str) -> Result<u32, Failure> {
///     Ok(text.parse()?)
/// }
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     assert_eq!(number("7")?, 7);
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Failure(Box<dyn StdError + Send + Sync>);

impl Failure {
    /// A failure in words.
    pub fn new(text: impl Into<String>) -> Self {
        Failure(text.into().into())
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(Box::new(error))
    }
}

impl From<Failure> for Box<dyn StdError + Send + Sync> {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<Failure> for Box<dyn StdError> {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

/// The error and what it was caused by.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_unit_has_a_cluster_asked_for_as_long_as_it_likes() {
        let of = |seconds| {
            let policy = Policy {
                observe_within: Duration::from_secs(seconds),
                ..Policy::default()
            };
            policy.observe_within().as_secs()
        };
        assert_eq!([of(0), of(300), of(24 * 3600)], [60, 300, 900]);
    }
}
