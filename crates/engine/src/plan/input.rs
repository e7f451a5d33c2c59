//! What a plan is made from: everything that was found out before.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use model::manifest::Origin;
use model::{Digest, Inventory, Manifest, ObjectKey, Value};

use super::instance::Instance;
use super::objects;
use super::options::Options;
use crate::diff::Drift;

/// What a plan is made from.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Which unit is planned for.
    pub unit: String,
    /// What the desired objects were built from.
    pub revision: String,
    /// The objects that should be there, as [`prepare`](super::prepare) gave them, and what was found of each.
    pub desired: Vec<Desired>,
    /// What the unit had applied before.
    pub previous: Inventory,
    /// What was found of those objects of `previous` that are no longer desired (see [`stale`](super::stale)). An object of which nothing
    /// was found out is not pruned and stays in the inventory.
    pub candidates: Vec<Candidate>,
    /// The objects, desired or not any more, that other units want too.
    pub shared: HashMap<ObjectKey, Shared>,
    /// Whether those that another unit holds are left to it although they differ: nothing new is to be applied.
    pub yields: bool,
    /// The label that tells whose an object is, besides the strategy's ownership.
    pub instance: Option<Instance>,
    /// What is asked for.
    pub options: Options,
}

/// Another unit that wants an object too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Which unit: the one that holds it, if it is not ours that does.
    pub unit: String,
    /// Whether another unit has applied it, so that it is in the inventory of that one.
    pub has: bool,
    /// Whether another unit has applied it last.
    pub holds: bool,
}

/// An object that should be there.
#[derive(Clone)]
pub struct Desired {
    /// The object. Only a hook may have no name but a `generateName`.
    pub object: Arc<Value>,
    /// What it is known by: [`digest`](objects::digest) of the object.
    pub digest: Digest,
    /// Where it was read.
    pub origin: Option<Origin>,
    /// Whether its kind lives in namespaces; nothing if the server did not say.
    pub namespaced: Option<bool>,
    /// Whether no source has it: a namespace that is made because objects need it. It is in no inventory.
    pub implied: bool,
    /// What was found in the cluster.
    pub observed: Observed,
    /// Whether the server accepts the object from the unit.
    pub verdict: Verdict,
}

/// The answer of the server to applying an object as the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The server was not asked.
    #[default]
    Unasked,
    /// A dry run succeeded, the server let the unit write the object but finds it invalid, or the unit is known to have applied it as it is.
    Accepted,
    /// The unit may not write it.
    Refused,
    /// The server did not answer, or will answer otherwise a little later.
    Unanswered,
}

/// What was found of a desired object.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Observed {
    /// It is not there, and the server accepts it.
    #[default]
    Missing,
    /// It is there, and applying it would change nothing.
    Unchanged(Live),
    /// It is there, and applying it would change it.
    Drifted {
        /// What is there.
        live: Live,
        /// The paths of the fields that would change, without values: `.spec.replicas`.
        fields: Vec<String>,
    },
    /// It is there, and was not compared.
    Uncompared(Live),
    /// It is there, and the server refuses to change it because of a field that cannot be changed.
    Immutable {
        /// What is there.
        live: Live,
        /// What went wrong, to be read after the object's name: `dry-run failed (Invalid): …`.
        error: String,
    },
    /// The server does not know its kind.
    KindMissing {
        /// What went wrong, to be read after the object's name: `dry-run failed (Invalid): …`.
        error: String,
    },
    /// Its namespace is not there.
    NamespaceMissing {
        /// What went wrong, to be read after the object's name: `dry-run failed (Invalid): …`.
        error: String,
    },
    /// The server refuses it, or could not be asked.
    Failed {
        /// What is there, if that is known.
        live: Option<Live>,
        /// What went wrong, to be read after the object's name: `dry-run failed (Invalid): …`.
        error: String,
    },
}

/// What a plan needs to know of an object in the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Which object, as the cluster names it: without a namespace if it has none, whatever the manifest says.
    pub key: ObjectKey,
    /// Its identity.
    pub uid: String,
    /// The version that was looked at.
    pub resource_version: String,
    /// Its labels, or those that rules look at.
    pub labels: BTreeMap<String, String>,
    /// Its annotations, or those that rules look at.
    pub annotations: BTreeMap<String, String>,
    /// Its finalizers.
    pub finalizers: Vec<String>,
    /// Whether another object owns it.
    pub owned: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// The JSON patch that takes over fields which others have set by hand, if there are any.
    pub takeover: Option<Arc<Value>>,
    /// How many of the fields in which it differs it lacks.
    pub lacking: usize,
    /// And how many it has that are not desired.
    pub surplus: usize,
}

