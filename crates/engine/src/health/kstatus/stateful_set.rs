//! StatefulSets: all replicas ready and of one revision, or of the new revision down to the partition. With `OnDelete`
//! somebody else decides when pods are replaced, and nothing is waited for.

use model::Health;

use super::super::object::{Object, healthy, progressing};
use super::{too_few, too_many};

pub(super) fn assess(object: Object<'_>) -> Health {
    if object.text(&["spec", "updateStrategy", "type"]) == "OnDelete" {
        return healthy("StatefulSet is using the ondelete update strategy");
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let wanted = object.int_or(&["spec", "replicas"], 1);
    let there = status("replicas");
    let unfinished = too_few("Replicas", there, wanted)
        .or_else(|| too_few("Ready", status("readyReplicas"), wanted))
        .or_else(|| too_many(there, wanted));
    if let Some(unfinished) = unfinished {
        return unfinished;
    }
    let partition = object.int(&["spec", "updateStrategy", "rollingUpdate", "partition"]);
    // Only a partition that nobody would set counts as none.
    if let Some(partition) = partition.filter(|partition| *partition != -1) {
        let updated = status("updatedReplicas");
        return too_few("updated", updated, wanted.saturating_sub(partition))
            .unwrap_or_else(|| healthy(format!("Partition rollout complete. updated: {updated}")));
    }
    let current = object.text(&["status", "currentRevision"]);
    let is_mixed = current != object.text(&["status", "updateRevision"]);
    too_few("current", status("currentReplicas"), wanted)
        .or_else(|| is_mixed.then(|| progressing("Waiting for updated revision to match current")))
        .unwrap_or_else(|| healthy(format!("All replicas scheduled as expected. Replicas: {there}")))
}
