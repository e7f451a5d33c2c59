//! What a build goes on without after a mistake, and what may only follow from that.

use crate::problem::Needs;
use crate::resmap::ResMap;

/// Objects that are missing, or may be. That those which are there may have other names is noted on them
/// (`Resource::lose_name`): it says nothing about others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// Objects of any kind.
    pub(super) objects: bool,
    /// ConfigMaps and Secrets.
    pub(super) data: bool,
}

impl Lost {
    pub(super) const OBJECTS: Lost = Lost {
        objects: true,
        data: true,
    };

    /// What is missing when a field of a kustomization cannot be read that says what there is at first.
    pub(super) fn through(field: &str) -> Lost {
        match field {
            "resources"
            | "bases"
            | "generators"
            | "helmCharts"
            | "helmGlobals"
            | "helmChartInflationGenerator" => Lost::OBJECTS,
            "configMapGenerator" | "secretGenerator" => Lost {
                data: true,
                ..Lost::default()
            },
            _ => Lost::default(),
        }
    }

    /// Adds what is missing elsewhere.
    pub(super) fn add(&mut self, other: Lost) {
        self.objects |= other.objects;
        self.data |= other.data;
    }

    /// Whether what a problem needs may be among what is missing, or be one of the objects that are there under a name that
    /// it should not have.
    pub(super) fn may_explain(self, needs: &Needs, resources: &ResMap) -> bool {
        match needs {
            Needs::Nothing => false,
            Needs::Names => true,
            Needs::Object(missing) => {
                let may_be_data = missing.may_be("ConfigMap") || missing.may_be("Secret");
                self.objects
                    || self.data && may_be_data
                    || resources.iter().any(|resource| missing.may_be_renamed(resource))
            }
        }
    }
}
