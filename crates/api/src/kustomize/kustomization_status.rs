//! What a Kustomization applied.

use std::collections::BTreeMap;

use model::{Inventory, Time};

use crate::{Condition, Duration};

record! {
    /// What was applied last.
    KustomizationStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The revision of the source that was last applied with success.
        optional last_applied_revision: Option<String> {}
        /// What that revision says of its own origin.
        optional last_applied_origin_revision: Option<String> {}
        /// The revision of the source that was last tried.
        optional last_attempted_revision: Option<String> {}
        /// What was applied, so that it can be pruned.
        optional inventory: Option<Inventory> {}
        /// The last attempts, the newest first.
        optional history: Vec<HistoryEntry> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

record! {
    /// Attempts that applied the same with the same result.
    HistoryEntry {
        /// The digest of what was applied.
        required digest: String {}
        /// When it was first applied.
        required first_reconciled: Option<Time> {}
        /// When it was last applied.
        required last_reconciled: Option<Time> {}
        /// How long the last attempt took.
        required last_reconciled_duration: Duration { .without("pattern") }
        /// How the last attempt ended.
        required last_reconciled_status: String {}
        /// How many attempts there were.
        required total_reconciliations: i64 {}
        /// More about it, such as the revision.
        optional metadata: BTreeMap<String, String> {}
    }
}

reconcile_status!(KustomizationStatus);
