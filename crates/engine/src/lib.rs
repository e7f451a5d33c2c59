//! The GitOps engine: brings a cluster to a desired state and keeps it there. It knows no custom resource of ours.
//!
//! There are [`cluster`]: one API server and what can be asked of it, [`cache`]: what is known of it without
//! asking, [`diff`]: what an object lacks, and [`health`]: how it is doing.

pub mod cache;
pub mod cluster;
pub mod diff;
pub mod health;
pub mod plan;
pub mod queue;
