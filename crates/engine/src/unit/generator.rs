//! Where manifests come from.

use futures::future::BoxFuture;
use model::Manifest;

use super::{Failure, SyncUnit};

/// What a source describes at one revision.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The objects, in any order.
    pub manifests: Vec<Manifest>,
    /// The revision they are of: what was asked for, resolved.
    pub revision: String,
}

/// Turns the source of a unit into manifests. It is called each time a unit is looked at and has to keep what is expensive. For several
/// units it is called at the same time.
///
/// It runs on the engine's workers and must not block them for long: to read a few files is no matter, to build or to fetch something is
/// one for `tokio::task::spawn_blocking` or for requests that wait without blocking. What waits for long leaves its worker to other units,
/// and is given up after [`generate_within`](super::Policy::generate_within); what blocks cannot be.
pub trait ManifestGenerator: Send + Sync + 'static {
    /// The manifests of a unit, at this revision or the one its source says. `fresh` asks it to use nothing that it has kept:
    /// somebody has asked for an operation, and it is about to begin.
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        revision: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>>;
}
