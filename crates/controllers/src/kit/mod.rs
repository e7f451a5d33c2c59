//! What every controller stands on: when to work on which object, what becomes of its conditions, who is told.
//!
//! ```text
//!    watch ─▶ queue ─▶ runner ─▶ Reconcile::reconcile ─▶ conclude ─▶ status patch ─▶ recorder
//! ```
//!
//! Conditions and requeues are pure: [`conclude`] makes both of an outcome. The [`Runner`] does all that touches the
//! cluster: the finalizer, the status, and only where something differs.

mod asks;
mod chain;
mod conclude;
mod conditions;
mod configs;
mod cut;
mod decode;
mod depends;
mod desk;
mod endpoints;
mod follow;
mod group;
mod interval;
pub mod lease;
pub mod logs;
mod metrics;
pub(crate) mod named;
mod permits;
mod recorder;
mod rehearsal;
mod runner;
mod status;
mod told;
mod writer;

// The queue and the workers are the engine's: both work on keys, each at most once at a time.
use engine::queue;
pub use engine::workers::WorkerPermit;

pub(crate) use asks::{ASKS, requested_at};
pub(crate) use chain::chain;
pub use conclude::{Failure, Shape, conclude};
pub use conditions::{Conditions, Stamp, Summary};
pub use configs::{Config, ConfigKind, follow_configs};
pub(crate) use depends::{
    check_namespaces, dependency_key, has_expressions, holds, is_ready, is_waiting, unseen,
};
pub use desk::Desk;
pub use endpoints::{Endpoint, listen};
pub use follow::{Followed, NotListed, WaitedFor, Wake};
pub use group::Group;
pub use interval::jittered;
pub use metrics::{IndexLookups, Metrics};
pub(crate) use permits::{Permit, Permits, blocking};
pub use queue::{Backoff, Done, Load, Queue, Ticket};
pub use recorder::{Notice, Recorder, hostname};
pub(crate) use rehearsal::Rehearsal;
pub(crate) use runner::span;
pub use runner::{FINALIZER, Options, Reconcile, Run, Runner};
pub use writer::Key;
