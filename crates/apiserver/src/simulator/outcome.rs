//! How workloads are told to fail.

use std::collections::HashMap;

use model::quote::quote;
use model::{Str, Value};
use parking_lot::RwLock;
use tokio::sync::watch;

/// The annotation that says how an object turns out. It stands on a pod, on the pod template of a workload, or on a
/// volume claim, a service or an ingress.
pub const ANNOTATION: &str = "simulator.sluice.dev/outcome";

/// How an object turns out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It comes up; a pod that does not restart ends well. No annotation.
    #[default]
    Fine,
    /// `image-pull`: the pod's image cannot be pulled, so it never starts.
    ImagePull,
    /// `crash`: the pod's containers crash again and again; one that does not restart fails.
    Crash,
    /// `never-ready`: the pod runs but never becomes ready; a claim stays unbound, a service or ingress gets no address.
    NeverReady,
    /// Any other text: the object does not come up either, and an event says which texts there are.
    Unknown,
}

impl Outcome {
    /// What the annotation of an object says.
    pub(super) fn of(object: &Value) -> Self {
        match object.str_at(&["metadata", "annotations", ANNOTATION]) {
            "" => Outcome::Fine,
            "image-pull" => Outcome::ImagePull,
            "crash" => Outcome::Crash,
            "never-ready" => Outcome::NeverReady,
            _ => Outcome::Unknown,
        }
    }
}

/// Why an object with an unknown outcome waits.
pub(super) const UNKNOWN: &str = "UnknownOutcome";

/// What is wrong with the annotation of such an object.
pub(super) fn unknown_message(object: &Value) -> String {
    const SHOWN: usize = 40;
    let text = object.str_at(&["metadata", "annotations", ANNOTATION]);
    let start: String = text.chars().take(SHOWN).collect();
    let dots = if start.len() < text.len() { "..." } else { "" };
    format!(
        "annotation {ANNOTATION} is {}{dots}, which is not one of image-pull, crash, never-ready",
        quote(&start)
    )
}

/// Outcomes by name, for tests that cannot or do not want to annotate: see [`crate::Server::outcomes`].
///
/// A name is that of the object itself or, for pods, that of what they belong to: a Deployment's name decides about all
/// its pods. An annotation has the last word. A change takes effect at once, on what is up as well.
pub struct Outcomes {
    by_name: RwLock<HashMap<(Str, Str), Outcome>>,
    changes: watch::Sender<u64>,
}

impl Default for Outcomes {
    fn default() -> Self {
        Outcomes {
            by_name: RwLock::default(),
            changes: watch::Sender::new(0),
        }
    }
}

impl Outcomes {
    /// Decides how the workload of this name turns out from now on.
    pub fn set(&self, namespace: &str, name: &str, outcome: Outcome) {
        let place = (namespace.into(), name.into());
        match outcome {
            Outcome::Fine => drop(self.by_name.write().remove(&place)),
            outcome => drop(self.by_name.write().insert(place, outcome)),
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// The outcome decided for a name.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Outcome> {
        let by_name = self.by_name.read();
        if by_name.is_empty() {
            return None;
        }
        by_name.get(&(namespace.into(), name.into())).copied()
    }

    /// Tells of changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
