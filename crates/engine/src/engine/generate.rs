//! What the source of a unit describes, unless it is another source before that is known.

use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;

use crate::unit::{Failure, Generated, SyncUnit};
use crate::workers::SlowWork;

use super::Shared;
use super::known::Known;
use super::remote::Lane;

/// So long a source is built although the unit has another one meanwhile. If it were given up at once, sources that change more
/// often than they can be built would never be.
const GRACE: Duration = Duration::from_secs(30);

/// So long a generation holds its worker.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many generations of one tenant run without a worker. Each may occupy a thread and what it has read.
const MOST: usize = 16;

/// Returns the limits of generations that take long.
pub(super) fn generations() -> SlowWork {
    SlowWork::new(PATIENCE, MOST)
}

impl Shared {
    /// What the source of a unit describes; nothing if it is not the unit's source any more. A unit that is deleted needs it
    /// for its hooks alone.
    pub(super) async fn generated(
        &self,
        unit: &SyncUnit,
        known: &Known,
        lane: Lane<'_>,
    ) -> Result<Option<Generated>, Failure> {
        let runs_hooks = unit.policy.strategy.hooks && !unit.policy.options.argo.skip_hooks;
        if unit.is_deleting() && !runs_hooks {
            return Ok(Some(Generated {
                manifests: Vec::new(),
                revision: String::new(),
            }));
        }
        let asked = unit.operation.as_ref();
        let revision = asked.and_then(|operation| operation.revision.as_deref());
        let generate = async {
            tokio::select! {
                biased;
                generated = self.manifests.generate(unit, revision, known.is_new(unit)) => match generated {
                    Err(failure) if unit.is_deleting() => Err(Failure::new(format!(
                        "{failure}; the hooks for its deletion are in its source: set `skip_hooks` to delete it without them"
                    ))),
                    generated => generated.map(Some),
                },
                () = self.outdated(unit, known) => Ok(None),
            }
        };
        match lane {
            Lane::Own(worker) => self.generations.run(worker, &unit.tenant, generate).await,
            // Whoever vouches for the cluster has workers of their own.
            Lane::Remote => generate.await,
        }
    }

    /// Ends when the unit has another source, asks for something else or is gone, though not before it had its time.
    async fn outdated(&self, unit: &SyncUnit, known: &Known) {
        let begun = Instant::now();
        loop {
            known.changed.notified().await;
            let Ok(now) = self.units.get(&unit.id).await else {
                continue;
            };
            if now.is_none_or(|now| now.source != unit.source || now.operation != unit.operation) {
                break;
            }
        }
        tokio::time::sleep_until(begun + GRACE).await;
    }
}

impl Known {
    /// Whether somebody asks for an operation that has not begun: then they want to see what the source is now.
    fn is_new(&self, unit: &SyncUnit) -> bool {
        let state = self.state.lock();
        let left = unit.status.operation.as_deref();
        let left = left.filter(|left| state.endings == 0 && !left.phase.is_final());
        let begun = match &state.intent {
            Some(intent) => intent.request.as_ref(),
            None => left.and_then(|left| left.request.as_ref()),
        };
        unit.operation.is_some() && begun != unit.operation.as_ref()
    }

    /// Whoever looks at the unit from now on sees what it was told to have changed so far.
    pub(super) fn is_read(&self) {
        self.changed.notified().now_or_never();
    }
}
