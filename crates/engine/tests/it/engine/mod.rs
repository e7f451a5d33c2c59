//! The whole engine on the embedded and on a real cluster: units in, objects in the cluster out.

mod answers;
mod apply;
mod approval;
pub(crate) mod bed;
mod begun_anew;
mod callbacks;
pub(crate) mod clusters;
mod clusters_that_go;
mod definitions;
mod deletion;
mod drift;
mod ending;
mod faults;
pub(crate) mod fixtures;
mod force;
mod gate;
mod given_up;
mod health;
mod hearing;
mod held;
mod hooks;
mod hooks_of_others;
mod kills;
mod left_behind;
mod moving;
mod new_objects;
mod operations;
mod panics;
mod prune;
mod refusals;
mod requests;
mod restless;
mod selective;
mod settings;
mod shared;
mod silent_groups;
mod stale;
mod status;
mod superseded;
mod sync_options;
mod unlisted;
mod waves;

use std::time::Duration;

use bed::{Bed, Running, Sources};
use fixtures::*;

/// Everything has to be there by then, also on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
