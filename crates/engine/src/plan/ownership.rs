//! Whose an object is: nothing is pruned that belongs to somebody else by now.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use model::{ObjectKey, Value};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::input::Live;
use super::metadata::Metadata;

/// How a unit knows its objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ownership {
    /// Whatever it has applied is its own, unless another unit of the same engine wants it or it has the instance label of another: Helm, which
    /// has its release's manifests. Engines that share a cluster need that label, or an ownership that marks objects.
    Inventory,
    /// These labels are on it: Flux.
    Labels(BTreeMap<String, String>),
    /// The label `fluxcd.io/sync-gc-mark` is that of the object in this set: Flux v1.
    Mark {
        /// The name of the set.
        set: String,
    },
    /// The annotation `argocd.argoproj.io/tracking-id` is that of the object in this application: Argo CD.
    Tracking {
        /// The name of the application.
        application: String,
    },
}

const MARK: &str = "fluxcd.io/sync-gc-mark";
const TRACKING: &str = "argocd.argoproj.io/tracking-id";

impl Ownership {
    /// The labels that Flux puts on what it applies: `<group>/name` and `<group>/namespace`.
    pub fn flux(group: &str, name: &str, namespace: &str) -> Self {
        Ownership::Labels(BTreeMap::from([
            (format!("{group}/name"), name.to_owned()),
            (format!("{group}/namespace"), namespace.to_owned()),
        ]))
    }

    /// Marks a desired object as the unit's.
    pub fn mark(&self, object: &mut Value) {
        let key = ObjectKey::of(object);
        match self {
            Ownership::Inventory => {}
            Ownership::Labels(labels) => {
                for (label, value) in labels {
                    object.set_at(&["metadata", "labels", label], value.as_str());
                }
            }
            Ownership::Mark { set } => {
                object.set_at(&["metadata", "labels", MARK], flux_v1_mark(set, &key));
            }
            Ownership::Tracking { application } => {
                object.set_at(
                    &["metadata", "annotations", TRACKING],
                    tracking_id(application, &key),
                );
            }
        }
    }

    /// Why the live object is not the unit's to delete; nothing if it is.
    pub fn not_ours(&self, live: &Live) -> Option<String> {
        let differs = |key: &str, found: Option<&str>| match found {
            None | Some("") => Some(format!("it does not have {key} any more")),
            Some(found) => Some(format!("it belongs to another owner: {key} is {found}")),
        };
        match self {
            Ownership::Inventory => None,
            Ownership::Labels(labels) => {
                let other = labels
                    .iter()
                    .find(|(key, value)| live.label(key) != Some(value.as_str()));
                other.and_then(|(key, _)| differs(key, live.label(key)))
            }
            _ if live.owned => Some("another object owns it".to_owned()),
            Ownership::Mark { set } => {
                let ours = live.label(MARK) == Some(flux_v1_mark(set, &live.key).as_str());
                (!ours).then(|| differs(MARK, live.label(MARK)))?
            }
            Ownership::Tracking { application } => {
                let ours = live.annotation(TRACKING) == Some(tracking_id(application, &live.key).as_str());
                (!ours).then(|| differs(TRACKING, live.annotation(TRACKING)))?
            }
        }
    }

    /// The other owner that a desired object is taken from, if it has one.
    pub fn taken_from(&self, live: &Live) -> Option<String> {
        match self {
            Ownership::Inventory | Ownership::Mark { .. } => None,
            Ownership::Labels(labels) => {
                let others = labels.iter().filter_map(|(key, ours)| {
                    let found = live
                        .label(key)
                        .filter(|found| !found.is_empty() && found != ours)?;
                    Some(format!("{key}={found}"))
                });
                let others: Vec<_> = others.collect();
                (!others.is_empty()).then(|| others.join(", "))
            }
            Ownership::Tracking { application } => {
                let id = live.annotation(TRACKING)?;
                let (other, object) = id.split_once(':')?;
                // A copy of an object of another application still has the other object's id, and belongs to nobody.
                let itself = tracking_id(other, &live.key).split_once(':')?.1 == object;
                (itself && other != application).then(|| other.to_owned())
            }
        }
    }
}

/// The label by which Flux v1 knows an object as one of the set.
pub fn flux_v1_mark(set: &str, key: &ObjectKey) -> String {
    let ObjectKey {
        kind,
        namespace,
        name,
        ..
    } = key;
    let namespace = if namespace.is_empty() {
        "<cluster>"
    } else {
        namespace
    };
    let id = format!("{namespace}:{}/{name}", kind.to_lowercase());
    let hash = Sha256::new().chain_update(set).chain_update(id).finalize();
    format!("sha256.{}", BASE64_URL_SAFE_NO_PAD.encode(hash))
}

/// The annotation by which Argo CD knows an object as one of the application.
pub fn tracking_id(application: &str, key: &ObjectKey) -> String {
    let ObjectKey {
        group,
        kind,
        namespace,
        name,
    } = key;
    format!("{application}:{group}/{kind}:{namespace}/{name}")
}
