//! How an object is doing, by what the cluster says of it. Pure: the object and the time are handed in.
//!
//! Two sets of rules are built in, and a unit chooses one of them: those of [`kstatus`], which Flux goes by, and those of
//! [`argo`], which Argo CD goes by. They differ in what they call done: to kstatus a pod that failed is done, to Argo CD it
//! is degraded; Argo CD has no opinion on kinds that it does not know.
//!
//! [`Overrides`] puts a user's own expressions ([`cel`]) and scripts ([`lua`]) before them.

pub mod argo;
pub mod cel;
mod evaluations;
pub mod kstatus;
pub mod lua;
mod object;
mod overrides;

pub use evaluations::Evaluations;
use jiff::Timestamp;
use model::{Health, Value};
pub use overrides::{Overrides, may_vanish};
use serde::{Deserialize, Serialize};

/// Rules that tell how an object is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rules {
    /// Those of kstatus.
    #[default]
    Kstatus,
    /// Those of Argo CD.
    Argo,
}

impl Rules {
    /// How an object is doing at this time; nothing where the rules say nothing of its kind, which counts as well.
    pub fn assess(self, object: &Value, now: Timestamp) -> Option<Health> {
        match self {
            Rules::Kstatus => Some(kstatus::assess(object, now)),
            Rules::Argo => argo::assess(object),
        }
    }
}
