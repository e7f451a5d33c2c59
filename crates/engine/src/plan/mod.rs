//! What would be done to bring a cluster to the desired state: a value that is printed, stored, compared and then carried
//! out to the letter. Pure: whatever was found out comes in as [`Input`], and the time is one of the options.

mod input;
pub mod objects;
mod options;
mod steps;

pub use input::{Candidate, Desired, Found, Input, Live, Observed};
pub use objects::{Objects, Reference};
pub use options::{ArgoOptions, Budget, CreateNamespace, Health, Options, PruneOption};
pub use steps::{
    Action, Apply, Awaited, Gate, Hook, Note, OnFailure, Phase, Plan, Propagation, Purpose, Stage, Step,
    Target, Until, Wait, When,
};

use model::{Inventory, ObjectKey};

/// The entries of the previous inventory that are no longer desired: those of which an observer must find out whether they
/// may be pruned.
///
/// A desired object whose scope is unknown, or that names a namespace although its kind has none, covers the entry with and the one without
/// the namespace: what is desired must never be taken for stale.
pub fn stale<'a>(
    previous: &'a Inventory,
    desired: &[Desired],
    default_namespace: &str,
) -> Vec<&'a model::inventory::Entry> {
    let covered: std::collections::HashSet<ObjectKey> = desired
        .iter()
        .flat_map(|desired| covered(desired, default_namespace))
        .collect();
    let entries = previous.entries.iter();
    entries.filter(|entry| !covered.contains(&entry.id.0)).collect()
}

/// All keys under which a desired object may be known.
fn covered(desired: &Desired, default_namespace: &str) -> Vec<ObjectKey> {
    let key = desired.key(default_namespace);
    let as_written = ObjectKey::of(&desired.object);
    let mut keys = vec![key];
    if desired.namespaced != Some(true) {
        let everywhere = ObjectKey {
            namespace: "".into(),
            ..as_written.clone()
        };
        keys.push(everywhere);
    }
    if desired.namespaced.is_none() && as_written.namespace.is_empty() {
        let somewhere = ObjectKey {
            namespace: default_namespace.into(),
            ..as_written.clone()
        };
        keys.push(somewhere);
    }
    keys.push(as_written);
    keys
}
