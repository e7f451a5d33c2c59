//! The GitOps engine: brings a cluster to a desired state and keeps it there. It knows no custom resource of ours.
//!
//! ```text
//! unit ─▶ manifests ─▶ observe ─▶ plan ─▶ sync ─▶ status
//!                      cluster    diff    cluster
//!                      cache      (pure)  cache, health
//! ```
//!
//! [`Engine`] does all of it for the units of a store. Each part can also be used alone: [`cluster`] is one API server and
//! what can be asked of it, [`cache`] what is known of it without asking, [`diff`] what an object lacks, [`health`] how it is
//! doing, [`plan`] what would be done, [`sync`] carries that out.

pub mod cache;
pub mod cluster;
pub mod diff;
mod engine;
pub mod health;
pub mod observe;
pub mod plan;
pub mod queue;
pub mod sync;
pub mod unit;

pub use engine::{Engine, Subscription, UnitEvent, UnitEventKind};
