//! What a plan is carried out with, and among whom.

use jiff::Timestamp;
use model::{ObjectKey, Value};

use crate::cache::{Cache, Standard};
use crate::cluster::Cluster;
use crate::plan::Step;

/// What a run works on and with.
pub struct World<'a> {
    /// Where requests go.
    pub cluster: &'a Cluster,
    /// What is known of the cluster. It has to follow the kinds that the plan waits for.
    pub cache: &'a Cache,
    /// By what it is told how objects are doing. The cache has to follow their kinds by it.
    pub standard: &'a Standard,
    /// The field manager.
    pub manager: &'a str,
    /// Whether somebody has approved what the plan asks approval for.
    pub approved: bool,
    /// Whether it is known what other units want. Before that nothing is pruned.
    pub heard: bool,
    /// The unit and those around it.
    pub around: &'a dyn Surroundings,
}

/// What a run asks about its unit and those around it, and what it tells of its work.
pub trait Surroundings: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;
    /// Whether the run is to stop at the next occasion: it was terminated, or there is a newer revision.
    fn stop(&self) -> Option<Stop>;
    /// Whether an object that was to be pruned, and has changed since that was decided, may still be.
    fn may_prune(&self, live: &Value) -> bool;
    /// Another unit that wants an object, which then is not pruned.
    fn wanted_by(&self, key: &ObjectKey) -> Option<String>;
    /// Another unit that wants objects of a group and kind, whose definition then is not pruned.
    fn kind_wanted_by(&self, group: &str, kind: &str) -> Option<String>;
    /// Another unit that has an object for good, which then is neither overwritten nor deleted by a hook.
    fn lasts_for(&self, key: &ObjectKey) -> Option<String>;
    /// An object is about to be applied: whoever sees the change has to know whose it is.
    fn applies(&self, key: &ObjectKey);
    /// The object of a step was applied, and has become this.
    fn applied(&self, step: &Step, live: &Value);
}

/// Why a run does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Somebody said so.
    Terminated,
    /// Something newer is to be applied.
    Superseded,
    /// Somebody has deleted an object that it counts on.
    Lost(ObjectKey),
}
