//! The GitOps engine: brings a cluster to a desired state and keeps it there. It knows no custom resource of ours.
//!
//! So far there are [`cluster`]: one API server and what can be asked of it, and [`health`]: how an object is doing.

pub mod cluster;
pub mod health;
pub mod plan;
pub mod queue;
