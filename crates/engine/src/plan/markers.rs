//! Labels and annotations by which an object asks to be treated differently.

use model::Value;
use serde::{Deserialize, Serialize};

use super::metadata::Metadata;

/// Which labels and annotations mean what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Markers {
    /// On the desired or the live object: it is not applied.
    pub skip: Vec<Marker>,
    /// On the desired object: it is created, and left alone from then on.
    pub create_only: Vec<Marker>,
    /// On the desired or the live object: fields that others have set by hand stay theirs.
    pub merge: Vec<Marker>,
    /// On the desired or the live object: it is deleted and created if a field that cannot be changed differs.
    pub recreate: Vec<Marker>,
    /// On the live object: it is not pruned.
    pub keep: Vec<Marker>,
}

/// A label or annotation with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// The name of the label or annotation.
    pub key: String,
    /// What it must be.
    pub value: String,
    /// Only an annotation counts, and only with this very value; else labels count too, and capitals do not matter.
    pub exact: bool,
}

impl Markers {
    /// Those of Flux's Kustomization: `ssa`, `reconcile`, `force` and `prune`, all with the prefix `group`.
    pub fn flux(group: &str) -> Self {
        let marker = |name: &str, value| Marker::new(&format!("{group}/{name}"), value);
        let skip = vec![marker("reconcile", "disabled"), marker("ssa", "Ignore")];
        Markers {
            create_only: vec![marker("ssa", "IfNotPresent")],
            merge: vec![marker("ssa", "Merge")],
            recreate: vec![marker("force", "enabled")],
            keep: [vec![marker("prune", "disabled")], skip.clone()].concat(),
            skip,
        }
    }

    /// Those of Helm.
    pub fn helm() -> Self {
        Markers {
            keep: vec![Marker::new("helm.sh/resource-policy", "keep")],
            ..Markers::default()
        }
    }

    /// Those of Flux v1, with both prefixes it had.
    pub fn flux_v1() -> Self {
        let ignore = |prefix| Marker {
            key: format!("{prefix}/ignore"),
            value: "true".to_owned(),
            exact: true,
        };
        Markers {
            skip: vec![ignore("fluxcd.io"), ignore("flux.weave.works")],
            ..Markers::default()
        }
    }
}

impl Markers {
    /// Whether the desired object is left alone if it is there: then nobody needs to know how it differs.
    pub fn leave_alone(&self, desired: &Value) -> bool {
        find(&self.skip, desired)
            .or_else(|| find(&self.create_only, desired))
            .is_some()
    }

    /// Whether the desired object is not applied at all.
    pub fn skips(&self, desired: &Value) -> bool {
        find(&self.skip, desired).is_some()
    }
}

impl Marker {
    /// A label or annotation; capitals in its value do not matter.
    pub fn new(key: &str, value: &str) -> Self {
        Marker {
            key: key.to_owned(),
            value: value.to_owned(),
            exact: false,
        }
    }

    fn is_on(&self, object: &impl Metadata) -> bool {
        let annotation = object.annotation(&self.key);
        if self.exact {
            return annotation == Some(self.value.as_str());
        }
        let values = [object.label(&self.key), annotation];
        let same = |value: &str| !value.is_empty() && value.to_lowercase() == self.value.to_lowercase();
        values.into_iter().flatten().any(same)
    }
}

/// The first of the markers that the object has.
pub(super) fn find<'a>(markers: &'a [Marker], object: &impl Metadata) -> Option<&'a Marker> {
    markers.iter().find(|marker| marker.is_on(object))
}
