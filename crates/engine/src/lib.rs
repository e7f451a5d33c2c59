//! The GitOps engine: brings a cluster to a desired state and keeps it there. It knows no custom resource of ours.
//!
//! So far there is [`health`]: how an object is doing.

pub mod health;
pub mod plan;
pub mod queue;