/// An object that was applied before and is no longer desired.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Which object.
    pub key: ObjectKey,
    /// The group and version it was read in.
    pub api_version: String,
    /// What was found.
    pub found: Found,
}

/// What was found of an object that may be pruned.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// It is there.
    There(Box<Live>),
    /// It is not there, or its kind is not.
    Gone,
    /// It could not be told, with the reason.
    Unknown(String),
}

impl Desired {
    /// An object as it was built, of which nothing is known to be in the cluster.
    pub fn new(manifest: Manifest) -> Self {
        let origin = manifest.origin().cloned();
        Desired {
            origin,
            ..Desired::of(Arc::new(manifest.into_value()))
        }
    }

    /// An object that may be a hook without a name.
    pub fn of(object: Arc<Value>) -> Self {
        Desired {
            digest: objects::digest(&object),
            object,
            origin: None,
            namespaced: None,
            implied: false,
            observed: Observed::Missing,
            verdict: Verdict::Unasked,
        }
    }

    /// The same with what was found.
    #[must_use]
    pub fn observed(mut self, observed: Observed) -> Self {
        self.observed = observed;
        self
    }

    /// The same with the scope of its kind.
    #[must_use]
    pub fn namespaced(mut self, namespaced: bool) -> Self {
        self.namespaced = Some(namespaced);
        self
    }

    /// Which object it is, as the cluster names it as far as that is known: what lives in no namespace has none, and what has
    /// none but needs one gets the default.
    pub fn key(&self, default_namespace: &str) -> ObjectKey {
        if let Some(key) = self.observed.live().map(|live| live.key.clone()) {
            return key;
        }
        let mut key = ObjectKey::of(&self.object);
        match self.namespaced {
            Some(false) => key.namespace = "".into(),
            Some(true) if key.namespace.is_empty() => key.namespace = default_namespace.into(),
            _ => {}
        }
        key
    }
}

/// Shows what it is, not what is in it: it may be a Secret.
impl fmt::Debug for Desired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desired")
            .field("key", &ObjectKey::of(&self.object).to_string())
            .field("digest", &self.digest)
            .field("namespaced", &self.namespaced)
            .field("observed", &self.observed)
            .finish_non_exhaustive()
    }
}

impl Observed {
    /// What a comparison has found: `live` is what is there, `drift` what applying would change.
    pub fn of(live: Option<Live>, drift: &Drift) -> Self {
        match (live, drift) {
            (None, _) | (_, Drift::Created) => Observed::Missing,
            (Some(live), Drift::None) => Observed::Unchanged(live),
            (Some(live), Drift::Changed(fields)) => {
                let fields = fields.iter().map(|field| field.name.clone()).collect();
                Observed::Drifted { live, fields }
            }
        }
    }

    /// What is there, if something is.
    pub fn live(&self) -> Option<&Live> {
        match self {
            Observed::Unchanged(live)
            | Observed::Drifted { live, .. }
            | Observed::Uncompared(live)
            | Observed::Immutable { live, .. } => Some(live),
            Observed::Failed { live, .. } => live.as_ref(),
            Observed::Missing | Observed::KindMissing { .. } | Observed::NamespaceMissing { .. } => None,
        }
    }
}

impl Live {
    /// What a plan needs to know of `object`.
    pub fn of(object: &Value) -> Self {
        let texts = |path: &[&str]| {
            let pairs = object.at(path).and_then(Value::as_object);
            let pairs = pairs.into_iter().flat_map(|map| map.iter());
            pairs
                .filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())))
                .collect()
        };
        let finalizers = object.list_at(&["metadata", "finalizers"]);
        Live {
            key: ObjectKey::of(object),
            uid: object.str_at(&["metadata", "uid"]).to_owned(),
            resource_version: object.str_at(&["metadata", "resourceVersion"]).to_owned(),
            labels: texts(&["metadata", "labels"]),
            annotations: texts(&["metadata", "annotations"]),
            finalizers: finalizers
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            owned: !object.list_at(&["metadata", "ownerReferences"]).is_empty(),
            deleting: !object.str_at(&["metadata", "deletionTimestamp"]).is_empty(),
            takeover: None,
            lacking: 0,
            surplus: 0,
        }
    }
}
