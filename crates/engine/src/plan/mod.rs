//! What would be done to bring a cluster to the desired state: a value that is printed, stored, compared and then carried
//! out to the letter.
//!
//! Everything is decided here and nothing while a plan is carried out. Pure: whatever was found out comes in as [`Input`], and
//! the time is one of the options.
//!
//! ```text
//! let desired = prepare(desired, &strategy, &options, &revision);   // what they will be in the cluster
//! // … look up each of them, and what `stale` names …
//! let (plan, objects) = plan(&input, &strategy)?;
//! println!("{plan}");
//! ```
//!
//! What differs between Flux, Helm, Flux v1 and Argo CD is in the [`Strategy`]; hooks, waves and sync options count only if
//! it says so.

mod decide;
mod deletion;
mod difference;
mod display;
mod edit;
mod hooks;
mod input;
mod instance;
mod markers;
mod metadata;
pub mod objects;
mod options;
mod order;
mod ownership;
mod pair;
mod planner;
mod prepare;
mod prune;
mod refusal;
mod stages;
mod steps;
mod strategy;
mod sync_options;
mod task;

pub use deletion::deletion;
pub use difference::{Change, Difference};
pub use display::Counts;
pub use input::{Candidate, Desired, Found, Input, Live, Observed, Shared, Verdict};
pub use instance::Instance;
pub use markers::{Marker, Markers};
pub use objects::{Objects, Reference};
pub use options::{ArgoOptions, Budget, CreateNamespace, Health, Options, PruneOption};
pub use order::{GroupKind, Order};
pub use ownership::{Ownership, flux_v1_mark, tracking_id};
pub use pair::{Pairs, pair};
pub use planner::plan;
pub use prepare::prepare;
pub use refusal::{ALLOW_EMPTY, Refusal};
pub use steps::{
    Action, Apply, Awaited, Gate, Hook, Note, OnFailure, Phase, Plan, Propagation, Purpose, Stage, Step,
    Target, Until, Wait, When,
};
pub use strategy::Strategy;
pub use sync_options::UnknownOption;

use std::collections::HashSet;

use model::inventory::Entry;
use model::{Inventory, ObjectKey};

/// The entries of the previous inventory that are no longer desired: those of which an observer must find out whether they
/// may be pruned.
///
/// A desired object whose scope is unknown, or that names a namespace although its kind has none, covers the entry with and the one
/// without the namespace: what is desired must never be taken for stale.
pub fn stale<'a>(previous: &'a Inventory, desired: &[Desired], default_namespace: &str) -> Vec<&'a Entry> {
    let covered: HashSet<ObjectKey> = desired
        .iter()
        .flat_map(|desired| covered(desired, default_namespace))
        .collect();
    let entries = previous.entries.iter();
    entries.filter(|entry| !covered.contains(&entry.id.0)).collect()
}

/// All keys under which a desired object may be known.
fn covered(desired: &Desired, default_namespace: &str) -> Vec<ObjectKey> {
    let written = ObjectKey::of(&desired.object);
    let with = |namespace: &str| ObjectKey {
        namespace: namespace.into(),
        ..written.clone()
    };
    let mut keys = vec![desired.key(default_namespace)];
    if desired.namespaced != Some(true) {
        keys.push(with(""));
    }
    if desired.namespaced.is_none() && written.namespace.is_empty() {
        keys.push(with(default_namespace));
    }
    keys.push(written);
    keys
}
