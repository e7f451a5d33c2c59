//! A unit that is in another cluster than before. What it has made there stays there: the engine may not reach that cluster any more, and
//! what has the same names in the new one is not the unit's.

use model::Inventory;

use crate::unit::{Status, SyncUnit};

use super::clusters::Handle;
use super::known::Known;
use super::{Shared, UnitEventKind};

impl Shared {
    /// A unit as it is to the cluster that it is in now, if it was in another one: it has nothing there yet.
    pub(super) async fn arrived(
        &self,
        unit: &SyncUnit,
        known: &Known,
        cluster: &Handle,
        seen: u64,
    ) -> Option<SyncUnit> {
        let before = unit.status.place.as_ref()?;
        if before.endpoint == cluster.endpoint() {
            return None;
        }
        let mut arrived = unit.clone();
        let left = std::mem::take(&mut arrived.status.inventory);
        arrived.status = Status {
            revision: String::new(),
            inventory: Inventory::default(),
            place: None,
            wanted: Vec::new(),
            operation: None,
            corrected: Vec::new(),
            ..arrived.status
        };
        // What is under way in the old cluster has the word until it has ended.
        if !known.state.lock().is_busy(seen) {
            self.write(unit, arrived.status.clone()).await;
            if !left.entries.is_empty() {
                let message = format!(
                    "{} objects stay in the cluster {:?} ({}), where it was: delete them there if they are not wanted any more",
                    left.entries.len(),
                    before.cluster,
                    before.endpoint,
                );
                self.tell(&unit.id, UnitEventKind::Moved, message);
            }
        }
        Some(arrived)
    }
}
