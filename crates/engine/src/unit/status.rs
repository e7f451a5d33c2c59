//! What has become of a unit.

use std::collections::HashMap;

use jiff::Timestamp;
use model::{Health, Inventory, ObjectKey};
use serde::{Deserialize, Serialize};

use super::OperationState;
use crate::plan::Plan;

/// What has become of a unit: a function of what was found and done last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Whether the cluster is as the source says.
    #[serde(default)]
    pub sync: SyncState,
    /// The revision that was applied last, with success.
    #[serde(default)]
    pub revision: String,
    /// The revision that was looked at last.
    #[serde(default)]
    pub attempted: String,
    /// The worst health of its objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// What would be done, of a unit that is not [automatic](super::Policy::automatic) and out of sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<Box<Plan>>,
    /// What was applied.
    #[serde(default)]
    pub inventory: Inventory,
    /// Where that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What of the inventory was neither applied by the unit nor accepted from it by the server: what it skips. That alone keeps nobody
    /// from pruning it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<ObjectKey>,
    /// What it wants and does not have, since it is left to another unit: nobody deletes that either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<ObjectKey>,
    /// The last operation, or the one under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Box<OperationState>>,
    /// What is not wrong but should be known: which objects other units want too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What was put right since the last operation began, besides what it did itself: while it waited, or after it had failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrected: Vec<Correction>,
    /// All that is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// An object that somebody has changed, and that was put right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// Which object.
    pub key: ObjectKey,
    /// How often.
    pub times: u32,
    /// When it was last.
    pub last: Timestamp,
}

impl Status {
    /// What was put right, if these objects were by now.
    pub(crate) fn with_corrected(&self, objects: &[ObjectKey], now: Timestamp) -> Vec<Correction> {
        let mut corrected = self.corrected.clone();
        let places = corrected.iter().enumerate();
        let places: HashMap<ObjectKey, usize> = places
            .map(|(place, correction)| (correction.key.clone(), place))
            .collect();
        for key in objects {
            match places.get(key).map(|place| &mut corrected[*place]) {
                Some(correction) => {
                    correction.times = correction.times.saturating_add(1);
                    correction.last = now;
                }
                None => corrected.push(Correction {
                    key: key.clone(),
                    times: 1,
                    last: now,
                }),
            }
        }
        corrected
    }
}

/// A cluster, as it was when something was applied to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its name, as the [destination](super::Destination) had it.
    pub cluster: String,
    /// [Where its API was](super::Access::endpoint).
    pub endpoint: String,
    /// The cluster as far as units trust each other to be in the same one: the endpoint, with [who vouches](super::Access::vouched_by)
    /// for it. It is empty where it was not recorded.
    #[serde(default)]
    pub realm: String,
}

/// Whether the cluster is as the source says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SyncState {
    /// It could not be told yet.
    #[default]
    Unknown,
    /// It is.
    Synced,
    /// It is not.
    OutOfSync,
}
