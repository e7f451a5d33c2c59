//! What a run is told of its unit and of all others, and what is noted of its work: for operations, and for what puts objects right
//! between them.

use jiff::Timestamp;
use model::{Digest, ObjectKey, Value};
use tokio::time::Instant;

use crate::cache::{self, Standard};
use crate::plan::{Live, Step};
use crate::sync::{Stop, Surroundings, World};
use crate::unit::SyncUnit;

use super::Shared;
use super::clusters::Handle;
use super::known::Known;

/// A unit whose plan is carried out, and those around it.
pub(super) struct Around<'a> {
    shared: &'a Shared,
    unit: &'a SyncUnit,
    known: &'a Known,
    standard: Standard,
    rules: u64,
    /// What is brought about.
    basis: Option<Digest>,
    /// Whether nothing is done but to put right what somebody else has changed.
    corrects: bool,
}

impl Shared {
    /// A unit for which this is brought about, and those around it.
    pub(super) fn around<'a>(
        &'a self,
        unit: &'a SyncUnit,
        known: &'a Known,
        basis: Option<Digest>,
        corrects: bool,
    ) -> Around<'a> {
        Around {
            shared: self,
            unit,
            known,
            standard: unit.policy.standard(),
            rules: self.rules(unit),
            basis,
            corrects,
        }
    }
}

impl Around<'_> {
    /// What a plan of the unit is carried out with. Nothing that needs approval is, and nothing is pruned.
    pub(super) fn world<'a>(&'a self, cluster: &'a Handle) -> World<'a> {
        World {
            cluster: cluster.cluster(),
            cache: &cluster.cache,
            standard: &self.standard,
            manager: &self.unit.policy.manager,
            approved: false,
            heard: false,
            around: self,
        }
    }
}

impl Surroundings for Around<'_> {
    fn now(&self) -> Timestamp {
        (self.shared.now)()
    }

    fn stop(&self) -> Option<Stop> {
        self.known.state.lock().stop.clone()
    }

    fn may_prune(&self, live: &Value) -> bool {
        self.shared.keeps(self.unit, &Live::of(live)).is_none()
    }

    fn wanted_by(&self, key: &ObjectKey) -> Option<String> {
        self.shared.known.claims.wanted_by_another(&self.unit.id, key)
    }

    fn kind_wanted_by(&self, group: &str, kind: &str) -> Option<String> {
        let claims = &self.shared.known.claims;
        claims.kind_wanted_by_another(&self.unit.id, group, kind)
    }

    fn lasts_for(&self, key: &ObjectKey) -> Option<String> {
        self.shared.known.claims.lasts_for_another(&self.unit.id, key)
    }

    fn applies(&self, key: &ObjectKey) {
        self.shared.known.claims.take(&self.unit.id, key, false);
    }

    fn applied(&self, step: &Step, live: &Value) {
        let key = &step.key;
        self.shared.known.claims.take(&self.unit.id, key, true);
        if let Some(reference) = &step.object {
            let content = cache::content(live);
            self.known
                .memory
                .settle(key.clone(), reference.digest, content, self.rules);
        }
        if let Some(basis) = self.basis.filter(|_| step.hook.is_none()) {
            let mut corrections = self.known.corrections.lock();
            corrections.made(basis, key, self.corrects, Instant::now());
        }
    }
}
