//! How a pod is told to fail.

use model::Value;

/// The annotation of a pod (or of the pod template of a workload) that says how it turns out.
pub const ANNOTATION: &str = "simulator.sluice.dev/outcome";

/// How a pod turns out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It runs and becomes ready; the pod of a job ends well. No annotation.
    #[default]
    Fine,
    /// `image-pull`: its image cannot be pulled, so it never starts.
    ImagePull,
    /// `crash`: its containers crash again and again; the pod of a job fails.
    Crash,
    /// `never-ready`: it runs but never becomes ready.
    NeverReady,
}

impl Outcome {
    /// What the annotation of a pod says. What is not known counts as fine.
    pub(super) fn of(pod: &Value) -> Self {
        match pod.str_at(&["metadata", "annotations", ANNOTATION]) {
            "image-pull" => Outcome::ImagePull,
            "crash" => Outcome::Crash,
            "never-ready" => Outcome::NeverReady,
            _ => Outcome::Fine,
        }
    }
}
