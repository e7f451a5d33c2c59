//! What to do next with a release: a pure function of what was observed.
//!
//! ```text
//!   storage, history, chart, values, drift ─▶ state ─▶ next ─▶ one action
//!                     policy, counters, requests ──────┘        └─▶ run: go on, wait, or stop
//! ```
//!
//! The order is that of Flux's helm-controller: a state is found anew before each step, each state has one file below `next`, and
//! in one run no kind of action is done twice. [`message`] has the texts for conditions and events, [`ready`] sums conditions up.

mod apply;
mod failures;
mod history;
pub mod message;
mod next;
mod policy;
pub mod ready;
mod run;
mod snapshot;
mod state;
mod target;

pub use apply::{ServerSideApply, applies_server_side};
pub use failures::{Attempt, Counters, ResetReason, reset_reason};
pub use history::{History, MAX_SNAPSHOTS};
pub use next::{Action, Decision, Next, Stall, decide};
pub use policy::{
    ActionPolicy, DriftMode, Filter, Policy, RETRY_INTERVAL, ReleaseAction, Remediation, Remedy, Strategy,
    Tests,
};
pub use run::{ActionKind, Outcome, Run};
pub use snapshot::{CURRENT_API_VERSION, Snapshot, SnapshotAction, TestHook, Verified};
pub use state::{Digests, Drift, Observed, Releases, State, Stored, UnknownState, determine};
pub use target::{Target, TargetChange, target_change};
